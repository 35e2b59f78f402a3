"""The packages, as somebody installs them: the Debian package and the archive in a fresh Debian, started as their units say.

The packages are made of a program that is built already (`Scripts/release --program`). What systemd would do to start a unit is
done by installed.py. README's scenario is played over the service as an administrator would.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

from installed import DYNAMIC_ID, Running, Service, Unit, account, await_answer, debian, inside, owner, program_inside
from readme_stage import blocks, in_production, shell
from server import Checks, Connection
from store_fixture import facts
from upgrade_stage import copied, kept, versions

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSTALLED_BYTES_MAX = 45_000_000
# It takes one or two where nothing else runs.
FIRST_ANSWER_SECONDS_MAX = 60


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(content, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(content)


def own_tree(folder, uid, gid):
    """Gives a folder and all in it to a user."""
    for at, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            os.chown(os.path.join(at, name), uid, gid)


def release(program, output, *parts):
    """Makes packages. Returns the text of SHA256SUMS."""
    subprocess.run(
        ["Scripts/release", "--quick", "--program", program, "--output", output, *parts], check=True, cwd=ROOT,
        stdout=subprocess.DEVNULL)
    return text(output, "SHA256SUMS")


class Stage:
    """The checks, one after another, of one Debian system."""

    def __init__(self, program, folder):
        self.checks = Checks()
        self.check = self.checks.check
        self.program = program
        self.folder = folder
        self.packages = os.path.join(folder, "packages")
        self.root = os.path.join(folder, "system")
        self.token = os.path.join(self.root, "etc/doubloon/secrets/admin.token")

    def make(self):
        first = release(self.program, self.packages, "tar", "deb")
        again = release(self.program, os.path.join(self.folder, "again"), "tar", "deb")
        self.check("the same commit makes the same bytes", first == again, f"{first}{again}")
        self.deb = glob.glob(os.path.join(self.packages, "*.deb"))[0]
        self.archive = glob.glob(os.path.join(self.packages, "*.tar.gz"))[0]
        judged = subprocess.run(
            ["lintian", "--profile", "debian", "--fail-on", "error,warning", "--allow-root", self.deb], capture_output=True,
            text=True, env={**os.environ, "TMPDIR": self.folder})
        self.check("lintian finds no error and no warning", judged.returncode == 0, judged.stdout + judged.stderr)
        said = subprocess.run(
            ["dpkg-deb", "--field", self.deb, "Version", "Installed-Size"], capture_output=True, text=True, check=True).stdout
        fields = dict(line.split(": ") for line in said.splitlines())
        self.version = fields["Version"]
        size = int(fields["Installed-Size"]) * 1024
        self.check("installed it is below 45 MB", size < INSTALLED_BYTES_MAX, f"{size:,} bytes")

    def install(self):
        subprocess.run(["cp", "-a", debian(os.path.join(ROOT, ".build/systems")), self.root], check=True)
        shutil.copy(self.deb, os.path.join(self.root, "tmp/doubloon.deb"))
        done = inside(self.root, "apt-get", "install", "-y", "/tmp/doubloon.deb")
        self.check("apt installs it", done.returncode == 0, done.stdout + done.stderr)
        said = inside(self.root, "doubloon", "--version").stdout
        number = said.split()[1] if len(said.split()) > 1 else said
        self.check("the program says the package's version", self.version.startswith(number.replace("-", "~", 1)), said)
        uid, gid = account(self.root, "doubloon") or (None, None)
        self.check("it has a user of its own", uid and uid < 1000, str(uid))
        state = owner(os.path.join(self.root, "var/lib/doubloon"))
        self.check("the data are that user's alone", state == (uid, gid, 0o750), str(state))
        secrets = [owner(os.path.dirname(self.token)), owner(self.token)]
        self.check("the administrator's key is root's and the service's alone", secrets == [(0, gid, 0o750), (0, gid, 0o640)],
                   str(secrets))
        completes = inside(
            self.root, "bash", "-c", ". /usr/share/bash-completion/completions/doubloon && complete -p doubloon")
        self.check("bash completes its commands", completes.returncode == 0, completes.stderr)
        pages = glob.glob(os.path.join(self.root, "usr/share/man/man1/doubloon*.1.gz"))
        self.check("each command has a man page", len(pages) > 20, str(len(pages)))

    def judge_unit(self):
        # The targets that it names are systemd's own, which a minimal system does not have.
        units = os.path.join(self.root, "lib/systemd/system")
        for target in glob.glob("/lib/systemd/system/*.target"):
            shutil.copy(target, units)
        judged = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", f"--root={self.root}", "doubloon.service"], capture_output=True, text=True)
        words = [line for line in (judged.stdout + judged.stderr).splitlines() if "doubloon" in line]
        self.check("systemd finds nothing wrong with the unit", judged.returncode == 0 and not words, "\n".join(words))

    def scenario(self, service):
        """README's scenario over the installed service, with a SIGKILL in the middle."""
        scenario, said, look = blocks(text(ROOT, "README.md"), "Alice refers Bob")[:3]
        write(f'header = "Authorization: Bearer {text(self.token).strip()}"\n', self.folder, ".curlrc")
        os.environ["CURL_HOME"] = self.folder
        os.environ["DOUBLOON_KEY"] = "/etc/doubloon/secrets/admin.token"
        program = program_inside(
            self.root, os.path.join(self.folder, "doubloon"), "doubloon", "DOUBLOON_SERVER", "DOUBLOON_KEY")
        running = service.start()
        try:
            port = running.port
            refused = subprocess.run(
                ["curl", "-q", "-sS", f"http://127.0.0.1:{port}/users.json"], capture_output=True, text=True)
            self.check("without the key the rules hold", "Permission denied" in refused.stdout, refused.stdout)
            pasted = shell(scenario[1], port, program)
            self.check("README's scenario says what the README says", pasted.stdout == said[1], pasted.stdout + pasted.stderr)
            running.kill()
            running = service.start()
            pasted = shell(scenario[1], running.port, program)
            self.check("so it does after a SIGKILL, and nothing is paid twice", pasted.stdout == said[1], pasted.stdout)
            # The commands name a file as it lies in a clone.
            example = "Examples/ReferralGame/messages.json"
            os.makedirs(os.path.join(self.root, os.path.dirname(example)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, example), os.path.join(self.root, example))
            looked = shell(in_production(look[1]), running.port, program)
            self.check("the commands that look at it run", looked.returncode == 0, looked.stderr)
            self.check("the next fetch brings Alice her message", "The next fetch brings it" in looked.stdout, looked.stdout[-600:])
            for word in ("grantSignupReward", "rewardReferrals", "level5", "sound", "pieces_of_eight"):
                self.check(f"they show {word}", word in looked.stdout, looked.stdout, quiet=True)
            self.rights(service, running)
            self.check("it ends when it is asked to", running.stop() == 0)
        finally:
            running.kill()

    def rights(self, service, running):
        uid, capabilities = running.status("Uid")[0], int(running.status("CapEff")[0], 16)
        self.check("it runs as its own user", int(uid) == service.uid, uid)
        self.check("of root's powers it has the low ports only", capabilities == 1 << 10, hex(capabilities))
        files = glob.glob(os.path.join(self.root + service.state, "*"))
        self.check("the data belong to it", files and all(owner(file)[0] == service.uid for file in files), str(files))
        wrote = service.run("touch /etc/doubloon/x /usr/bin/x")
        self.check("it can write nowhere else", wrote.returncode != 0 and "Read-only" in wrote.stderr, wrote.stderr)

    def package(self):
        service = Service(self.root, Unit(text(self.root, "lib/systemd/system/doubloon.service")))
        self.scenario(service)
        asked = ("doubloon", "config", "check", "/etc/doubloon/doubloon.jsonc", "--user", "doubloon")
        well = inside(self.root, *asked)
        self.check("root is told that the service's user can use every file", well.returncode == 0, well.stdout + well.stderr)
        os.chmod(self.token, 0o600)
        closed = inside(self.root, *asked)
        said = "doubloon cannot read /etc/doubloon/secrets/admin.token"
        self.check("and which one it cannot", closed.returncode == 2 and said in closed.stderr, closed.stdout + closed.stderr)
        os.chmod(self.token, 0o640)

    def upgrade(self):
        """The store of every earlier version, put where the service keeps its own: the unit's start upgrades it."""
        service = Service(self.root, Unit(text(self.root, "lib/systemd/system/doubloon.service")))
        settings = os.path.join(self.root, "etc/doubloon/doubloon.jsonc")
        installed, data = text(settings), self.root + service.state
        os.rename(data, data + ".own")
        try:
            for version in versions():
                copy, expected = copied(version, self.folder, f"installed-{version}")
                shutil.move(copy, data)
                own_tree(data, service.uid, service.gid)
                project = expected["namespace"].removesuffix("-default-rtdb")
                write(installed.replace('"project": "game"', f'"project": "{project}"'), settings)
                self.upgraded(service, version, expected)
                shutil.rmtree(data)
        finally:
            shutil.rmtree(data, ignore_errors=True)
            os.rename(data + ".own", data)
            write(installed, settings)

    def upgraded(self, service, version, expected):
        running = service.start()
        try:
            client = Connection(running.port, token=text(self.token).strip())
            lost = kept(facts(client), expected)
            self.check(f"the installed service opens the store of {version}: everything is there", not lost, str(lost))
            paid = client.ask("PUT", "/users/player0/level.json", 5, {"X-Doubloon-Wait": "effects"})
            coins = client.ask("GET", "/users/alice/inventory/pieces_of_eight.json").json
            self.check("what it paid it does not pay again", paid.status == 200 and coins == expected["balances"]["alice"],
                       f"{paid.status} {coins}")
            self.check("it ends when it is asked to", running.stop() == 0, quiet=True)
        finally:
            running.kill()
        verified = service.run(f"doubloon verify --data {service.state}")
        self.check("the store is sound", verified.returncode == 0, verified.stdout + verified.stderr)

    def remove(self):
        """Installing it again keeps what was set, and removing it keeps the players' data."""
        settings = os.path.join(self.root, "etc/doubloon/doubloon.jsonc")
        write(text(settings) + "// mine\n", settings)
        key = text(self.token)
        again = inside(self.root, "dpkg", "--force-confold", "-i", "/tmp/doubloon.deb")
        kept = text(settings).endswith("// mine\n") and text(self.token) == key
        self.check("installing it again keeps settings and key", again.returncode == 0 and kept, again.stderr)
        purged = inside(self.root, "dpkg", "--purge", "doubloon")
        left = os.path.exists(os.path.join(self.root, "etc/doubloon"))
        self.check("purged, it leaves no settings and no key", purged.returncode == 0 and not left, purged.stderr)
        data = os.listdir(os.path.join(self.root, "var/lib/doubloon"))
        self.check("but the players' data, and says so", "doubloon.db" in data and "stay" in purged.stderr, str(data))

    def unpack(self):
        """The archive: from the unpacking to the first answer, then its own unit, whose user exists only while it runs."""
        begin = time.monotonic()
        subprocess.run(["tar", "-xzf", self.archive, "-C", os.path.join(self.root, "opt")], check=True)
        tree = glob.glob(os.path.join(self.root, "opt/doubloon-*"))[0]
        at = tree.removeprefix(self.root)
        plain = Unit("[Service]\nUser=nobody\nStateDirectory=trial\n[Install]\n")
        trial = Service(self.root, plain)
        running = Running(trial.command(f"{at}/bin/doubloon dev --port 0 --data {trial.state}"))
        try:
            await_answer(running.port)
            seconds = time.monotonic() - begin
            self.check("from the archive to the first answer takes less than a minute", seconds < FIRST_ANSWER_SECONDS_MAX,
                       f"{seconds:.1f} s")
            print(f"        {seconds:.1f} s")
        finally:
            running.kill()
        self.unpacked_unit(os.path.join(tree, "share/doc/doubloon/examples"), tree)

    def unpacked_unit(self, examples, tree):
        etc = os.path.join(self.root, "etc/doubloon")
        os.makedirs(os.path.join(etc, "secrets"), mode=0o700)
        shutil.copy(os.path.join(tree, "bin/doubloon"), os.path.join(self.root, "usr/local/bin/doubloon"))
        shutil.copy(os.path.join(examples, "rules.json"), etc)
        write("0123456789abcdef0123456789abcdef\n", self.token)
        os.chmod(self.token, 0o600)
        settings = text(ROOT, "Scripts/packaging/debian/doubloon.jsonc")
        by_file, by_credential = '{"file": "secrets/admin.token"}', '{"credential": "secrets_admin.token"}'
        write(settings.replace(by_file, by_credential), etc, "doubloon.jsonc")
        # The package left its data to their user.
        shutil.rmtree(os.path.join(self.root, "var/lib/doubloon"))
        passwd = text(self.root, "etc/passwd").splitlines(keepends=True)
        write("".join(line for line in passwd if not line.startswith("doubloon:")), self.root, "etc/passwd")
        service = Service(self.root, Unit(text(examples, "doubloon.service")))
        self.check("the archive's unit has a user that exists only while it runs",
                   service.is_dynamic and service.uid == DYNAMIC_ID, str(service.uid))
        read = service.run("cat /etc/doubloon/secrets/admin.token")
        self.check("it cannot read root's secrets where they lie", read.returncode != 0, read.stdout)
        given = service.run("cat /run/credentials/doubloon.service/secrets_admin.token")
        self.check("it is handed them instead", given.stdout == text(self.token), given.stderr)
        self.scenario(service)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    folder = tempfile.mkdtemp(prefix="doubloon-package-")
    stage = Stage(program, folder)
    try:
        for part in (stage.make, stage.install, stage.judge_unit, stage.package, stage.upgrade, stage.remove, stage.unpack):
            begin = time.monotonic()
            part()
            print(f"        ({part.__name__}: {time.monotonic() - begin:.1f} s)", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return stage.checks.finish()


if __name__ == "__main__":
    sys.exit(main())
