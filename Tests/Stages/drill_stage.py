"""The restore drill, as an operator plays it: backups on a schedule under load, a kill -9, and the restore.

A server backs itself up, sealed, into a folder, and a second one into a command's standard input, while referred players sign
up and advance. Each is killed with SIGKILL. What it left is tried with `restore --verify-only`, restored, and played on: every
reward is paid once. What is damaged, cut off, somebody else's or sealed to another key is refused, and leaves nothing behind.
`--at` brings back an earlier moment, with what was pending then.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

from production import Production
from server import Checks
from serving import until

REWARD = 50
NAMESPACE = "stage-default-rtdb"


class Drill:
    """The folder that everything lies in, and the command line."""

    def __init__(self, program, checks):
        self.program = program
        self.checks = checks
        self.folder = tempfile.mkdtemp(prefix="doubloon-drill-")
        os.mkdir(self.path("tmp"))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *words, input=None):
        """One command. Returns its exit code, and all that it printed."""
        done = subprocess.run(
            [self.program, *words], cwd=self.folder, input=input, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL if input is None else None, env={**os.environ, "TMPDIR": self.path("tmp")}, timeout=300)
        return done.returncode, done.stdout

    def check(self, name, holds, detail=""):
        return self.checks.check(name, holds, detail)

    def nothing_left(self, name, *targets):
        """Neither in the temporary folder nor where a restore was to go."""
        left = os.listdir(self.path("tmp")) + [t for t in targets if os.path.exists(t)]
        left += [n for n in os.listdir(self.folder) if ".restoring-" in n]
        self.check(f"{name}: nothing is left behind", not left, str(left))


class Load:
    """Referred players who sign up and reach level 5, one after the other, each write acknowledged before the next."""

    def __init__(self, admin, prefix):
        self.admin = admin
        self.prefix = prefix
        self.done = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _play(self):
        try:
            while not self._stopping.is_set():
                live(self.admin, f"{self.prefix}{self.done}")
                self.done += 1
        except OSError:
            pass

    def end(self):
        self._stopping.set()
        self._thread.join(180)


def live(admin, name):
    """A whole life, from wherever it stands: what was written is written again with the same value, and pays nothing."""
    put = lambda rest, value: admin.ask("PUT", f"/users/{name}{rest}.json", value)
    put("/referred_by", "captain")
    put("/last_signin_at", 1)
    put("/level", 4)
    return put("/level", 5)


def settled(admin):
    return admin.ask("POST", "/admin/v1/drain", {}).status == 200


def users(admin):
    return admin.ask("GET", "/users.json").json or {}


def coins(record):
    return (record or {}).get("inventory", {}).get("pieces_of_eight", 0)


def revision(admin):
    rows = admin.ask("GET", "/admin/v1/namespaces").json["namespaces"]
    return next(row["revision"] for row in rows if row["name"] == NAMESPACE)


def paid_once(drill, admin, when):
    """Every referred player has one reward, and the captain one for each of them at level 5."""
    drill.check(f"{when}: everything settles", settled(admin))
    tree = users(admin)
    players = {name: record for name, record in tree.items() if "referred_by" in record and "last_signin_at" in record}
    wrong = {name: coins(record) for name, record in players.items() if coins(record) != REWARD}
    drill.check(f"{when}: each of {len(players)} players was paid once", players and not wrong, str(wrong))
    full = sum(1 for record in players.values() if record.get("level") == 5)
    drill.check(f"{when}: the captain was paid once for each of {full}", coins(tree.get("captain")) == REWARD * full,
                f"{coins(tree.get('captain'))} coins")
    report = admin.ask("GET", "/admin/v1/verify").json
    drill.check(f"{when}: the store is sound", report and report["sound"], json.dumps(report)[:500])
    return full


def serve(drill, data, backups=None, name="server"):
    """A server of the drill. Its configuration lies in a folder of its own; its data are where they are said to be."""
    folder = drill.path(name)
    os.makedirs(folder, exist_ok=True)
    settings = {"data": data, "rateLimits": False}
    if backups:
        settings["backups"] = backups
    return Production(drill.program, folder, settings)


def kill(server):
    server.serve.process.kill()
    server.serve.process.wait()


def make_keys(drill):
    pairs = []
    for name in ("one", "other"):
        code, said = drill.run("backup-key", f"{name}.key", "--json")
        recipient = json.loads(said)["recipient"] if code == 0 else ""
        drill.check(f"a key pair is made ({name})", recipient.startswith("doubloon-backup-to-"), said)
        pairs.append(recipient)
    drill.check("its private half is its owner's alone", os.stat(drill.path("one.key")).st_mode & 0o777 == 0o600)
    code, said = drill.run("backup-key", "one.key")
    drill.check("a key is not written over", code == 1, said)
    return pairs[0]


def into_folder(drill, recipient):
    """Scheduled backups into a folder, under load, and a kill. Returns the newest, and a player's token."""
    to = drill.path("to")
    os.mkdir(to)
    with open(os.path.join(to, "doubloon-mine.backup"), "w") as file:
        file.write("somebody else's\n")
    server = serve(drill, drill.path("data"), {
        "every": "1s", "to": to, "recipient": recipient, "keep": {"last": 3}, "configuration": True})
    player = server.player()
    player.ask("PUT", player.home(), {"level": 1})
    load = Load(server.admin(), "a")
    made = lambda: sum("a scheduled backup was made" in line for line in server.serve.lines)
    drill.check("backups are made under load", until(lambda: made() >= 5 and load.done >= 5, 300), "\n".join(server.serve.lines[-5:]))
    kill(server)
    load.end()
    names = sorted(n for n in os.listdir(to) if n.endswith("Z.backup"))
    drill.check("the old ones went, and nothing else", 1 <= len(names) <= 4 and "doubloon-mine.backup" in os.listdir(to), str(names))
    drill.check("they are their owner's alone", all(os.stat(os.path.join(to, n)).st_mode & 0o777 == 0o600 for n in names))
    return os.path.join(to, names[-1]), player


