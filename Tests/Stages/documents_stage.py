"""The pages, as a reader would follow them: every block of shell is pasted into a terminal, in order, against a real server, and must
print what the page shows; every link and anchor leads somewhere.

A page has `doubloon dev` to talk to, until one of its blocks starts another server. A page that starts `doubloon serve` has none
before, and speaks TLS, with the files that it shows. A block that is not run says why (`documents.py` has the marks); those are printed and counted.
Needs curl and openssl.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading

from documents import broken_links, documents, matches
from server import Checks, Server
from serving import certificates, free_port, until

SHELL = ("sh", "bash", "console")
# What a page calls by the names of a real machine, and where it is here.
PLACES = {
    "/etc/letsencrypt/live/game.example.com/fullchain.pem": "{folder}/server.pem",
    "/etc/letsencrypt/live/game.example.com/privkey.pem": "{folder}/server.key",
    "/etc/doubloon": "{folder}", "/var/lib/doubloon": "{folder}/data", "/var/backups": "{folder}/backups",
    "https://game.example.com": "https://localhost:{port}", '"host": "0.0.0.0"': '"host": "127.0.0.1"',
    '"port": 443': '"port": {port}', "127.0.0.1:9000": "127.0.0.1:{port}", "127.0.0.1:9464": "127.0.0.1:{metrics}",
    '"port": 9464': '"port": {metrics}',
}


# Pages that another stage plays as a whole.
ELSEWHERE = {
    "Documentation/Backup.md": "the stage drill plays it", "Documentation/Upgrade.md": "the stage upgrade plays it",
    "Examples/OwnGame/README.md": "the stage example builds and tests this package",
    "Examples/GameClient/README.md": "the stage example builds and plays this game",
}


class Terminal:
    """A shell that stays, so that what one block sets the next one has."""

    def __init__(self, folder, environment):
        self.folder = folder
        self._count = 0
        self.is_open = True
        self._shell = subprocess.Popen(
            ["bash", "--norc", "-s"], cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        # What fails is noted, with its line; the rest of the block goes on as in a terminal.
        self._send("set -o pipefail -o errtrace; trap 'echo \"$BASH_COMMAND\" >> failed' ERR")

    def _send(self, line):
        self._shell.stdin.write(line + "\n")
        self._shell.stdin.flush()

    def paste(self, text, seconds=300):
        """Runs a block. Returns what it printed, what it said as errors, and the commands that failed."""
        self._count += 1
        at = lambda name: os.path.join(self.folder, name)
        for name in ("failed", "said", "errors"):
            open(at(name), "w").close()
        with open(at("block"), "w") as file:
            file.write(text)
        self._send(f". ./block > said 2> errors < /dev/null; echo done-{self._count}")
        answered = threading.Event()
        threading.Thread(target=self._await, args=(f"done-{self._count}\n", answered), daemon=True).start()
        if not answered.wait(seconds):
            self.close()
            self.is_open = False
            return "", f"not done within {seconds} s", "the block"
        return tuple(open(at(name), encoding="utf-8", errors="replace").read() for name in ("said", "errors", "failed"))

    def _await(self, line, answered):
        for heard in self._shell.stdout:
            if heard == line:
                return answered.set()

    def close(self):
        if self._shell.poll() is None:
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()


class Page:
    """One document on its way through a terminal."""

    ADDRESS = re.compile(r"(?:Serving|running at) https?://127\.0\.0\.1:\d+")

    def __init__(self, document, checks, program, root, folder):
        self.document, self.checks, self.program, self.folder = document, checks, program, folder
        self.skipped = []
        self.port, self.metrics = free_port(), free_port()
        self.server = None
        self._lines = []
        for name in os.listdir(root):
            if name not in (".build", ".git"):
                os.symlink(os.path.join(root, name), os.path.join(folder, name))
        for way in ("debug", "release", "bin"):
            os.makedirs(os.path.join(folder, ".build", way))
            os.symlink(program, os.path.join(folder, ".build", way, "doubloon"))
        os.makedirs(os.path.join(folder, "backups"))
        self.environment = {
            **os.environ, "PATH": f"{folder}/.build/bin:{os.environ['PATH']}", "HOME": folder, "LC_ALL": "C.UTF-8"}

    def here(self, text):
        """A page's text with the places of this machine."""
        for name, place in PLACES.items():
            text = text.replace(name, place.format(folder=self.folder, port=self.port, metrics=self.metrics))
        return text

    def where(self, block):
        return f"{self.document.path}:{block.line}"

    def run(self):
        blocks = self.document.blocks
        if any(block.mark == "starts the server" and " serve " in block.text for block in blocks):
            certificates(self.folder)
            os.chmod(os.path.join(self.folder, "server.key"), 0o600)
            authority = os.path.join(self.folder, "ca.pem")
            self.environment.update(
                CURL_CA_BUNDLE=authority, DOUBLOON_CA=authority, DOUBLOON_SERVER=f"https://localhost:{self.port}")
        elif any(block.language in SHELL and block.mark in (None, "fails") for block in blocks):
            self.server = Server(self.program, "--data", os.path.join(self.folder, "development"))
            self.port = self.server.await_address()
            self.environment["DOUBLOON_SERVER"] = f"http://127.0.0.1:{self.port}"
        terminal = Terminal(self.folder, self.environment)
        said = None
        try:
            for block in blocks:
                if not terminal.is_open:
                    break
                if block.mark == "file":
                    with open(os.path.join(self.folder, block.words), "w", encoding="utf-8") as file:
                        file.write(self.here(block.text))
                elif block.mark == "output":
                    self.compare(block, said)
                elif block.language in SHELL:
                    said = self.paste(block, terminal)
        finally:
            terminal.close()
            self.stop()

    def paste(self, block, terminal):
        if block.mark == "not run":
            self.skipped.append(f"{self.where(block)}: {block.words or 'no reason is given'}")
            if not block.words:
                self.checks.check(f"{self.where(block)} says why it is not run", False)
            return None
        if block.mark == "starts the server":
            self.start(block)
            return None
        said, errors, failed = terminal.paste(self.here(block.text))
        detail = " | ".join(part.strip()[-400:].replace("\n", " ¶ ") for part in (failed, errors, said) if part.strip())
        if block.mark == "fails":
            self.checks.check(f"{self.where(block)} fails, as it should", failed and terminal.is_open, detail)
        else:
            self.checks.check(f"{self.where(block)} runs", not failed, detail)
        return said

    def compare(self, block, said):
        if said is None:
            return self.checks.check(f"{self.where(block)} stands behind a block that runs", False)
        here = self.here(block.text)
        self.checks.check(f"{self.where(block)} is what it prints", matches(here, said), "it printed:\n" + said[-1500:])

    def start(self, block):
        self.stop()
        command = self.here(block.text).strip() + (f" --port {self.port}" if " dev" in block.text else "")
        self.server = subprocess.Popen(
            ["bash", "-ec", "exec " + command], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=lambda: self._lines.extend(self.server.stdout), daemon=True).start()
        listens = until(lambda: any(self.ADDRESS.search(line) for line in self._lines) or self.server.poll() is not None)
        listens = listens and self.server.poll() is None
        self.checks.check(f"{self.where(block)} starts the server", listens, "".join(self._lines[-10:]))

    def stop(self):
        if isinstance(self.server, Server):
            self.server.kill()
        elif self.server is not None and self.server.poll() is None:
            self.server.kill()
            self.server.wait()


