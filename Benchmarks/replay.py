#!/usr/bin/env python3
"""What clients feel of a replay of 100,000 failed rewards.

The rewards fail because the balances are texts; then the balances are mended, and the replay pays all of them while wrk writes
with players' names. The latency of those writes is measured alone and beside the replay, in turns: it is paused and resumed.
Needs wrk; the program is the release build.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from server import Connection, Server  # noqa: E402

CHUNK = 1_000

WRITES = """
function init(args) math.randomseed(os.time()) end
function request()
  local player = math.random(0, 99999)
  return wrk.format("PUT", "/visitors/v" .. player .. "/level.json", {["Authorization"] = "Bearer owner"}, tostring(player % 50))
end
"""


def milliseconds(text):
    value, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


class Load:
    """Writes by wrk: how many a second, and how long they took."""

    def __init__(self, port, script, seconds, connections):
        text = subprocess.run(
            ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{port}"],
            capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in text:
            raise SystemExit("some writes were refused:\n" + text)
        self.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
        self.median = milliseconds(re.search(r"\n\s+50%\s+(\S+)", text).group(1))
        self.p99 = milliseconds(re.search(r"\n\s+99%\s+(\S+)", text).group(1))

    def __str__(self):
        return f"{self.rate:8,.0f} writes a second, p50 {self.median:6.2f} ms, p99 {self.p99:6.2f} ms"


def fail(connection, count):
    """So many players whose sign-up could not be paid."""
    for first in range(0, count, CHUNK):
        names = [f"p{number}" for number in range(first, min(first + CHUNK, count))]
        users = {name: {"referred_by": "ann", "inventory": {"pieces_of_eight": "nothing"}} for name in names}
        expect(connection.ask("PATCH", "/users.json?disableTriggers=true", users))
        expect(connection.ask("PATCH", "/users.json", {f"{name}/last_signin_at": 1 for name in names}))
        expect(connection.ask("POST", "/admin/v1/drain"))
        mended = {f"{name}/inventory/pieces_of_eight": 0 for name in names}
        expect(connection.ask("PATCH", "/users.json?disableTriggers=true", mended))


def expect(answer):
    if answer.status not in (200, 201, 202, 204):
        raise SystemExit(f"{answer.status}: {answer.text[:300]}")
    return answer.json or {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--rate", type=int, default=1_000, help="events a second, as of `doubloon replay --rate`")
    parser.add_argument("--seconds", type=int, default=10, help="of each turn")
    parser.add_argument("--connections", type=int, default=16)
    options = parser.parse_args()
    if not shutil.which("wrk"):
        raise SystemExit("wrk is missing: apt-get install wrk")

    folder = tempfile.mkdtemp(prefix="replay-", dir=".build")
    script = os.path.join(folder, "load.lua")
    with open(script, "w") as file:
        file.write(WRITES)
    server = Server(options.program, "--data", os.path.join(folder, "data"))
    try:
        port = server.await_address()
        connection = Connection(port, timeout=150)
        fail(connection, options.events)
        print(f"{options.events:,} rewards have failed", flush=True)
        Load(port, script, 3, options.connections)
        order = {"mode": "failed", "reason": "balances were mended", "rate": options.rate}
        replay = expect(connection.ask("POST", "/admin/v1/replays", order))["id"]
        path = f"/admin/v1/replays/{replay}"
        ratios = []
        while expect(connection.ask("GET", path))["state"] == "running":
            beside = Load(port, script, options.seconds, options.connections)
            state = expect(connection.ask("GET", path))
            if state["state"] != "running":
                print(f"beside, to its end {beside}", flush=True)
                break
            expect(connection.ask("POST", f"{path}/pause"))
            expect(connection.ask("POST", "/admin/v1/drain"))
            alone = Load(port, script, options.seconds, options.connections)
            ratios.append(beside.p99 / alone.p99)
            print(f"alone  {alone}\nbeside {beside}   p99 x {ratios[-1]:.2f}", flush=True)
            expect(connection.ask("POST", f"{path}/resume"))
        state = expect(connection.ask("GET", path))
        balances = expect(connection.ask("GET", "/users.json"))
        paid = sum(1 for user in balances.values() if user.get("inventory", {}).get("pieces_of_eight") == 50)
        print(f"replay: {state['state']}; {paid:,} of {options.events:,} have exactly one reward")
        ratios.sort()
        if ratios:
            print(f"p99 beside the replay: median {ratios[len(ratios) // 2]:.2f} times that without, worst {ratios[-1]:.2f}")
        if paid != options.events:
            raise SystemExit("not everybody has exactly one reward")
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
