"""Several nodes of one store, and players who play through any of them. Standard library only."""

import json
import os
import random
import signal
import socket
import subprocess
import threading
import time

from postgres_cell import free_port
from server import Connection, Down
from wire import Wire

NAMESPACE = "ns=demo-default-rtdb"


class Node:
    """`doubloon dev` as one of several nodes."""

    def __init__(self, program, folder, wire, schema):
        self.program, self.folder, self.wire, self.schema = program, folder, wire, schema
        self.port, self.reads = free_port(), free_port()
        self.process = None
        self.log = folder + ".log"
        self.environment, self.wrapper = {}, []

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, self.program, "dev", "--port", str(self.port), "--data", self.folder, "--postgres", self.wire.url(),
                 "--postgres-schema", self.schema, "--stale-reads", str(self.reads)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=dict(os.environ, **self.environment))

    def leads(self):
        """Whether it has said so last, of all that it says of leading."""
        said = [line for line in self.text().split("\n") if "this node leads" in line or "term is over" in line or "gives the lease" in line]
        return bool(said) and "this node leads" in said[-1]

    def text(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    def name(self):
        """What it is called among the nodes."""
        with open(os.path.join(self.folder, "node")) as file:
            return file.read().strip()

    def signal(self, number):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def stop(self):
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            return None


class Cluster:
    """The nodes, and what is known of them from outside."""

    def __init__(self, program, folder, cell, names=("node0", "node1", "node2"), schema="doubloon", wired=True):
        self.cell, self.schema = cell, schema
        self.nodes = []
        for name in names:
            # What can be cut.
            wire = Wire(cell.ports) if wired else cell
            self.nodes.append(Node(os.path.abspath(program), os.path.join(folder, name), wire, schema))

    def leader(self):
        """The node that PostgreSQL says leads; None where none does."""
        found = self.cell.ask(f"SELECT node || ' ' || is_clean FROM {self.schema}.lease")
        if not found or found.endswith(" 1"):
            return None
        name = found.split(" ")[0]
        for node in self.nodes:
            try:
                if node.name() == name:
                    return node
            except OSError:
                pass
        return None

    def ask(self, node, method, path, body=None, timeout=10, headers=None):
        connection = Connection(node.port, timeout=timeout)
        try:
            return connection.ask(method, path, body, headers)
        finally:
            connection.close()

    def insist(self, node, method, path, body=None, seconds=30):
        """The answer of a node that has heard who leads: what is refused or broken off before is asked again."""
        end = time.monotonic() + seconds
        while True:
            try:
                answer = self.ask(node, method, path, body)
                if answer.status != 503 or time.monotonic() > end:
                    return answer
            except Down:
                if time.monotonic() > end:
                    raise
            time.sleep(0.05)

    def await_write(self, key, nodes=None, seconds=60):
        """Writes something through any node until one acknowledges it. Returns how long that took."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            for node in nodes or self.nodes:
                try:
                    if self.ask(node, "PUT", f"/probe/{key}.json?{NAMESPACE}", True, timeout=3).status == 200:
                        return time.monotonic() - begin
                except Down:
                    pass
            time.sleep(0.02)
        return None


def register_end(node, path, value):
    """A client of the realtime protocol that wants this written when its connection ends. Returns its socket."""
    client, said = speak(node, "o", {"p": path, "d": value})
    while b'"r":7' not in said:
        part = client.recv(4096)
        if not part:
            raise Down("the connection was closed")
        said += part
    return client


def listen(node, path, seconds=10):
    """What a client of the realtime protocol hears that wants to listen; and whether its connection was ended meanwhile."""
    client, said = speak(node, "q", {"p": path, "h": ""})
    client.settimeout(seconds)
    try:
        while part := client.recv(4096):
            said += part
            if b'"r":7' in said:
                return said, False
        return said, True
    except OSError:
        return said, False
    finally:
        client.close()


def speak(node, action, body):
    """A client of the realtime protocol that has sent one request, the seventh. Returns its socket, and what it has heard so far."""
    client = socket.create_connection(("127.0.0.1", node.port), timeout=10)
    client.sendall(f"GET /.ws?v=5&{NAMESPACE} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    text = json.dumps({"t": "d", "d": {"r": 7, "a": action, "b": body}}).encode()
    # One frame, masked with zeros.
    client.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
    return client, b""


class Players:
    """Players who sign up, are referred and reach level 5, through any node; each step again until it is acknowledged."""

    def __init__(self, cluster, threads=4):
        self.cluster = cluster
        self.acknowledged = {}
        self.steps = 0
        self.refused = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._rounds = 0
        self._count = threads
        self._threads = []

    def start(self):
        """They begin, or go on as others."""
        self._ended.clear()
        numbers = range(self._rounds * self._count, (self._rounds + 1) * self._count)
        self._threads = [threading.Thread(target=self._play, args=(number,), daemon=True) for number in numbers]
        self._rounds += 1
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._ended.set()
        for thread in self._threads:
            thread.join(120)

    def _play(self, number):
        chance = random.Random(number)
        count = 0
        while not self._ended.is_set():
            count += 1
            uid = f"t{number}p{count}"
            steps = [
                {"referred_by": f"r{chance.randrange(5)}", "level": 4, "step": 1}, {"last_signin_at": 1, "step": 2}, {"level": 5, "step": 3},
            ]
            for step in steps:
                if not self._write(uid, step, chance):
                    return

    def _write(self, uid, step, chance):
        """Until it is acknowledged; what is not known may be there. False if the play ended before."""
        # A node that stood still may carry a request out whose client has long asked another.
        key = {"Idempotency-Key": f"{uid}-{step['step']}"}
        while True:
            node = chance.choice(self.cluster.nodes)
            try:
                answer = self.cluster.ask(node, "PATCH", f"/users/{uid}.json?{NAMESPACE}", step, headers=key)
                if answer.status == 200:
                    with self._lock:
                        self.acknowledged.setdefault(uid, {}).update(step)
                        self.steps += 1
                    return True
                self.refused += 1
            except Down:
                self.refused += 1
            if self._ended.is_set():
                return False
            time.sleep(0.05)


def settled(cluster, seconds=120):
    """Waits until every event is done."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            answer = cluster.ask(cluster.nodes[0], "POST", f"/admin/v1/drain?{NAMESPACE}", {}, timeout=60)
            if answer.status == 200:
                return answer.json
        except Down:
            pass
        time.sleep(0.2)
    return None


def compare(cluster, checks, players, when):
    """Everything that was acknowledged is there, and every reward was paid once."""
    settled(cluster)
    users = {}
    for _ in range(100):
        try:
            answer = cluster.ask(cluster.nodes[0], "GET", f"/users.json?{NAMESPACE}", timeout=30)
            if answer.status == 200:
                users = answer.json or {}
                break
        except Down:
            pass
        time.sleep(0.1)
    lost = [
        (uid, written, users.get(uid)) for uid, written in players.acknowledged.items()
        if any((users.get(uid) or {}).get(name) != value for name, value in written.items() if name in ("referred_by", "last_signin_at"))
        or (users.get(uid) or {}).get("step", 0) < written["step"]
    ]
    checks.check(f"{when}: nothing that was acknowledged is lost ({len(players.acknowledged)} players)", not lost, f"{lost[:3]}")
    coins = {uid: (user.get("inventory") or {}).get("pieces_of_eight", 0) for uid, user in users.items()}
    wrong = [
        uid for uid, user in users.items()
        if not uid.startswith("r") and coins[uid] != (50 if user.get("last_signin_at") is not None else 0)
    ]
    checks.check(f"{when}: every sign-up was paid once", not wrong, f"{[(uid, users[uid]) for uid in wrong[:3]]}")
    for referrer in (f"r{n}" for n in range(5)):
        owed = 50 * sum(1 for user in users.values() if user.get("referred_by") == referrer and user.get("level") == 5)
        checks.check(f"{when}: {referrer} was paid once for each player", coins.get(referrer, 0) == owed,
                     f"{coins.get(referrer, 0)} of {owed}")
    rows = cluster.cell.ask(f"SELECT count(*) || ' ' || coalesce(sum(amount), 0) FROM {cluster.schema}.ledger_entry")
    paid = sum(coins.values())
    checks.check(f"{when}: PostgreSQL has every entry", rows == f"{paid // 50} {paid}", f"{rows}, {paid}")
