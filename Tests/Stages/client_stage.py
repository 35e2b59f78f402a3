"""The Swift library against the program, with both killed at random moments: what a player's device has kept reaches the server,
once, in order; what was to happen when the device is lost happens; twenty devices count exactly."""

import argparse
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from client_frames import frames
from client_peers import peers
from client_recording import recording
from server import Checks, Connection, Server

PLAYERS = ("ann", "bob")


class Device:
    """A process with the library in it. With `file_bytes` its files can grow no larger, as on a full disk."""

    def __init__(self, command, file_bytes=None):
        self.lines = queue.Queue()
        self.seen = []
        if file_bytes is not None:
            # A write beyond the limit fails then, instead of ending the process.
            command = ["bash", "-c", f"trap '' XFSZ; ulimit -f {file_bytes // 1024}; exec \"$@\"", "device", *command]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self.lines.put(line.rstrip("\n"))

    def say(self, line):
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            pass

    def hear(self, start, seconds=180):
        """The rest of the next line that begins so; None if none comes in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                line = self.lines.get(timeout=0.1)
            except queue.Empty:
                continue
            self.seen.append(line)
            if line.startswith(start):
                return line[len(start):].strip()
        return None

    def drain(self):
        while True:
            try:
                self.seen.append(self.lines.get_nowait())
            except queue.Empty:
                return

    def numbers(self, word):
        return {int(line.split()[1]) for line in self.seen if line.startswith(word + " ")}

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._reader.join(10)
        self.drain()


def device(options, port, folder, **more):
    """A device that has started."""
    made = Device([options.client, f"http://127.0.0.1:{port}", folder], **more)
    if made.hear("ready") is None:
        raise RuntimeError(f"the device did not start; it said {made.seen}")
    return made


class Story:
    """One player's writes over all of their device's lives."""

    def __init__(self, options, folder, name, port):
        self.options, self.folder, self.name, self.port = options, os.path.join(folder, name), name, port
        self.last = 0
        self.kept, self.done = set(), set()
        self.strange = []
        self.device = self._start()

    def _start(self):
        started = device(self.options, self.port, self.folder)
        started.say(f"watch {self.name}")
        return started

    def write(self, count):
        for _ in range(count):
            self.last += 1
            self.device.say(f"add {self.name} {self.last}")

    def wait(self, count, word):
        """Waits until so many of the writes of this life have come so far, or for a second."""
        end = time.monotonic() + 1
        while time.monotonic() < end and len(self.device.numbers(word)) < count:
            self.device.hear(word, seconds=0.2)

    def note(self):
        self.device.drain()
        self.kept |= self.device.numbers("kept")
        self.done |= self.device.numbers("done")
        self.strange += [line for line in self.device.seen if line.startswith(("refused", "superseded", "error"))]

    def restart(self):
        self.device.kill()
        self.note()
        self.device = self._start()

    def finish(self):
        self.device.say("sync")
        answer = self.device.hear("synced", seconds=300)
        self.note()
        return answer is not None


def kills(options, data, folder, chance, checks):
    """Kills devices and the server at random moments between writes."""
    server = Server(options.program, "--data", data)
    port = server.await_address()
    stories = [Story(options, folder, name, port) for name in PLAYERS]
    for _ in range(options.kills):
        for story in stories:
            story.write(chance.randrange(1, 40))
        victim = chance.choice(("server", "ann", "bob", "all"))
        story = stories[chance.randrange(2)]
        story.wait(chance.randrange(30), chance.choice(("kept", "done")))
        if victim in ("server", "all"):
            server.kill()
            if chance.random() < 0.5:
                for story in stories:
                    story.write(chance.randrange(5))
        for story in stories:
            if victim in (story.name, "all"):
                story.restart()
        if victim in ("server", "all"):
            server = Server(options.program, "--data", data, "--port", str(port))
            server.await_address()
    ended = [story.finish() for story in stories]
    checks.check(f"after {options.kills} kills every device comes to its end", all(ended), f"{ended}")
    tree = Connection(port).ask("GET", "/.json").json or {}
    for story in stories:
        player = tree.get(story.name, {})
        log = {int(key): at for key, at in enumerate(player["log"]) if at} if isinstance(player.get("log"), list) else {
            int(key): at for key, at in player.get("log", {}).items()}
        lost = sorted((story.kept | story.done) - log.keys())
        checks.check(f"{story.name}: of {len(story.kept)} writes that were on the device none is lost", not lost and story.kept, f"{lost[:10]}")
        checks.check(f"{story.name}: {len(log)} writes are counted once each", player.get("count") == len(log),
                     f"the counter says {player.get('count')}")
        times = [log[number] for number in sorted(log)]
        checks.check(f"{story.name}: they were done in their order", times == sorted(times))
        checks.check(f"{story.name}: none was refused", not story.strange, f"{story.strange[:3]}")
        story.device.kill()
    server.stop()


def outages(options, data, folder, checks):
    """A thousand writes of one device, while the server is killed five times."""
    server = Server(options.program, "--data", data)
    port = server.await_address()
    story = Story(options, folder, "cleo", port)
    for number in range(5):
        story.write(200)
        while story.device.hear("done", seconds=120) is not None and len(story.device.numbers("done")) < 200 * number + 50:
            pass
        server.kill()
        server = Server(options.program, "--data", data, "--port", str(port))
        server.await_address()
    ended = story.finish()
    player = (Connection(port).ask("GET", "/.json").json or {}).get("cleo", {})
    log = player.get("log") or {}
    log = {str(key): at for key, at in enumerate(log) if at} if isinstance(log, list) else log
    numbers = [str(number) for number in range(1, 1001)]
    checks.check("of 1000 writes over 5 deaths of the server each arrives, and counts once",
                 ended and sorted(log, key=int) == numbers and player.get("count") == 1000,
                 f"{len(log)} arrived, the counter says {player.get('count')}")
    times = [log[number] for number in numbers if number in log]
    checks.check("they arrive in their order", times == sorted(times))
    checks.check("the device is told of each that it is done", len(story.done) == 1000 and not story.strange,
                 f"{len(story.done)} {story.strange[:3]}")
    story.device.kill()
    server.stop()


def presence(options, data, folder, checks):
    """What the server does when a device is gone, and what it does not."""
    server = Server(options.program, "--data", data)
    port = server.await_address()
    asking = Connection(port)

    def becomes(path, value, seconds=240):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if asking.ask("GET", f"/{path}.json").json == value:
                return True
            time.sleep(0.05)
        return False

    phone = device(options, port, os.path.join(folder, "present"))
    phone.say("presence here/one")
    checks.check("a device says that it is there", phone.hear("present") is not None and becomes("here/one", "here"))
    phone.kill()
    checks.check("a device that is killed is shown as gone by the server", becomes("here/one", "gone"))
    phone = device(options, port, os.path.join(folder, "later"))
    phone.say("offline")
    phone.say("presence here/two")
    phone.say("read here/one")
    checks.check("without a connection a read of the server fails with a sentence", "offline" in (phone.hear("error") or ""), f"{phone.seen[-3:]}")
    checks.check("what was said without a connection is not done before there is one",
                 asking.ask("GET", "/here/two.json").json is None)
    phone.say("online")
    checks.check("what was said without a connection is said with the next", phone.hear("present") is not None and becomes("here/two", "here"))
    phone.kill()
    checks.check("and it is done when the device is gone", becomes("here/two", "gone"))
    server.stop()


def full_disk(options, data, folder, checks):
    """A device whose disk takes no more goes on in memory, and says so once."""
    server = Server(options.program, "--data", data)
    port = server.await_address()
    phone = device(options, port, os.path.join(folder, "full"), file_bytes=8192)
    phone.say("offline")
    for number in range(200):
        phone.say(f"add full {number}")
    told = phone.hear("log") or ""
    checks.check("a full disk is said in the log, with the file", "cannot be written" in told and "Nothing is kept on disk" in told, f"{told} {phone.seen[-2:]}")
    phone.say("online")
    phone.say("sync")
    checks.check("the device goes on", phone.hear("synced") is not None, f"{phone.seen[-3:]}")
    count = Connection(port).ask("GET", "/full/count.json").json
    checks.check("all 200 writes arrive once", count == 200, f"{count}")
    checks.check("it is said once", sum("Nothing is kept on disk" in line for line in phone.seen) == 1)
    phone.kill()
    server.stop()


def crowd(options, data, folder, checks):
    """Twenty devices change one number, fifty times each."""
    server = Server(options.program, "--data", data)
    port = server.await_address()
    devices = [device(options, port, os.path.join(folder, f"device{number}")) for number in range(20)]
    for one in devices:
        one.say("count crowd/sum 50")
    for one in devices:
        one.hear("counted", seconds=600)
    errors = [line for one in devices for line in one.seen if line.startswith("error")]
    total = Connection(port).ask("GET", "/crowd/sum.json").json
    checks.check("20 devices with 50 transactions each count to 1000", total == 1000 and not errors, f"{total} {errors[:2]}")
    for one in devices:
        one.kill()
    server.stop()


def libraries(options, checks):
    """The device's program links no library of the server's."""
    linked = subprocess.run(["ldd", options.client], capture_output=True, text=True, check=False).stdout
    checks.check("an app links no SQLite", linked and "sqlite" not in linked.lower(), linked)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--client", required=True, help="the program ClientFixture")
    parser.add_argument("--firebase", help="a folder with the packages @firebase/app and @firebase/database for Node")
    parser.add_argument("--kills", type=int, default=20, help="how often something is killed")
    parser.add_argument("--seed", type=int, default=20261126)
    options = parser.parse_args()
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="doubloon-client-")
    try:
        libraries(options, checks)
        kills(options, os.path.join(folder, "kills"), folder, random.Random(options.seed), checks)
        outages(options, os.path.join(folder, "outages"), folder, checks)
        recording(options, os.path.join(folder, "recording"), checks)
        frames(options, os.path.join(folder, "requests"), folder, checks, Device)
        presence(options, os.path.join(folder, "presence"), folder, checks)
        full_disk(options, os.path.join(folder, "disk"), folder, checks)
        crowd(options, os.path.join(folder, "crowd"), folder, checks)
        if options.firebase:
            peers(options, os.path.join(folder, "peers"), folder, random.Random(options.seed), checks, Device)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
