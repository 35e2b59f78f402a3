"""Three nodes and a PostgreSQL with two synchronous standbys: nodes and servers are killed and frozen under players; nothing that was
acknowledged is lost, every reward is paid once, and nobody is told what is not so.

Which faults there are and in which order is given by a seed, which is said; `--seed` plays the same again. Then a machine of servers
that Patroni looks after dies, the nodes are upgraded, and a disk fills up.
"""

import argparse
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from cluster_clocks import LIBRARY, clocks
from cluster_conformance import conformance
from cluster_faults import Faults
from cluster_histories import Histories, can_fail, compare_histories
from cluster_nodes import NAMESPACE, Cluster, Players, compare, listen
from cluster_patroni import patroni
from cluster_production import production
from cluster_store import compare_copies, example, move, refuse, restore, trap, watch_nodes
from cluster_upgrade import upgrade
from full_disk import until
from postgres_cell import Cell
from server import Checks, Down


def first_hour(cluster, checks):
    """One node leads, and every node serves."""
    for node in cluster.nodes:
        node.start()
    took = cluster.await_write("begin", seconds=60)
    checks.check("three nodes are started on an empty PostgreSQL, and serve", took is not None)
    methods = cluster.cell.ask("SELECT string_agg(attcompression, '') FROM pg_attribute WHERE attname IN ('changes', 'data') AND attrelid IN "
                               "('doubloon.batch_log'::regclass, 'doubloon.base_part'::regclass)")
    checks.check("batches and bases are compressed by LZ4, where the server has it", methods == "ll", f"{methods}")
    time.sleep(1)
    leaders = [node for node in cluster.nodes if node.leads()]
    checks.check("one of them leads", len(leaders) == 1 and leaders[0] is cluster.leader(), f"{len(leaders)}")
    for number, node in enumerate(cluster.nodes):
        answer = cluster.insist(node, "PUT", f"/from/node{number}.json?{NAMESPACE}", number)
        checks.check(f"node {number} takes a write", answer.status == 200, f"{answer.status} {answer.text[:100]}")
    for number, node in enumerate(cluster.nodes):
        answer = cluster.insist(node, "GET", f"/from.json?{NAMESPACE}")
        checks.check(f"node {number} shows what all have written", answer.json == {"node0": 0, "node1": 1, "node2": 2}, answer.text[:100])


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
    checks.check("nothing is acknowledged while no standby is there, though the role's commits would wait for none", acknowledged == 0,
                 f"{acknowledged}")
    checks.check("nothing is told that might be old", told == 0, f"{told}")
    heard = [listen(node, "/from") for node in cluster.nodes]
    checks.check("who would listen meanwhile is not refused, which clients take for final, but loses the connection",
                 all(is_ended and b'"r":7' not in said for said, is_ended in heard), f"{heard}"[:300])
    for number in standbys:
        cluster.cell.start(number)
    took = cluster.await_write("again", seconds=60)
    checks.check(f"all goes on by itself when a standby is back ({took or 999:.1f} s)", took is not None)
    cluster.cell.await_standbys(2)


def guard(cluster, checks):
    """PostgreSQL's own keys refuse a second payment, whatever a program does."""
    refused = cluster.cell.ask("INSERT INTO doubloon.ledger_entry SELECT ns, sequence + 1000000, revision, time, debit, credit, amount, unit, code, "
                               "business_key, event, function, subject, reverses, reason, expires_at, allows_negative, debit_after, "
                               "credit_after, previous_hash, hash FROM doubloon.ledger_entry LIMIT 1 RETURNING 1")
    checks.check("PostgreSQL refuses a second entry under one key", refused is None, f"{refused}")


def ask_for_another(program, cluster, checks):
    """`cluster move` in a cell of a version that had none of it, while a dump reads the table that it has to change."""
    leader = cluster.leader()
    wanted = next(node for node in cluster.nodes if node is not leader)

    def ask():
        return subprocess.run([program, "cluster", "move", wanted.name(), "--postgres", cluster.cell.url()], capture_output=True, text=True)

    cluster.cell.ask("ALTER TABLE doubloon.lease DROP COLUMN wanted")
    checks.check("earlier cell: it is written to", cluster.await_write("earlier", seconds=5) is not None)
    with cluster.cell.holding("SELECT * FROM doubloon.lease"):
        refused = ask()
        took = cluster.await_write("dumped", seconds=5)
    checks.check("earlier cell: while a dump has the table, it is said that nothing was changed, and writes go on",
                 refused.returncode == 1 and "a dump perhaps" in refused.stderr and took is not None and took < 2,
                 f"{refused.returncode} {refused.stderr} {took}")
    asked = ask()
    checks.check("earlier cell: when that has ended, the other node leads", asked.returncode == 0 and cluster.leader() is wanted
                 and cluster.await_write("moved", seconds=5) is not None, asked.stderr)


