"""What the library's pages show, run: each page of Tests/ClientGuide against a server, and the README's lines of Swift as they stand."""

import os
import re
import subprocess
import threading

from example_client import SETTINGS
from server import Connection, Server

# What each page prints, in this order; other lines may stand between.
PAGES = {
    "reading": [r"^Ann has 7, since just now$", r"^ann is among the best with 7$", r"^bob is among the best with 9$",
                r"^a listener hears 7$", r"^ann comes in behind nobody$", r"^bob comes in behind ann$", r"^the server says 7, and"],
    "writing": [r"^the server did it$", r"^paid, 2 are left$", r"^level 3$", r"^the others see that Ann is here$"],
    "offline": [r"^no connection: the write is kept", r"^the player sees 11$", r"^the server has 11$"],
    "accounts": [r"^somebody without a name$", r"^another account, with what it had$", r"^the address or the password is wrong$"],
    "links": [r"^E-mail$", r"^open mailto$", r"^copy \d+ letters$", r"^share 2 things$", r"^it leads to /play, ", r"^no claim: \w"],
    "errors": [r"^a mistake of the game's: Invalid", r"^a mistake of the game's: Invalid", r"^the database: \w", r"^the account: \w",
               r"^FIRAuthErrorDomain 17026$"],
    "typed": [r"^born 86400$", r"^no message yet$"],
    "moving": [r"^written at level$"],
    "testing": [r"^Bob hears Hello$"],
}


def missing(patterns, lines):
    """The first pattern that no line fits, in the order of both; None if all are there."""
    rest = iter(lines)
    for pattern in patterns:
        if not any(re.search(pattern, line) for line in rest):
            return pattern
    return None


class Guide:
    """The program, each run a device of its own."""

    def __init__(self, program, address, folder):
        self._program, self._address, self._folder = program, address, folder

    def start(self, page, *words):
        home = os.path.join(self._folder, f"guide-{page}")
        return subprocess.Popen(
            [self._program, self._address, page, *words], env=dict(os.environ, XDG_STATE_HOME=home, SWIFT_BACKTRACE="enable=no"), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)

    def run(self, page, *words):
        """The lines, and the exit code."""
        process = self.start(page, *words)
        ended = threading.Timer(180, process.kill)
        ended.start()
        said, _ = process.communicate()
        ended.cancel()
        return said.splitlines(), process.returncode


def check_guide(checks, program, guide_program, folder):
    """The first hour with its two players, and every other page."""
    server = Server(program, "--in-memory")
    alice = None
    try:
        port = server.await_address()
        Connection(port).ask("PUT", "/admin/v1/links/settings", SETTINGS)
        rules = {"rules": {".read": True, ".write": True, "scores": {".indexOn": "points"}}}
        Connection(port).ask("PUT", "/.settings/rules.json", rules)
        guide = Guide(guide_program, f"http://127.0.0.1:{port}", folder)
        alice = guide.start("alice")
        ended = threading.Timer(300, alice.kill)
        ended.start()
        first = [alice.stdout.readline().strip(), alice.stdout.readline().strip()]
        uid = re.search(r"Alice is (\w+)", first[0])
        code = re.search(r"https://go\.example\.com/r/\S+, the code (\w+)", first[1])
        checks.check("the first hour: Alice is somebody, and has a link and a code", bool(uid and code), str(first))
        if uid and code:
            said, status = guide.run("bob", code.group(1))
            wanted = [rf"invited by {uid.group(1)}", "^Bob is still ", "^Bob has 50$", "^Bob is on level 5$"]
            checks.check("Bob joins, stays, has 50 and reaches level 5", status == 0 and not missing(wanted, said), str(said))
            rest, _ = alice.communicate()
            ended.cancel()
            checks.check("Alice sees 50 come, and whom she brought",
                         alice.returncode == 0 and not missing(["^Alice has 50$", r"^Alice brought \w+: "], rest.splitlines()), rest)
        for page, wanted in PAGES.items():
            said, status = guide.run(page)
            checks.check(f"the page {page} does what it says", status == 0 and not missing(wanted, said),
                         f"{missing(wanted, said)} in {status}: {said}")
    finally:
        if alice and alice.poll() is None:
            alice.kill()
        server.stop()