def tried(drill, backup, *opening):
    code, said = drill.run("restore", backup, "--verify-only", *opening)
    drill.check(f"{os.path.basename(backup)[-26:]} can be restored", code == 0 and "sound" in said, said)
    drill.nothing_left("the trial")


def refused(drill, backup):
    """What must not be restored."""
    with open(backup, "rb") as file:
        good = file.read()
    middle = len(good) // 2
    files = {
        "damaged": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:], "cut off": good[:-1000],
        "cut in its head": good[:40], "longer": good + b"\0", "foreign": b"PK\3\4" + good[4:], "empty": b"",
    }
    rows = [(name, content, "one.key", 1) for name, content in files.items()]
    rows += [("whole, with another's key", good, "other.key", 1), ("whole, without a key", good, None, 1)]
    for name, content, key, code in rows:
        with open(drill.path("bad.backup"), "wb") as file:
            file.write(content)
        opening = ["--key", key] if key else []
        target = drill.path("refused")
        for goal in (["--data", target], ["--verify-only"]):
            found, said = drill.run("restore", "bad.backup", *goal, *opening)
            drill.check(f"{name}: refused {goal[0]}", found == code and "Error: bad.backup" in said, f"{found} {said}")
        drill.nothing_left(name, target)
    os.mkdir(drill.path("full"))
    with open(drill.path("full", "file"), "w") as file:
        file.write("mine")
    code, said = drill.run("restore", backup, "--data", "full", "--key", "one.key")
    drill.check("a folder with something in it is refused", code == 1 and os.listdir(drill.path("full")) == ["file"], said)


def restored(drill, backup, player, recipient):
    """The folder's backup, restored and played on under a command that takes backups. Returns what the last part needs."""
    code, said = drill.run("restore", backup, "--data", "second", "--key", "one.key")
    drill.check("it is restored", code == 0 and "sound" in said, said)
    there = os.listdir(drill.path("second"))
    drill.check("with its keys and its configuration", "keys" in there and "configuration" in there, str(there))
    out = drill.path("out")
    os.mkdir(out)
    server = serve(drill, drill.path("second"), {
        "every": "1s", "command": ["dd", "status=none", f"of={out}/{{name}}"], "recipient": recipient}, name="second-server")
    admin = server.admin()
    before = users(admin)
    full = paid_once(drill, admin, "restored")
    for name in before:
        if name.startswith("a"):
            live(admin, name)
    drill.check("the game goes on", live(admin, "late").status == 200)
    drill.check("what was paid is not paid again", paid_once(drill, admin, "played on") >= full)
    client = server.client()
    answer = client.ask("GET", player.home() + "?auth=" + player.token)
    drill.check("a token from before is still good", answer.status == 200, f"{answer.status} {answer.text[:200]}")
    return server, admin


