"""The disk of the node that leads fills up: another node leads, nothing that was acknowledged is lost, and the first follows again when
there is space.

Its data folder lies on a small file system in memory, mounted in a mount namespace of this script's own.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from cluster_nodes import NAMESPACE, Cluster
from full_disk import isolate, mount, until
from postgres_cell import Servers
from server import Checks, Down

SMALL, LARGE = "24m", "300m"


def fill(cluster, first, others):
    """Writes through the others until the first does not lead any more. Returns what was acknowledged."""
    acknowledged, number = [], 0
    while number < 2000 and not (number % 20 == 0 and cluster.leader() in others):
        try:
            answer = cluster.ask(others[0], "PUT", f"/big/k{number}.json?{NAMESPACE}", f"{number} " + "x" * 60_000)
            if answer.status == 200:
                acknowledged.append(number)
        except Down:
            pass
        number += 1
    return acknowledged


def play(cluster, checks):
    first, others = cluster.nodes[0], cluster.nodes[1:]
    first.start()
    checks.check("full disk: one node leads", cluster.await_write("begin", [first]) is not None and cluster.leader() is first)
    for node in others:
        node.start()
        checks.check("full disk: another follows", until(lambda: serves(cluster, node)))
    acknowledged = fill(cluster, first, others)
    checks.check(f"full disk: after {len(acknowledged)} writes the disk of the leading node is full, and another node leads",
                 len(acknowledged) > 20 and cluster.leader() in others)
    took = cluster.await_write("full", others)
    checks.check("full disk: which acknowledges writes", took is not None and took < 7.5, f"{took}")
    found = cluster.insist(others[0], "GET", f"/big.json?{NAMESPACE}").json or {}
    lost = [number for number in acknowledged if not (found.get(f"k{number}") or "").startswith(f"{number} x")]
    checks.check("full disk: nothing that was acknowledged is lost", not lost, f"{lost[:5]}")
    checks.check("full disk: the first node goes on, and says why it waits",
                 until(lambda: "full" in first.text()) and first.process.poll() is None, first.text()[-600:])
    before = len(first.text())
    mount(first.folder, LARGE, again=True)
    checks.check("full disk: with enough space it says that it goes on", until(lambda: "this node goes on" in first.text()[before:], 20),
                 first.text()[before:][-600:])
    for node in others:
        node.kill()
    took = cluster.await_write("space", [first], seconds=30)
    checks.check(f"full disk: and leads when the others are killed ({took or 999:.1f} s)", took is not None and took < 7.5)
    again = cluster.insist(first, "GET", f"/big.json?{NAMESPACE}").json
    checks.check("full disk: with all that there was", again == found)


def serves(cluster, node):
    try:
        return cluster.ask(node, "GET", f"/probe.json?{NAMESPACE}", timeout=5).status == 200
    except Down:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--ports", required=True, help="those of the PostgreSQL servers, with commas between; the first takes writes")
    options = parser.parse_args()
    isolate()
    checks = Checks()
    servers = Servers([int(port) for port in options.ports.split(",")])
    folder = tempfile.mkdtemp(prefix="doubloon-cluster-full-")
    cluster = Cluster(options.program, folder, servers, names=("d0", "d1", "d2"), schema="filled", wired=False)
    small = cluster.nodes[0].folder
    try:
        os.makedirs(small)
        mount(small, SMALL)
        play(cluster, checks)
    finally:
        for node in cluster.nodes:
            node.kill()
        subprocess.run(["umount", "-l", small], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
