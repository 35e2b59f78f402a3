"""Kills the program at random moments under load, then proves that nothing was lost and nothing paid twice.

Clients play referral lives over HTTP and note every write that was acknowledged. The program is killed with SIGKILL after
a random number of acknowledgements (now and then while it starts), and started again on the same data. After each start
every client compares its player's record with what was acknowledged; at the end the whole tree, the balances and the
ledger are compared with the model.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time

import commit_log
from players import REWARD, Client
from server import Checks, Connection, Server

ENOUGH = 20  # kills that make a run worth its name when time runs out


class Board:
    """What the clients and the killer tell each other."""

    def __init__(self, clients):
        self._condition = threading.Condition()
        self._epoch = -1
        self._port = None
        self._here = clients
        self._waiting = 0
        self.acknowledged = 0
        self.lost = 0
        self.kept = 0
        self.is_stopping = False

    def open(self, port):
        with self._condition:
            self._epoch += 1
            self._port = port
            self._condition.notify_all()

    def close(self):
        with self._condition:
            self._port = None

    def await_server(self, seen):
        """Waits for a server younger than the one seen; None when the run is over."""
        with self._condition:
            self._waiting += 1
            self._condition.notify_all()
            self._condition.wait_for(lambda: self.is_stopping or (self._port is not None and self._epoch > seen))
            self._waiting -= 1
            return (self._epoch, self._port) if self._port is not None and self._epoch > seen else None

    def note_down(self, epoch):
        """A client lost its connection. Returns whether the server was killed; if not, something is wrong with it."""
        with self._condition:
            return self.is_stopping or self._port is None or self._epoch > epoch

    def count(self):
        with self._condition:
            self.acknowledged += 1
            self._condition.notify_all()

    def note(self, lost=0, kept=0):
        with self._condition:
            self.lost += lost
            self.kept += kept

    def await_acknowledged(self, number, seconds):
        with self._condition:
            return self._condition.wait_for(lambda: self.acknowledged >= number, timeout=seconds)

    def await_all_waiting(self, seconds=180):
        """Waits until every client has noticed that the server is gone."""
        with self._condition:
            return self._condition.wait_for(lambda: self._waiting >= self._here, timeout=seconds)

    def stop(self):
        with self._condition:
            self.is_stopping = True
            self._condition.notify_all()

    def leave(self):
        with self._condition:
            self._here -= 1
            self._condition.notify_all()


def canonical(tree):
    """One SHA-256 for a tree: keys sorted, no blanks."""
    return hashlib.sha256(json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def differences(a, b, path=""):
    """The places where two trees differ, at most a few."""
    if isinstance(a, dict) and isinstance(b, dict):
        found = []
        for key in sorted(set(a) | set(b)):
            if len(found) < 5:
                found += differences(a.get(key), b.get(key), f"{path}/{key}")
        return found
    return [] if json.dumps(a) == json.dumps(b) else [f"{path} holds {json.dumps(a)}, the model {json.dumps(b)}"]


def start(program, data, starts):
    server = Server(program, "--data", data)
    server.await_address()
    starts.append(server.started_in * 1000)
    return server


def kill_again_and_again(options, data, chance, board, clients, checks, starts):
    """The killer's loop. Returns the server that is left running."""
    end = time.monotonic() + options.seconds if options.seconds else None
    kills = 0
    while kills < options.kills and (end is None or time.monotonic() < end):
        server = start(options.program, data, starts)
        faults = sum(len(client.broken) for client in clients)
        before = board.acknowledged
        board.open(server.port)
        moved = board.await_acknowledged(before + chance.randrange(1, 400), seconds=120)
        board.close()
        server.kill()
        kills += 1
        came_back = board.await_all_waiting()
        if chance.random() < 0.1:
            # Once more before it is ready: what recovery began must be able to begin again.
            early = Server(options.program, "--data", data)
            threading.Event().wait(chance.random() * statistics.median(starts) / 1000)
            early.kill()
            kills += 1
        broken = [text for client in clients for text in client.broken]
        checks.check(
            f"kill {kills}: what was acknowledged is there", moved and came_back and len(broken) == faults,
            "; ".join(broken[faults:][:3]) or "the server stood still", quiet=True)
        if kills % 100 < 2 and kills >= 100:
            print(f"        {kills} kills, {board.acknowledged} writes acknowledged", flush=True)
    if kills < options.kills:
        checks.check(f"at least {ENOUGH} kills in {options.seconds} s", kills >= ENOUGH, f"only {kills}")
    server = start(options.program, data, starts)
    board.open(server.port)
    board.await_acknowledged(board.acknowledged + 200, seconds=120)
    return server, kills


def drain(connection, checks):
    """Waits until every event is settled."""
    end = time.monotonic() + 300
    while True:
        answer = connection.ask("POST", "/admin/v1/drain")
        if answer.status == 200 or time.monotonic() > end:
            break
    checks.check("every event is settled", answer.status == 200, f"{answer.status}: {answer.text[:500]}")
    left = (answer.json or {}).get("unfinished", []) if isinstance(answer.json, dict) else []
    checks.check("no run waits for a retry, is paused or dead", not left, json.dumps(left)[:500])


