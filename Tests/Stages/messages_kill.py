"""What is left of in-app messages when the program is killed, and when a backup is restored."""

import os
import shutil
import subprocess
import tempfile
import time

from messages_server import Studio, campaign
from messages_stock import Device

# How often counts are written, in seconds, by the server.
FLUSH = 5
IMPRESSION = {"event_type": "IMPRESSION_EVENT_TYPE"}


class Grave:
    """A server on a folder: killed, and started again on what it left."""

    def __init__(self, program):
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="doubloon-messages-")
        self.open("data")

    def path(self, name):
        return os.path.join(self._folder, name)

    def open(self, data):
        self.data = self.path(data)
        self.studio = Studio(self._program, "--data", self.data)
        self.connection = self.studio.connection

    def kill(self):
        self.studio.kill()
        self.open(self.data)

    def run(self, *arguments):
        done = subprocess.run([os.path.abspath(self._program), *arguments], capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def counts(self, name):
        """By kind, with the button of a click."""
        told = self.studio.ask("GET", f"/admin/v1/messages/{name}/stats")
        return {" ".join(filter(None, (one["kind"], one.get("detail")))): one["count"] for one in (told.json or {}).get("totals", [])}

    def events(self, uid):
        """Pending and told events by name."""
        told = self.studio.ask("GET", f"/admin/v1/messages/events?uid={uid}").json["events"]
        return sorted(one["name"] for one in told if "shownAt" not in one), sorted(one["name"] for one in told if "shownAt" in one)

    def written(self):
        """What the folder's files look like: changes with every commit."""
        found = {}
        for folder, _, names in os.walk(self.data):
            for name in names:
                try:
                    state = os.stat(os.path.join(folder, name))
                except FileNotFoundError:
                    continue
                found[os.path.join(folder, name)] = (state.st_size, state.st_mtime_ns)
        return found

    def await_flush(self, before, seconds=240):
        """Waits until more than a flush's interval is over, and the files are others than before; False if they are not."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            time.sleep(0.2)
            if time.monotonic() - begin > 2 * FLUSH + 2 and self.written() != before:
                return True
        return False

    def close(self):
        self.studio.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


def reports_are_safe_at_once(grave, device, checks):
    status, _ = device.log(("kept", {**IMPRESSION, "doubloon_key": "1"}), ("kept", {"event_type": "CLICK_EVENT_TYPE", "doubloon_key": "2"}))
    grave.kill()
    counts = grave.counts("kept")
    checks.check("what an app was told is counted is counted, although the program is killed at once",
                 status == 200 and counts.get("impression") == 1 and counts.get("click") == 1, f"{status} {counts}")
    device.reconnect(grave.connection)
    status, _ = device.log(("kept", {**IMPRESSION, "doubloon_key": "1"}), ("kept", {"event_type": "CLICK_EVENT_TYPE", "doubloon_key": "2"}))
    checks.check("and what the app sends again counts no second time", status == 200 and grave.counts("kept") == counts, grave.counts("kept"))


def an_event_is_told_once(grave, device, checks):
    uid, token = grave.studio.player()
    grave.studio.reward(uid)
    grave.kill()
    device.reconnect(grave.connection)
    checks.check("a reward that was paid before the kill waits to be told, once", grave.events(uid) == (["reward"], []), grave.events(uid))
    shown = [one["id"] for one in device.fetch(token)[0]]
    status, _ = device.log(("earned", {**IMPRESSION, "doubloon_key": "3"}))
    grave.kill()
    device.reconnect(grave.connection)
    again = [one["id"] for one in device.fetch(token)[0]]
    checks.check("shown before another kill it is shown no more", status == 200 and "earned" in shown and "earned" not in again
                 and grave.events(uid) == ([], ["reward"]), f"{shown} {again} {grave.events(uid)}")
    return uid


def at_most_one_interval_is_lost(grave, device, checks):
    before, files = grave.counts("always").get("served", 0), grave.written()
    for _ in range(4):
        device.fetch()
    checks.check("counts in memory are written within the flush's interval", grave.await_flush(files))
    grave.kill()
    device.reconnect(grave.connection)
    after = grave.counts("always").get("served", 0)
    checks.check("and outlive the kill", after == before + 4, f"{before} {after}")


def a_backup_has_it_all(grave, device, uid, checks):
    campaigns = lambda: [(one["id"], one["state"], one["version"]) for one in grave.studio.ask("GET", "/admin/v1/messages").json["campaigns"]]
    stand = lambda: (campaigns(), grave.counts("kept"), grave.events(uid))
    before, backup = stand(), grave.path("all.backup")
    code, said = grave.run("backup", backup, "--server", f"http://127.0.0.1:{grave.studio.port}")
    checks.check("a backup is made", code == 0, said)
    grave.studio.stop()
    code, said = grave.run("restore", backup, "--data", grave.path("second"))
    checks.check("it is restored", code == 0, said)
    grave.open("second")
    device.reconnect(grave.connection)
    checks.check("campaigns, counts and what was told are in it", stand() == before and len(before[0]) == 3, f"{stand()} instead of {before}")
    checks.check("and what a device has seen", "kept" not in [one["id"] for one in device.fetch()[0]])


def messages_outlive_the_program(program, checks):
    grave = Grave(program)
    try:
        grave.studio.publish(campaign("kept", "banner", {"on": "foreground"}))
        grave.studio.publish(campaign("always", "banner", {"on": "foreground"}, frequency={"lifetime": 1000}))
        grave.studio.publish(campaign("earned", "banner", {"server": "reward"}, frequency={"lifetime": 10}))
        device = Device(grave.connection)
        device.fetch()
        reports_are_safe_at_once(grave, device, checks)
        uid = an_event_is_told_once(grave, device, checks)
        at_most_one_interval_is_lost(grave, device, checks)
        a_backup_has_it_all(grave, device, uid, checks)
    finally:
        grave.close()
