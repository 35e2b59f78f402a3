"""The nodes of a store are upgraded one by one, under players: first those that follow, then the one that leads."""

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
    steps = players.steps
    first.signal(signal.SIGTERM)
    took = cluster.await_write("upgrade", others)
    code = first.process.wait(60)
    checks.check(f"upgrade: the one that leads is ended, and one of the next version leads ({took or 999:.1f} s)",
                 took is not None and took < 20 and code == 0 and cluster.leader() in others, f"exit {code}")
    checks.check("upgrade: the players go on", until(lambda: players.steps > steps, 30))
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
    lose_base(cluster, schema + 2, checks)


def lose_base(cluster, schema, checks):
    """As if the node that brought the store to its schema had died before it kept a base of it: the next term makes up for that."""
    for node in cluster.nodes:
        node.signal(signal.SIGTERM)
    for node in cluster.nodes:
        node.process.wait(60)
    cluster.cell.ask(f"DELETE FROM upgraded.base WHERE schema_version = {schema}")
    cluster.nodes[0].start()
    checks.check("upgrade: a base that was never kept is made when the next term begins", cluster.await_write("base") is not None
                 and until(lambda: cluster.cell.ask("SELECT max(schema_version) FROM upgraded.base") == str(schema), 20))
    for node in cluster.nodes[1:]:
        node.start()
    checks.check("upgrade: and all nodes serve again", until(lambda: all(serves(cluster, node) for node in cluster.nodes)))