def compare(connection, clients, referrers, checks):
    """The whole tree, balance by balance, against the model. Returns how many ledger entries there must be, by code."""
    players = [player for client in clients for player in client.players]
    earned = {name: 0 for name in referrers}
    users = {}
    for player in players:
        record = player.expected()
        if record:
            users[player.name] = record
        if player.has_reached_5 and player.referrer:
            earned[player.referrer] += REWARD
    for name in referrers:
        users[name] = {"name": name}
        if earned[name]:
            users[name]["inventory"] = {"pieces_of_eight": earned[name]}

    tree = connection.ask("GET", "/.json?format=export").json or {}
    found = tree.get("users", {})

    def coins(name):
        return (found.get(name) or {}).get("inventory", {}).get("pieces_of_eight", 0)

    wrong = [f"{p.name}: {coins(p.name)}" for p in players if coins(p.name) != (REWARD if p.referrer and p.has_signed_in else 0)]
    checks.check(f"each of {len(players)} players was paid once for signing up, or not at all", not wrong, ", ".join(wrong[:5]))
    wrong = [f"{name}: {coins(name)} instead of {earned[name]}" for name in referrers if coins(name) != earned[name]]
    total = sum(earned.values()) // REWARD
    checks.check(f"each of {len(referrers)} referrers was paid once for each of {total} players", not wrong, ", ".join(wrong[:5]))
    model = {"users": users}
    checks.check(
        "the exported tree has the model's canonical hash", canonical(tree) == canonical(model),
        "; ".join(differences(tree, model)[:5]))
    signed_in = sum(1 for p in players if p.referrer and p.has_signed_in)
    print(f"        {len(players)} players, {total + signed_in} grants, tree {canonical(tree)[:16]}", flush=True)
    return {code: count for code, count in (("signup", signed_in), ("level5", total)) if count}


def verify(connection, checks):
    """The ledger vouches for itself, and every row has its witness."""
    answer = connection.ask("GET", "/admin/v1/ledger/verify")
    report = answer.json if isinstance(answer.json, dict) else {}
    sound = answer.status == 200 and report.get("sound") is True and not report.get("unbackedCount")
    checks.check("the ledger is sound: sums, chain, balances in the tree", sound, answer.text[:500])
    answer = connection.ask("GET", "/admin/v1/verify")
    report = answer.json if isinstance(answer.json, dict) else {}
    checks.check("everything stored is sound", answer.status == 200 and report.get("sound") is True, answer.text[:500])


def inspect(store, grants, checks):
    """The file itself, once the program has ended: log, tree and ledger as they lie on the disk."""
    found = commit_log.faults(store)
    checks.check("the commit log's chain is whole, and its commits add up to the tree", not found, "; ".join(found[:3]))
    counts = commit_log.entry_counts(store)
    checks.check("the ledger has one entry for each grant, and no other", counts == grants, f"{counts}, the model {grants}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the doubloon to kill")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=300, help="stop killing after so long; 0: never")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=20171005)
    parser.add_argument("--keep", action="store_true", help="leave the data behind")
    options = parser.parse_args()

    chance = random.Random(options.seed)
    data = tempfile.mkdtemp(prefix="doubloon-kill-")
    checks = Checks()
    board = Board(options.clients)
    referrers = [f"r{number}" for number in range(20)]
    clients = [Client(n, referrers, random.Random(f"{options.seed}/{n}"), board) for n in range(options.clients)]
    starts = []
    server = None
    print(f"        seed {options.seed}, data in {data}", flush=True)
    try:
        server = start(options.program, data, starts)
        connection = Connection(server.port)
        for name in referrers:
            connection.ask("PUT", f"/users/{name}.json", {"name": name})
        server.kill()
        threads = [threading.Thread(target=client.play, daemon=True) for client in clients]
        for thread in threads:
            thread.start()
        server, kills = kill_again_and_again(options, data, chance, board, clients, checks, starts)
        board.stop()
        for thread in threads:
            thread.join(180)
        broken = [text for client in clients for text in client.broken]
        checks.check(f"{board.acknowledged} acknowledged writes survived {kills} kills", not broken, "; ".join(broken[:3]))
        print(f"        of the writes in flight {board.kept} were applied, {board.lost} were not", flush=True)

        connection = Connection(server.port, timeout=150)
        drain(connection, checks)
        grants = compare(connection, clients, referrers, checks)
        verify(connection, checks)
        checks.check("asked to end, the program ends well", server.stop() == 0)
        inspect(os.path.join(data, "doubloon.db"), grants, checks)
        starts.sort()
        print(f"        start-up in ms: fastest {starts[0]:.0f}, median {statistics.median(starts):.0f}, slowest {starts[-1]:.0f}")
    except Exception as error:
        checks.check("the stage came to its end", False, f"{type(error).__name__}: {error}")
    finally:
        board.stop()
        if server:
            server.kill()
        if not options.keep:
            shutil.rmtree(data, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