def damaged_at_last(cluster, checks):
    """A copy whose damage nobody meets who follows, but who would lead: the only node that is left makes it again, and leads."""
    leader = cluster.leader()
    node, other = [one for one in cluster.nodes if one is not leader]
    other.stop()
    node.stop()
    with contextlib.closing(sqlite3.connect(os.path.join(node.folder, "doubloon.db"))) as copy:
        copy.execute("DELETE FROM meta WHERE name = 'epoch'")
        copy.commit()
    begin = len(node.text())
    node.start()
    served = until(lambda: cluster.insist(node, "GET", f"/from.json?{NAMESPACE}").status == 200, 20)
    leader.kill()
    took = cluster.await_write("damaged", nodes=[node], seconds=30)
    said = node.text()[begin:]
    checks.check(f"a copy that turns out to be damaged when its node leads is made again, and the node leads ({took or 999:.1f} s)",
                 served and took is not None and "cannot lead with its working copy" in said, said[-600:])
    for one in (leader, other):
        one.start()


def full_disk(program, cell, checks):
    """In a process of its own, for it mounts a file system; where none may be mounted, this part does not exist."""
    for mapped in ([], ["--user", "--map-root-user"]):
        if subprocess.run(["unshare", *mapped, "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0:
            break
    else:
        print("        the disk is not filled: no file system may be mounted here", flush=True)
        return
    ports = ",".join(str(cell.ports[number]) for number in sorted(range(3), key=lambda number: number != cell.primary))
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cluster_full_disk.py")
    played = subprocess.run([sys.executable, script, "--program", program, "--ports", ports], capture_output=True, text=True, timeout=300)
    said, _, last = played.stdout.strip().rpartition("\n")
    counted = re.fullmatch(r"(\d+) passed, (\d+) failed", last)
    print(said if counted else played.stdout + played.stderr, flush=True)
    if not checks.check("full disk: it is played to its end", counted is not None):
        return
    inner = Checks()
    inner.passed, inner.failed = map(int, counted.groups())
    checks.add(inner)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--faults", type=int, default=20, help="how many faults there are in a row")
    parser.add_argument("--seed", type=int, default=1, help="what gives their order")
    parser.add_argument("--trap", help="the program with functions that trap")
    parser.add_argument("--next", help="the program with a later schema (Tests/UpgradeFixture)")
    parser.add_argument("--conformance", action="store_true", help="with the unit tests that `swift build --build-tests` has built")
    parser.add_argument("--patroni", action="store_true", help="with Patroni, which looks after other servers")
    parser.add_argument("--long", action="store_true", help="what takes long, too: a Patroni that stands still")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="doubloon-cluster-")
    os.chmod(folder, 0o755)
    servers = os.path.join(folder, "servers")
    os.makedirs(servers)
    cell = Cell(servers)
    # What a role says of its commits must not count: the program says itself that they wait for a standby.
    cell.ask("ALTER ROLE postgres SET synchronous_commit = local")
    cluster = Cluster(program, folder, cell)
    try:
        first_hour(cluster, checks)
        can_fail(checks)
        players, histories = Players(cluster), Histories(cluster, seed=options.seed)
        players.start()
        histories.start()
        print(f"        --seed {options.seed} plays the same faults", flush=True)
        Faults(cluster, checks, players, options.seed).play(options.faults)
        lose_standbys(cluster, checks)
        players.stop()
        histories.stop()
        compare(cluster, checks, players, "at the end")
        compare_histories(cluster, histories, checks)
        guard(cluster, checks)
        ask_for_another(program, cluster, checks)
        damaged_at_last(cluster, checks)
        watch_nodes(program, cluster, checks)
        restore(program, folder, cluster, checks)
        compare_copies(program, cluster, checks)
        move(program, folder, cell, checks)
        production(program, folder, cell, checks)
        if options.trap:
            trap(os.path.abspath(options.trap), folder, cell, checks)
        if options.next:
            upgrade(program, os.path.abspath(options.next), folder, cell, checks)
        full_disk(program, cell, checks)
        if LIBRARY:
            clocks(program, folder, checks)
        refuse(program, folder, cell, checks)
        if options.conformance:
            conformance(folder, checks, is_long=options.long)
        if options.patroni:
            patroni(program, folder, checks, is_long=options.long)
        example(program, folder, checks)
    finally:
        failed = checks.failed or sys.exc_info()[0] is not None
        for node in cluster.nodes:
            node.kill()
        cell.close()
        if failed:
            for number, node in enumerate(cluster.nodes):
                print(f"-- node {number}\n{node.text()[-3000:]}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
