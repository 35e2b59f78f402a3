"""Kills the program at random moments of a replay, then proves that the replay went on and paid nobody twice.

Players sign up while their balance is a text, so that every reward is a dead letter. The balances are mended, and a replay
of what failed is killed with SIGKILL again and again while other players write. It resumes by itself at each start. At
the end everybody has exactly one reward, the ledger one entry for each, and the log's chain is whole.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import threading

import commit_log
from kill import drain, verify
from players import REWARD
from server import Checks, Connection, Down, Server

PATH = "/users/{}/inventory/pieces_of_eight.json"


class Writer:
    """A player who goes on writing after every start; knows how many of the writes were acknowledged."""

    def __init__(self):
        self.acknowledged = 0
        self._stopping = threading.Event()
        self._thread = None

    def begin(self, port):
        self._thread = threading.Thread(target=self._play, args=(port,), daemon=True)
        self._thread.start()

    def _play(self, port):
        connection = Connection(port)
        try:
            while not self._stopping.is_set():
                if connection.ask("PUT", "/writer.json", self.acknowledged + 1).status == 200:
                    self.acknowledged += 1
        except Down:
            pass

    def wait(self):
        self._thread.join(180)

    def end(self):
        self._stopping.set()
        self.wait()


def start(program, data):
    server = Server(program, "--data", data)
    server.await_address()
    return server


def fail_everybody(connection, names, checks):
    """Sign-ups that cannot be paid."""
    users = {name: {"referred_by": "ann", "inventory": {"pieces_of_eight": "nothing"}} for name in names}
    connection.ask("PUT", "/users.json?disableTriggers=true", users)
    connection.ask("PATCH", "/users.json", {f"{name}/last_signin_at": 1 for name in names})
    answer = connection.ask("POST", "/admin/v1/drain")
    page = connection.ask("GET", f"/admin/v1/dead-letters?limit={len(names) + 1}").json or {}
    dead = len(page.get("deadLetters", []))
    checks.check(f"{len(names)} rewards failed", answer.status == 200 and dead == len(names), f"{dead} dead letters")


def progress(connection, replay):
    return connection.ask("GET", f"/admin/v1/replays/{replay}").json or {}


def kill_again_and_again(options, data, server, replay, chance, writer, checks):
    """Kills while the replay runs. Returns the server that is left running, and how often it was killed."""
    kills = 0
    while kills < options.kills:
        connection = Connection(server.port)
        state = progress(connection, replay)
        if state.get("state") != "running":
            break
        # So many writes of somebody else from now on, or so many runs of the replay, which is a time that the load decides. The
        # runs see to it that enough kills fall into the replay however long a write takes.
        goal = writer.acknowledged + chance.randrange(5, 120)
        given = state["progress"]["given"] + options.players // 8
        while writer.acknowledged < goal and state.get("state") == "running" and state["progress"]["given"] < given:
            state = progress(connection, replay)
        server.kill()
        writer.wait()
        kills += 1
        server = start(options.program, data)
        writer.begin(server.port)
    checks.check("at least 3 kills fell into the replay", kills >= 3, f"only {kills}: it was done too soon")
    return server, kills


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--players", type=int, default=900)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=20171005)
    options = parser.parse_args()

    chance = random.Random(options.seed)
    data = tempfile.mkdtemp(prefix="doubloon-replay-")
    checks = Checks()
    names = [f"p{number}" for number in range(options.players)]
    writer = Writer()
    server = None
    try:
        server = start(options.program, data)
        connection = Connection(server.port, timeout=150)
        fail_everybody(connection, names, checks)
        connection.ask("PATCH", "/users.json?disableTriggers=true", {f"{name}/inventory/pieces_of_eight": 0 for name in names})
        order = {"mode": "failed", "reason": "balances were mended", "rate": options.players // 6}
        answer = connection.ask("POST", "/admin/v1/replays", order)
        replay = (answer.json or {}).get("id")
        checks.check("a replay of what failed begins", answer.status in (200, 201, 202) and replay is not None, answer.text[:300])
        writer.begin(server.port)
        server, kills = kill_again_and_again(options, data, server, replay, chance, writer, checks)

        connection = Connection(server.port, timeout=150)
        while progress(connection, replay).get("state") == "running":
            threading.Event().wait(0.05)
        writer.end()
        report = progress(connection, replay)
        checks.check("the replay came to its end", report.get("state") == "done", str(report)[:500])
        drain(connection, checks)
        wrong = []
        for name in names:
            found = connection.ask("GET", PATH.format(name)).json
            if found != REWARD:
                wrong.append(f"{name}: {found}")
        checks.check(f"after {kills} kills each of {len(names)} players has one reward", not wrong, ", ".join(wrong[:5]))
        seen = connection.ask("GET", "/writer.json").json
        near = seen in (writer.acknowledged, writer.acknowledged + 1)
        checks.check(f"{writer.acknowledged} writes beside it are there", near, f"{seen} instead of {writer.acknowledged}")
        verify(connection, checks)
        checks.check("asked to end, the program ends well", server.stop() == 0)
        store = os.path.join(data, "doubloon.db")
        faults = commit_log.faults(store)
        checks.check("the commit log's chain is whole, and its commits add up to the tree", not faults, "; ".join(faults[:3]))
        signups = commit_log.entry_counts(store).get("signup")
        checks.check("the ledger has one entry for each reward", signups == len(names), f"{signups}")
    except Exception as error:
        checks.check("the stage came to its end", False, f"{type(error).__name__}: {error}")
    finally:
        if server:
            server.kill()
        shutil.rmtree(data, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
