"""The parts of a store with two nodes and a PostgreSQL of three servers, and what each of them uses. Standard library only; Linux."""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from cluster_nodes import Cluster  # noqa: E402
from postgres_cell import Cell  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
# A lifecycle is seven writes, which carry two grants: see Benchmarks/README.md.
WRITES, GRANTS = 7, 2
MADE = "a base was made in every slice: give the slices less time"


def processes():
    """Of every process: its parent, the seconds it used, and those of its children that have ended."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        used = [int(field) / TICK for field in fields[11:15]]
        found[int(name)] = (int(fields[1]), used[0] + used[1], used[2] + used[3])
    return found


def threads(pid):
    """Seconds that each thread of a process used."""
    found = {}
    for name in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        found[name] = (int(fields[11]) + int(fields[12])) / TICK
    return found


def title(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def ports_of(pid):
    """The local ports of a process's connections."""
    sockets = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            sockets.add(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass
    with open("/proc/net/tcp") as file:
        lines = [line.split() for line in list(file)[1:]]
    return {int(line[1].split(":")[1], 16) for line in lines if f"socket:[{line[9]}]" in sockets}


def memory(pid):
    """Bytes that are the process's own: anonymous pages, of which nothing is shared and nothing can be read again from a file."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return sum(1024 * int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


class Rig:
    """A primary, two standbys, two nodes of one store; what they used is read between two looks at them."""

    def __init__(self, program, lifecycle, clients):
        self.lifecycle = os.path.abspath(lifecycle)
        self._place = tempfile.TemporaryDirectory(prefix="doubloon-scale-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        folder = self.folder = self._place.name
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/servers")
        self.cell = Cell(f"{folder}/servers")
        try:
            self._enlarge(clients)
        except BaseException:
            self.cell.close()
            raise
        self.programs = self.cell._programs
        self.cluster = Cluster(program, folder, self.cell, names=("a", "b"), wired=False)
        self._player = 1_000_000

    def _enlarge(self, clients):
        """What a server of its own would be given; a standby must have as many connections as its primary."""
        for number in (0, 1, 2):
            self.cell._configure(number, f"max_connections = {clients + 60}", "shared_buffers = 256MB", "max_wal_size = 4GB",
                                 "checkpoint_timeout = 15min")
        for number in (0, 1, 2):
            self.cell.stop(number, "fast")
        for number in (0, 1, 2):
            self.cell.start(number)
        self.cell.await_standbys(2)

    def start(self):
        for node in self.cluster.nodes:
            node.start()
        if self.cluster.await_write("begin") is None:
            raise SystemExit("no node leads")
        time.sleep(1)
        self.leader = self.cluster.leader()
        self.follower = next(node for node in self.cluster.nodes if node is not self.leader)
        # Who is referred to is made once; reading what they have is no part of what is measured.
        self._play("rest", self.leader.port, 1, 0, "--seed").wait()

    def close(self):
        for node in self.cluster.nodes:
            node.kill()
        self.cell.close()
        self._place.cleanup()

    def sql(self, text):
        """Runs statements; the rows as they are printed, columns separated by bars."""
        words = [f"{self.programs}/psql", "-qXAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.cell.ports[0]), "-U",
                 "postgres"]
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stderr[-500:])
        return done.stdout.strip()

    def _play(self, kind, port, clients, seconds, *more):
        self._player += 1_000_000
        words = [self.lifecycle, kind, "--port", str(port), "--clients", str(clients), "--seconds", str(seconds), "--warm-up", "0",
                 "--base", str(self._player), *more]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def look(self, counter):
        """Where everything stands now: seconds each part used, and what `counter`, a sum in PostgreSQL, says."""
        readers = ports_of(self.follower.process.pid)
        rows = self.sql(
            f"SELECT {counter}, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0'), (SELECT batch FROM doubloon.lease),"
            " (SELECT count(*) FROM doubloon.base_part); SELECT pid, client_port FROM pg_stat_activity WHERE client_port > 0")
        first, *rest = rows.split("\n")
        counted, log, batch, parts = (float(word) for word in first.split("|"))
        reading = {int(pid) for pid, port in (row.split("|") for row in rest) if int(port) in readers}
        now, found = time.monotonic(), processes()
        used = {"leader": found[self.leader.process.pid][1], "follower": found[self.follower.process.pid][1]}
        used.update({"writing": 0, "reading": 0, "sending": 0, "other": 0})
        for number, name in ((0, "other"), (1, "standby 1"), (2, "standby 2")):
            root = self.cell.postmaster(number)
            used[name] = found[root][1] + found[root][2]
            for pid, (parent, seconds, _) in found.items():
                if parent != root:
                    continue
                kind = title(pid)
                if number:
                    used[name] += seconds
                elif "walsender" in kind:
                    used["sending"] += seconds
                elif "127.0.0.1" in kind:
                    used["reading" if pid in reading else "writing"] += seconds
                else:
                    used["other"] += seconds
        return {"time": now, "used": used, "counted": counted, "log": log, "batch": batch, "parts": parts,
                "threads": threads(self.leader.process.pid)}

    def between(self, before, after, writes):
        """Microseconds of each part, bytes of PostgreSQL's log, for one write."""
        micro = {part: 1e6 * max(0, after["used"][part] - before["used"][part]) / writes for part in after["used"]}
        busiest = max(after["threads"][name] - before["threads"].get(name, 0) for name in after["threads"])
        batches = after["batch"] - before["batch"]
        return {"micro": micro, "thread": 1e6 * busiest / writes, "log": (after["log"] - before["log"]) / writes,
                "batch": writes / batches if batches else 0, "rate": writes / (after["time"] - before["time"])}

    def slice(self, port, clients, seconds, kind="rest"):
        """What a write costs with so many clients; asked again where a base was made meanwhile."""
        counter = "(SELECT coalesce(max(sequence), 0) FROM doubloon.ledger_entry)"
        if kind == "postgres":
            counter = "(SELECT coalesce(sum(pieces_of_eight), 0) / 50 FROM users)"
        for _ in range(6):
            start = self.look(counter)
            play = self._play(kind, port, clients, seconds + 1)
            before = start
            while before["counted"] < start["counted"] + 2 * clients and play.poll() is None:
                time.sleep(0.1)
                before = self.look(counter)
            time.sleep(seconds)
            after = self.look(counter)
            said = play.communicate(timeout=120)[0]
            if play.returncode:
                raise SystemExit(f"{clients} clients: {said}")
            grants = after["counted"] - before["counted"]
            if after["parts"] == start["parts"] and grants > 0:
                found = self.between(before, after, grants * WRITES / GRANTS)
                report = json.loads(said)
                found["p50"], found["p99"] = report["writeP50"], report["writeP99"]
                found["bytes"] = 0 if kind == "postgres" else self._bytes(before, after, grants * WRITES / GRANTS)
                return found
            self.await_base()
        raise SystemExit(MADE)

    def await_base(self):
        """Until a base that is being made is there: the next one is due a minute later at the earliest."""
        parts = None
        while parts != (parts := self.sql("SELECT count(*) FROM doubloon.base_part")):
            time.sleep(4)

    def _bytes(self, before, after, writes):
        """Bytes of batches for a write."""
        return float(self.sql("SELECT coalesce(sum(length(changes)), 0) FROM doubloon.batch_log "
                              f"WHERE batch > {before['batch']:.0f} AND batch <= {after['batch']:.0f}")) / writes

    def idle(self, seconds):
        """Seconds a second that each part uses while nobody asks for anything."""
        before = self.look("1")
        time.sleep(seconds)
        after = self.look("1")
        return {part: max(0, used - before["used"][part]) / (after["time"] - before["time"]) for part, used in after["used"].items()}