def check_links(checks, program):
    """A game's program brings no library that a player would have to install."""
    said = subprocess.run(["ldd", program], text=True, capture_output=True, check=True).stdout
    found = re.findall(r"lib(?:sqlite3|curl|FoundationNetworking|ssl|crypto)\S*", said)
    checks.check("a game links no SQLite, no libcurl and no OpenSSL", not found and "libFoundation" in said, said)


def check_modes(checks, root):
    """The guide compiles in both language modes."""
    maps = []
    for folder, _, names in os.walk(os.path.join(root, ".build", "checkouts")):
        maps += [os.path.join(folder, name) for name in names if name == "module.modulemap" and folder.endswith("/include")]
    built = os.path.join(root, ".build", "debug")
    maps += [os.path.join(built, name, "module.modulemap") for name in os.listdir(built) if name.endswith(".build")]
    flags = [flag for path in sorted(maps) if os.path.exists(path) for flag in ("-Xcc", f"-fmodule-map-file={path}")]
    guide = os.path.join(root, "Tests", "ClientGuide")
    files = sorted(os.path.join(guide, name) for name in os.listdir(guide) if name.endswith(".swift"))
    for mode in ("5", "6"):
        done = subprocess.run(
            ["swiftc", "-typecheck", "-swift-version", mode, "-parse-as-library", "-module-name", "ClientGuide", "-I",
             os.path.join(built, "Modules"), *flags, *files], text=True, capture_output=True, timeout=1200)
        checks.check(f"the pages compile in the language mode {mode}", done.returncode == 0, done.stderr[-3000:])


def check_readme(checks, program, root, build, folder):
    """The README's block of Swift, as the main file of a package of its own."""
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        section = re.search(r"^## Alice refers Bob$.*?(?=^## )", file.read(), flags=re.M | re.S).group()
    block = re.search(r"^```swift\n(.*?)^```", section, flags=re.M | re.S).group(1)
    package = os.path.join(folder, "ReadmeGame")
    sources = os.path.join(package, "Sources", "ReadmeGame")
    os.makedirs(sources)
    with open(os.path.join(package, "Package.swift"), "w", encoding="utf-8") as file:
        file.write(
            "// swift-tools-version:6.2\nimport PackageDescription\nlet package = Package(\n"
            f'  name: "ReadmeGame", dependencies: [.package(name: "doubloon", path: "{root}")],\n'
            '  targets: [.executableTarget(name: "ReadmeGame", dependencies: [.product(name: "Doubloon", package: "doubloon")])])\n')
    server = Server(program, "--in-memory")
    try:
        port = server.await_address()
        with open(os.path.join(sources, "main.swift"), "w", encoding="utf-8") as file:
            file.write(block.replace("127.0.0.1:9000", f"127.0.0.1:{port}"))
        built = subprocess.run(
            ["swift", "build"], cwd=package, env=dict(os.environ, SWIFTPM_BUILD_DIR=build), text=True, capture_output=True,
            timeout=1800)
        checks.check("the README's lines of Swift are a program", built.returncode == 0, (built.stdout + built.stderr)[-3000:])
        if built.returncode:
            return
        Connection(port).ask("PUT", "/users/alice.json", {"name": "Alice"})
        done = subprocess.run(
            [os.path.join(build, "debug", "ReadmeGame")], env=dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "readme")),
            text=True, capture_output=True, timeout=300)
        checks.check("which ends when Bob has his 50", done.returncode == 0, done.stdout + done.stderr)
        Connection(port).ask("POST", "/admin/v1/drain")
        alice = Connection(port).ask("GET", "/users/alice/inventory/pieces_of_eight.json").json
        checks.check("and Alice has hers", alice == 50, str(alice))
    finally:
        server.stop()