def finds_what_is_wrong(checks):
    """The stage's own eyes: what it must not let pass."""
    same = [("5\n", "5\n"), ("a …\n…\nz\n", "a b\nc\nd\nz\n"), ("…\nz\n", "z\n")]
    other = [("5\n", "6\n"), ("5\n", "5\n6\n"), ("a …\n", "b c\n"), ("{…}\n", "{}x\n"), ("a\nb\n", "a\n")]
    checks.check("what a block prints is compared", all(matches(*pair) for pair in same) and not any(matches(*pair) for pair in other))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.md"), "w") as file:
            file.write("# A b\n\n[good](#a-b) [over\ntwo lines](gone.md) [bad](a.md#nothing) <doc:Nowhere>\n\n```sh\n[not](code.md)\n```\n")
        broken, count = broken_links(folder, documents(folder))
        checks.check("a link, an anchor or a page that is not there is found", len(broken) == 3 and count == 4, broken)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the doubloon to start")
    parser.add_argument("--only", help="run only the pages whose path contains this")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    checks = Checks()
    finds_what_is_wrong(checks)
    found = documents(root)
    broken, count = broken_links(root, found)
    checks.check(f"all {count} relative links, anchors and pages of {len(found)} documents are there", not broken and count > 50,
                 "\n" + "\n".join(broken))
    skipped = []
    for document in found:
        if options.only and options.only not in document.path:
            continue
        if not any(block.language in SHELL or block.mark for block in document.blocks):
            continue
        if document.path in ELSEWHERE:
            shown = [block for block in document.blocks if block.language in SHELL]
            skipped += [f"{document.path}:{block.line}: {ELSEWHERE[document.path]}" for block in shown]
            continue
        folder = tempfile.mkdtemp(prefix="doubloon-documents-")
        try:
            page = Page(document, checks, program, root, folder)
            page.run()
            skipped += page.skipped
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for line in skipped:
        print("not run " + line)
    print(f"{len(skipped)} blocks are shown and not run, for the reasons above")
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
