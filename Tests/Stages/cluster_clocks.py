"""Nodes whose clocks are wrong by hours, and jump while they lead: no lease moves for it, no time runs backwards, nothing is paid twice."""

import glob
import os
import sqlite3
import time

from cluster_nodes import NAMESPACE, Cluster, Players, compare
from full_disk import until
from postgres_cell import Cell
from server import Down

LIBRARY = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")


def clocks(program, folder, checks):
    """On servers of their own. The clock that lies is the wall's; no machine's monotonic clock jumps."""
    servers = os.path.join(folder, "clocks")
    os.makedirs(servers)
    cell = Cell(servers)
    cluster = Cluster(program, folder, cell, names=("ahead", "behind", "right"), wired=False)
    try:
        for node in cluster.nodes[:2]:
            # Behind another program that has the library: in the first one of a row Swift would not see its arguments.
            node.wrapper = ["env"]
            node.environment = {"LD_PRELOAD": LIBRARY[0], "FAKETIME_TIMESTAMP_FILE": node.folder + ".time", "FAKETIME_NO_CACHE": "1",
                                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "SWIFT_BACKTRACE": "enable=no"}
        play(cluster, checks)
    finally:
        for node in cluster.nodes:
            node.kill()
        cell.close()


def turn(node, hours):
    """Puts a node's clock so far from the right time."""
    with open(node.folder + ".time.new", "w") as file:
        file.write(f"{hours * 3600:+d}\n")
    os.rename(node.folder + ".time.new", node.folder + ".time")


def lead(cluster, node, checks):
    """A node is started while nobody else is there, or is asked to lead; then it leads."""
    if cluster.leader() is not node:
        leader = cluster.leader()
        leader.stop()
        until(lambda: cluster.leader() not in (None, leader), 10)
        if cluster.leader() is not node:
            cluster.leader().stop()
        for other in cluster.nodes:
            if other.process.poll() is not None:
                other.start()
    return checks.check(f"clocks: {os.path.basename(node.folder)} leads", until(lambda: cluster.leader() is node, 20))


def play(cluster, checks):
    ahead, behind, right = cluster.nodes
    turn(ahead, 1)
    turn(behind, -1)
    ahead.start()
    checks.check("clocks: a node that is an hour ahead serves", cluster.await_write("begin", [ahead]) is not None)
    for node in (behind, right):
        node.start()
    now = cluster.insist(ahead, "PUT", f"/now.json?{NAMESPACE}", {".sv": "timestamp"}).json
    checks.check("clocks: it is believed", abs(now / 1000 - time.time() - 3600) < 60, f"{now}")
    key = {"Idempotency-Key": "once"}
    first = cluster.ask(ahead, "POST", f"/list.json?{NAMESPACE}", 1, headers=key)
    players = Players(cluster, threads=2)
    players.start()
    term = cluster.cell.ask("SELECT fence FROM doubloon.lease")
    for hours in (-1, 1, -1, 3):
        turn(ahead, hours)
        before = players.steps
        checks.check(f"clocks: the clock of the node that leads jumps to {hours:+d} h, and players go on",
                     until(lambda: players.steps > before + 5, 20))
    time.sleep(1)
    checks.check("clocks: no lease moves for that", cluster.cell.ask("SELECT fence FROM doubloon.lease") == term)
    for node in (behind, right, ahead):
        lead(cluster, node, checks)
        before = players.steps
        checks.check("clocks: players go on", until(lambda: players.steps > before + 5, 30))
        again = cluster.insist(node, "GET", f"/list.json?{NAMESPACE}").json
        repeated = repeat(cluster, node, key)
        checks.check("clocks: a repetition is answered as the first, and is none", repeated.json == first.json and len(again) == 1,
                     f"{first.text} {repeated.text} {again}")
    players.stop()
    compare(cluster, checks, players, "clocks")
    for node in cluster.nodes:
        checks.check("clocks: it ends in order", node.stop() == 0)
    backwards, count = times(right)
    checks.check(f"clocks: the times of {count} commits never run backwards", count > 20 and not backwards, f"{backwards[:3]}")


def repeat(cluster, node, key):
    for _ in range(200):
        try:
            answer = cluster.ask(node, "POST", f"/list.json?{NAMESPACE}", 1, headers=key)
            if answer.status != 503:
                return answer
        except Down:
            pass
        time.sleep(0.05)
    raise Down("no node answers")


def times(node):
    """The commits whose time is before that of the one before, and how many commits there are."""
    store = sqlite3.connect(f"file:{node.folder}/doubloon.db?mode=ro", uri=True)
    rows = store.execute("SELECT ns, revision, time FROM commit_log ORDER BY ns, revision").fetchall()
    store.close()
    return [(a, b) for a, b in zip(rows, rows[1:]) if a[0] == b[0] and b[2] < a[2]], len(rows)
