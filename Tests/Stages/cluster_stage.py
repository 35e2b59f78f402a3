"""Three nodes and a PostgreSQL with two synchronous standbys: nodes and servers are killed and frozen under players; nothing that was
acknowledged is lost, every reward is paid once, and nobody is told what is not so.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time

from cluster_nodes import NAMESPACE, Cluster, Players, compare
from cluster_store import compare_copies, example, move, refuse, restore, trap
from postgres_cell import Cell
from server import Checks, Connection, Down


def first_hour(cluster, checks):
    """One node leads, and every node serves."""
    for node in cluster.nodes:
        node.start()
    took = cluster.await_write("begin", seconds=60)
    checks.check("three nodes are started on an empty PostgreSQL, and serve", took is not None)
    time.sleep(1)
    leaders = [node for node in cluster.nodes if node.leads()]
    checks.check("one of them leads", len(leaders) == 1 and leaders[0] is cluster.leader(), f"{len(leaders)}")
    for number, node in enumerate(cluster.nodes):
        answer = cluster.insist(node, "PUT", f"/from/node{number}.json?{NAMESPACE}", number)
        checks.check(f"node {number} takes a write", answer.status == 200, f"{answer.status} {answer.text[:100]}")
    for number, node in enumerate(cluster.nodes):
        answer = cluster.insist(node, "GET", f"/from.json?{NAMESPACE}")
        checks.check(f"node {number} shows what all have written", answer.json == {"node0": 0, "node1": 1, "node2": 2}, answer.text[:100])


def kill_leaders(cluster, checks, count):
    """The node that leads is killed under players."""
    times = []
    for number in range(count):
        leader = cluster.leader()
        leader.kill()
        took = cluster.await_write(f"kill{number}", [node for node in cluster.nodes if node is not leader])
        times.append(took or 999)
        leader.start()
        time.sleep(2)
    checks.check(f"another leads within 7 s of a kill -9 ({', '.join(f'{t:.1f}' for t in times)} s)", max(times) < 7.0)


def end_leader(cluster, checks):
    """The node that leads is ended in order."""
    leader = cluster.leader()
    begin = time.monotonic()
    leader.signal(signal.SIGTERM)
    took = cluster.await_write("end", [node for node in cluster.nodes if node is not leader])
    code = leader.process.wait(60)
    checks.check(f"a node that ends gives the lease back: {took or 999:.2f} s, with the connections that it answers first", took is not None
                 and took < 3 and code == 0, f"exit {code} after {time.monotonic() - begin:.1f} s")
    leader.start()
    time.sleep(2)


def freeze_leader(cluster, checks):
    """The node that leads stands still for longer than others wait, and then goes on as if nothing had been."""
    leader = cluster.leader()
    others = [node for node in cluster.nodes if node is not leader]
    kept = Connection(leader.port, timeout=30)
    kept.ask("PUT", f"/frozen.json?{NAMESPACE}", "old")
    leader.signal(signal.SIGSTOP)
    took = cluster.await_write("freeze", others)
    checks.check(f"another leads while the first stands still ({took or 999:.1f} s)", took is not None and took < 7.5)
    cluster.insist(others[0], "PUT", f"/frozen.json?{NAMESPACE}", "new")
    time.sleep(1)
    leader.signal(signal.SIGCONT)
    told, written = [], []
    for _ in range(40):
        try:
            answer = kept.ask("GET", f"/frozen.json?{NAMESPACE}")
            if answer.status == 200:
                told.append(answer.json)
            answer = kept.ask("PUT", f"/late.json?{NAMESPACE}", "late")
            if answer.status == 200:
                written.append(cluster.insist(others[0], "GET", f"/late.json?{NAMESPACE}").json)
        except Down:
            pass
        time.sleep(0.05)
    checks.check("the first tells nothing old when it goes on", "old" not in told, f"{told[:5]}")
    checks.check("nor does it acknowledge what is not so", all(value == "late" for value in written), f"{written[:5]}")
    kept.close()
    # A reader whose request came while it stood still is the one that it would tell.
    checks.check("it hands clients on, and no process ended",
                 cluster.insist(leader, "GET", f"/frozen.json?{NAMESPACE}").json == "new" and leader.process.poll() is None)


def cut_wires(cluster, checks, count):
    """The connections between the leading node and PostgreSQL break while batches are on their way: what became of each is found out."""
    chance = random.Random(7)
    term, cut = cluster.cell.ask("SELECT fence FROM doubloon.lease"), 0
    leader = cluster.leader()
    for _ in range(count):
        time.sleep(chance.random() * 0.2)
        cut += leader.wire.cut()
    took = cluster.await_write("cut")
    checks.check(f"{cut} connections break under batches, and the same node leads on", took is not None and took < 3
                 and cluster.cell.ask("SELECT fence FROM doubloon.lease") == term, f"{took}, term {term}")


def part_leader(cluster, checks):
    """The leading node hears nothing of PostgreSQL any more, and nobody tells it that."""
    leader = cluster.leader()
    others = [node for node in cluster.nodes if node is not leader]
    cluster.insist(leader, "PUT", f"/parted.json?{NAMESPACE}", "old")
    leader.wire.is_silent = True
    took = cluster.await_write("part", others)
    checks.check(f"another leads when the first hears nothing of PostgreSQL ({took or 999:.1f} s)", took is not None and took < 7.5)
    cluster.insist(others[0], "PUT", f"/parted.json?{NAMESPACE}", "new")
    told = []
    for _ in range(20):
        try:
            answer = cluster.ask(leader, "GET", f"/parted.json?{NAMESPACE}", timeout=1)
            told += [answer.json] if answer.status == 200 else []
        except Down:
            pass
    checks.check("the first tells nothing old", "old" not in told, f"{told[:5]}")
    leader.wire.is_silent = False
    answer = cluster.insist(leader, "GET", f"/parted.json?{NAMESPACE}", seconds=60)
    checks.check("and hands clients on when it hears again", answer.json == "new", answer.text[:100])


def kill_primary(cluster, checks):
    """The server that takes writes is killed; a standby is promoted."""
    begin = time.monotonic()
    dead = cluster.cell.kill_primary()
    took = cluster.await_write("primary", seconds=60)
    checks.check(f"the players go on after the primary was killed ({time.monotonic() - begin:.1f} s with the promotion)", took is not None)
    # As pg_rewind would do; the log of the old server may have what no standby has.
    cluster.cell.stop(dead)
    shutil.rmtree(cluster.cell.data(dead))
    primary = cluster.cell.primary
    cluster.cell._run("pg_basebackup", "-h", "127.0.0.1", "-p", str(cluster.cell.ports[primary]), "-U", "postgres", "-D",
                      cluster.cell.data(dead), "-X", "stream", "-c", "fast", "--no-sync")
    cluster.cell._follow(dead, primary)
    cluster.cell._configure(dead, f"port = {cluster.cell.ports[dead]}", "synchronous_standby_names = ''")
    cluster.cell.start(dead)
    cluster.cell.await_standbys(2)


def lose_standbys(cluster, checks):
    """Without standbys nothing is acknowledged and, after four seconds, nothing is told; then all goes on by itself."""
    standbys = [number for number in range(3) if number != cluster.cell.primary]
    for number in standbys:
        cluster.cell.stop(number, "fast")
    time.sleep(6)
    acknowledged, told = 0, 0
    end = time.monotonic() + 4
    while time.monotonic() < end:
        for node in cluster.nodes:
            try:
                if cluster.ask(node, "PUT", f"/alone.json?{NAMESPACE}", 1, timeout=1).status == 200:
                    acknowledged += 1
                if cluster.ask(node, "GET", f"/from.json?{NAMESPACE}", timeout=1).status == 200:
                    told += 1
            except Down:
                pass
    checks.check("nothing is acknowledged while no standby is there", acknowledged == 0, f"{acknowledged}")
    checks.check("nothing is told that might be old", told == 0, f"{told}")
    for number in standbys:
        cluster.cell.start(number)
    took = cluster.await_write("again", seconds=60)
    checks.check(f"all goes on by itself when a standby is back ({took or 999:.1f} s)", took is not None)
    cluster.cell.await_standbys(2)


def spoil_copy(cluster, checks):
    """A copy that is no copy is thrown away, and made again."""
    node = next(node for node in cluster.nodes if node is not cluster.leader())
    node.kill()
    before = len(node.text())
    for ending in ("-wal", "-shm"):
        if os.path.exists(os.path.join(node.folder, "doubloon.db" + ending)):
            os.remove(os.path.join(node.folder, "doubloon.db" + ending))
    with open(os.path.join(node.folder, "doubloon.db"), "r+b") as file:
        file.seek(100)
        file.write(os.urandom(200_000))
    node.start()
    end = time.monotonic() + 30
    while time.monotonic() < end and "loaded a working copy" not in node.text()[before:]:
        time.sleep(0.1)
    text = node.text()[before:]
    checks.check("a spoiled copy is made again", "the working copy is made again" in text and node.process.poll() is None, text[-300:])
    leader = cluster.leader()
    leader.signal(signal.SIGTERM)
    leader.process.wait(60)
    other = next(one for one in cluster.nodes if one not in (node, leader))
    other.kill()
    took = cluster.await_write("spoiled", [node])
    checks.check("and the node leads with it", took is not None)
    for one in (leader, other):
        one.start()
    time.sleep(2)


def guard(cluster, checks):
    """PostgreSQL's own keys refuse a second payment, whatever a program does."""
    refused = cluster.cell.ask("INSERT INTO doubloon.ledger_entry SELECT ns, sequence + 1000000, revision, time, debit, credit, amount, unit, code, "
                               "business_key, event, function, subject, reverses, reason, expires_at, allows_negative, debit_after, "
                               "credit_after, previous_hash, hash FROM doubloon.ledger_entry LIMIT 1 RETURNING 1")
    checks.check("PostgreSQL refuses a second entry under one key", refused is None, f"{refused}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=3, help="how often the node that leads is killed")
    parser.add_argument("--trap", help="the program with functions that trap")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="doubloon-cluster-")
    os.chmod(folder, 0o755)
    servers = os.path.join(folder, "servers")
    os.makedirs(servers)
    cell = Cell(servers)
    cluster = Cluster(program, folder, cell)
    try:
        first_hour(cluster, checks)
        players = Players(cluster)
        players.start()
        time.sleep(3)
        kill_leaders(cluster, checks, options.kills)
        end_leader(cluster, checks)
        freeze_leader(cluster, checks)
        cut_wires(cluster, checks, 40)
        part_leader(cluster, checks)
        kill_primary(cluster, checks)
        time.sleep(3)
        lose_standbys(cluster, checks)
        time.sleep(2)
        spoil_copy(cluster, checks)
        time.sleep(2)
        players.stop()
        compare(cluster, checks, players, "at the end")
        guard(cluster, checks)
        restore(program, folder, cluster, checks)
        compare_copies(program, cluster, checks)
        move(program, folder, cell, checks)
        if options.trap:
            trap(os.path.abspath(options.trap), folder, cell, checks)
        refuse(program, folder, cell, checks)
        example(program, folder, checks)
    finally:
        for node in cluster.nodes:
            node.kill()
        cell.close()
        if checks.failed:
            for number, node in enumerate(cluster.nodes):
                print(f"-- node {number}\n{node.text()[-3000:]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
