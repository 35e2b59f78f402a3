#!/usr/bin/env python3
"""What several nodes cost: the referral lifecycle through two nodes and a PostgreSQL with two standbys, beside one node with its file.

    Scripts/test release benchmarks cluster
    Benchmarks/cluster.py                     # five rounds in turns, 16 and 64 clients; about four minutes

Everything runs on this machine, so the servers of PostgreSQL, which would have machines of their own, take from the same processors:
what they use for each lifecycle is printed apart. Clients are spread over the nodes, as a balancer does it: half of them are handed on by
the node that follows.
"""

import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from cluster_nodes import Cluster  # noqa: E402
from postgres_cell import Cell  # noqa: E402
from server import Server  # noqa: E402

MARK = 0.5
turns = itertools.count(1)


def ticks(words):
    """What the processes use whose command has one of these words, in seconds; children that have ended among it."""
    used = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                command = file.read().decode(errors="replace").replace("\0", " ")
            if not any(command.startswith(word) or f" {word}" in command for word in words) or "cluster.py" in command:
                continue
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            used += sum(int(field) for field in fields[11:15])
        except OSError:
            pass
    return used / os.sysconf("SC_CLK_TCK")


def play(lifecycle, ports, clients, seconds, words):
    """Lifecycles a second, and processor time of each kind of process for one, in microseconds. The clients are spread over the ports."""
    before = {kind: ticks(kinds) for kind, kinds in words.items()}
    # Other players each time: who was paid once is not paid again.
    found = subprocess.run(
        [lifecycle, "rest", *(word for port in ports for word in ("--port", str(port))), "--clients", str(clients), "--seconds", str(seconds),
         "--warm-up", "0", "--base", str(1_000_000 * next(turns))], capture_output=True, text=True, check=True)
    report = json.loads(found.stdout)
    count = max(1, report["lifecycles"])
    return report["lifecyclesPerSecond"], {kind: 1e6 * (ticks(kinds) - before[kind]) / count for kind, kinds in words.items()}


def seed(lifecycle, port):
    """Makes those who are referred to."""
    subprocess.run([lifecycle, "rest", "--port", str(port), "--clients", "1", "--seconds", "0.1", "--warm-up", "0", "--base",
                    str(1_000_000 * next(turns)), "--seed"], capture_output=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--lifecycle", default=".build/release/lifecycle")
    parser.add_argument("--clients", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--follower", action="store_true", help="all clients at the node that follows, instead of half of them")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    folder = tempfile.mkdtemp(prefix="doubloon-cluster-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    os.chmod(folder, 0o755)
    os.makedirs(os.path.join(folder, "servers"))
    cell = Cell(os.path.join(folder, "servers"))
    cluster = Cluster(program, folder, cell, names=("a", "b"), wired=False)
    alone = Server(program, "--data", os.path.join(folder, "alone"))
    missed = 0
    try:
        alone.await_address()
        for node in cluster.nodes:
            node.start()
        cluster.await_write("begin")
        time.sleep(1)
        follower = next(node for node in cluster.nodes if node is not cluster.leader())
        ports = [follower.port] if options.follower else [cluster.leader().port, follower.port]
        for port in (alone.port, follower.port):
            seed(options.lifecycle, port)
        for clients in options.clients:
            ratios, rows = [], []
            for _ in range(options.rounds):
                one, cost = play(options.lifecycle, [alone.port], clients, options.seconds, {"node": [f"{folder}/alone"]})
                batches = int(cell.ask("SELECT batch FROM doubloon.lease"))
                two, costs = play(options.lifecycle, ports, clients, options.seconds,
                                  {"nodes": [f"{folder}/a", f"{folder}/b"], "PostgreSQL": ["postgres: ", f"-D {folder}/servers"]})
                took = int(cell.ask("SELECT batch FROM doubloon.lease")) - batches
                ratios.append(two / one)
                rows.append((one, two, cost["node"], costs["nodes"], costs["PostgreSQL"], took / options.seconds))
            middle = [statistics.median(column) for column in zip(*rows)]
            print(f"{clients} clients: alone {middle[0]:.0f}/s ({middle[2]:.0f} us each), two nodes {middle[1]:.0f}/s (nodes {middle[3]:.0f} us, "
                  f"PostgreSQL {middle[4]:.0f} us, {middle[5]:.0f} batches/s); ratio {statistics.median(ratios):.2f} "
                  f"({min(ratios):.2f}-{max(ratios):.2f}), mark {MARK}")
            missed += statistics.median(ratios) < MARK
        print(f"bytes of batches: {cell.ask('SELECT sum(length(changes)) / count(*) FROM doubloon.batch_log')} each")
    finally:
        alone.kill()
        for node in cluster.nodes:
            node.kill()
        cell.close()
        shutil.rmtree(folder, ignore_errors=True)
    if missed:
        print("missed  the throughput of two nodes")


if __name__ == "__main__":
    main()