def pending_moment(drill, server, admin):
    """A moment at which one reward is pending, and what comes after it. Returns the revision, and the tree then."""
    function = "/admin/v1/functions/rewardReferrals"
    for rest, value in (("/referred_by", "captain"), ("/last_signin_at", 1), ("/level", 4)):
        admin.ask("PUT", f"/users/waiting{rest}.json", value)
    settled(admin)
    drill.check("a function is paused", admin.ask("POST", f"{function}/pause", {"reason": "the drill"}).status == 200)
    admin.ask("PUT", "/users/waiting/level.json", 5)
    settled(admin)
    moment, tree = revision(admin), users(admin)
    drill.check("it runs again", admin.ask("POST", f"{function}/resume").status == 200)
    admin.ask("PUT", "/users/waiting/level.json", 5)
    settled(admin)
    drill.check("and pays what waited", coins(users(admin)["captain"]) == coins(tree["captain"]) + REWARD)
    load = Load(admin, "b")
    drill.check("more is written after the moment", until(lambda: load.done >= 3, 300))
    made = lambda: [line for line in server.serve.lines if "a scheduled backup was made" in line]
    count = len(made())
    drill.check("the command gets backups", until(lambda: len(made()) >= count + 2, 300), "\n".join(server.serve.lines[-5:]))
    kill(server)
    load.end()
    name = made()[-1].split("name=")[1].split()[0].strip('"')
    return moment, tree, drill.path("out", name)


def at_moment(drill, backup, moment, tree):
    code, said = drill.run("restore", backup, "--data", "third", "--key", "one.key", "--at", str(moment))
    drill.check("a moment is restored", code == 0 and "sound" in said, said)
    # Without functions first: the moment itself.
    code, said = drill.run("data", "get", "/users", "--data", "third", "--ns", NAMESPACE)
    found = json.loads(said.splitlines()[0]) if code == 0 else said
    drill.check("the tree is what it was", found == tree, f"{len(str(found))} {len(str(tree))} {str(found)[:300]}")
    code, said = drill.run("namespaces", "--data", "third", "--json")
    drill.check("the log ends there", code == 0 and f'"revision":{moment}' in said.replace(" ", ""), said)
    server = serve(drill, drill.path("third"), name="third-server")
    admin = server.admin()
    full = paid_once(drill, admin, "at the moment")
    drill.check("what was pending was paid", coins(users(admin)["captain"]) == coins(tree["captain"]) + REWARD)
    live(admin, "waiting")
    live(admin, "b0")
    drill.check("and the game goes on from there", paid_once(drill, admin, "from the moment on") == full + 1)
    drill.check("the server stops in order", server.serve.stop() == 0)
    code, said = drill.run("restore", backup, "--verify-only", "--key", "one.key", "--at", "999999999")
    drill.check("a moment that never was is refused", code == 1 and "no revision" in said, said)
    drill.nothing_left("that")


def by_hand(drill):
    """A passphrase, and the plain form."""
    with open(drill.path("word"), "w") as file:
        file.write("correct horse battery staple\n")
    code, said = drill.run("backup", "word.backup", "--data", "third", "--passphrase-file", "word")
    drill.check("a backup is sealed with a passphrase", code == 0 and "sealed" in said, said)
    tried(drill, "word.backup", "--passphrase-file", "word")
    with open(drill.path("wrong"), "w") as file:
        file.write("correct horse battery stable\n")
    code, said = drill.run("restore", "word.backup", "--verify-only", "--passphrase-file", "wrong")
    drill.check("another passphrase is refused", code == 1 and "passphrase" in said, said)
    code, said = drill.run("backup-key", "third.key")
    with open(drill.path("third.pub"), "w") as file:
        file.write(said.splitlines()[-1])
    code, said = drill.run("backup", "key.backup", "--data", "third", "--recipient", "third.pub", "--json")
    drill.check("one is sealed to the key in a file", code == 0 and json.loads(said)["sealed"] and json.loads(said)["keys"], said)
    tried(drill, "key.backup", "--key", "third.key")
    code, said = drill.run("backup", "open.backup", "--data", "third")
    drill.check("an open one says that it is, and holds no keys", code == 0 and "not sealed" in said and "not in it" in said, said)
    tried(drill, "open.backup")
    drill.nothing_left("by hand")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    options = parser.parse_args()
    checks = Checks()
    drill = Drill(os.path.abspath(options.program), checks)
    begin = time.monotonic()
    try:
        recipient = make_keys(drill)
        backup, player = into_folder(drill, recipient)
        tried(drill, backup, "--key", "one.key")
        refused(drill, backup)
        server, admin = restored(drill, backup, player, recipient)
        moment, tree, second = pending_moment(drill, server, admin)
        tried(drill, second, "--key", "one.key")
        at_moment(drill, second, moment, tree)
        by_hand(drill)
    finally:
        shutil.rmtree(drill.folder, ignore_errors=True)
    seconds = time.monotonic() - begin
    print(f"The drill took {seconds:.0f} s.")
    raise SystemExit(checks.finish())


if __name__ == "__main__":
    main()
