"""The nodes of a store are upgraded one by one, under players: first those that follow, then the one that leads."""

import os
import shutil
import signal
import subprocess

from cluster_nodes import NAMESPACE, Cluster, Players, compare
from full_disk import until
from server import Down


def serves(cluster, node):
    try:
        return cluster.ask(node, "GET", f"/users.json?shallow=true&{NAMESPACE}", timeout=5).status == 200
    except Down:
        return False


def upgrade(program, following, folder, cell, checks):
    """`following` is a program whose schema is later than this one's."""
    cluster = Cluster(program, folder, cell, names=("u0", "u1", "u2"), schema="upgraded")
    try:
        for node in cluster.nodes:
            node.start()
        checks.check("upgrade: three nodes serve", cluster.await_write("begin") is not None and until(
            lambda: all(serves(cluster, node) for node in cluster.nodes)))
        players = Players(cluster, threads=2)
        players.start()
        play(cluster, following, players, checks)
        players.stop()
        compare(cluster, checks, players, "after the upgrade")
    finally:
        for node in cluster.nodes:
            node.kill()


def play(cluster, following, players, checks):
    first = cluster.leader()
    others = [node for node in cluster.nodes if node is not first]
    schema = int(cluster.cell.ask("SELECT max(schema_version) FROM upgraded.base"))
    for node in others:
        code = node.stop()
        node.program = following
        node.start()
        checks.check("upgrade: a node that follows is ended, and the next version follows in its place",
                     code == 0 and until(lambda: serves(cluster, node)), f"{code} {node.text()[-300:]}")
    checks.check("upgrade: meanwhile the old version leads", cluster.leader() is first and first.process.poll() is None)
    lose_machine(cluster, first, others, players, checks)
    now = cluster.cell.ask("SELECT max(schema_version) FROM upgraded.base")
    checks.check("upgrade: the store has the next version's schema", now == str(schema + 2), f"{schema}, {now}")
    before = len(first.text())
    first.start()
    try:
        code = first.process.wait(30)
    except subprocess.TimeoutExpired:
        code = None
    said = first.text()[before:]
    checks.check("upgrade: a node of the version before says that it is too old, and ends", code not in (0, None) and "newer" in said,
                 f"{code} {said[-400:]}")
    first.program = following
    first.start()
    checks.check("upgrade: with the next version it follows", until(lambda: serves(cluster, first)), first.text()[-300:])
    leader = cluster.leader()
    leader.kill()
    took = cluster.await_write("upgraded", [node for node in cluster.nodes if node is not leader])
    checks.check(f"upgrade: when the one that leads is killed another leads ({took or 999:.1f} s)", took is not None and took < 7.5)
    leader.start()
    checks.check("upgrade: all nodes serve", until(lambda: all(serves(cluster, node) for node in cluster.nodes)))


def lose_machine(cluster, first, others, players, checks):
    """The machine of the node that brings the store to the new schema is lost before PostgreSQL has it: another does it again."""
    steps = players.steps
    with cluster.cell.holding("LOCK TABLE upgraded.base_part IN EXCLUSIVE MODE"):
        first.signal(signal.SIGTERM)
        code = first.process.wait(60)
        until(lambda: any(node.leads() for node in others), 20)
        lost = next((node for node in others if node.leads()), others[0])
        # Its copy has the new schema, and the base is on its way.
        until(lambda: os.path.exists(f"{lost.folder}.base"), 20)
        checks.check("upgrade: the one that leads is ended, and one of the next version makes a base", code == 0
                     and os.path.exists(f"{lost.folder}.base"), f"exit {code}, {lost.text()[-300:]}")
        lost.kill()
        shutil.rmtree(lost.folder)
    took = cluster.await_write("upgrade", [node for node in others if node is not lost])
    checks.check(f"upgrade: its machine is lost for good, and another of the next version leads ({took or 999:.1f} s)",
                 took is not None and took < 20 and cluster.leader() in others)
    checks.check("upgrade: the players go on", until(lambda: players.steps > steps, 30))
    lost.start()
    checks.check("upgrade: an empty machine in its place follows", until(lambda: serves(cluster, lost)), lost.text()[-300:])
