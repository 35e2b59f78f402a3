"""What becomes of a store of several nodes beside the play: its copies, what is refused, the way in and out of PostgreSQL, the example."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time

from cluster_nodes import NAMESPACE, Cluster
from full_disk import until
from postgres_cell import free_port, is_free
from server import Connection, Down


def rows(folder):
    """Every row of every table of a copy that nobody has open, and whether its pages are in order."""
    connection = sqlite3.connect(os.path.join(folder, "doubloon.db"))
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found = {table: sorted(map(repr, connection.execute(f"SELECT * FROM {table}"))) for table in tables}
        return found, connection.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        connection.close()


def compare_copies(program, cluster, checks):
    """The store is sound, and the copies of all nodes hold the same rows."""
    leader = cluster.leader()
    found = subprocess.run([program, "verify", "--server", f"http://127.0.0.1:{leader.port}"], capture_output=True, text=True, timeout=300)
    checks.check("the store verifies: log, tree, ledger, every row", found.returncode == 0, (found.stdout + found.stderr)[-400:])
    # The last to lead ends first, so that the others take in what it wrote at its end, and lead themselves for a moment.
    for node in [leader] + [node for node in cluster.nodes if node is not leader]:
        checks.check("a node ends in order", node.stop() == 0, node.text()[-300:])
    for node in cluster.nodes:
        node.start()
    cluster.await_write("last")
    time.sleep(3)
    for node in cluster.nodes:
        node.kill()
    positions, copies = [], []
    for number, node in enumerate(cluster.nodes):
        copy, pages = rows(node.folder)
        checks.check(f"the pages of copy {number} are in order", pages == "ok", pages)
        positions.append([row for row in copy["row_digest"] if "'journal'" in row])
        copies.append(copy)
    checks.check("all copies are at one batch", positions[0] == positions[1] == positions[2], f"{positions}")
    for table in copies[0]:
        same = copies[0][table] == copies[1][table] == copies[2][table]
        checks.check(f"all copies have the same rows in {table} ({len(copies[0][table])})", same, quiet=True)


def restore(program, folder, cluster, checks):
    """A backup that the leading node makes becomes a store of its own."""
    leader, file, data = cluster.leader(), os.path.join(folder, "cluster.backup"), os.path.join(folder, "restored")
    made = subprocess.run([program, "backup", file, "--server", f"http://127.0.0.1:{leader.port}"], capture_output=True, text=True, timeout=120)
    users = cluster.insist(leader, "GET", f"/users.json?{NAMESPACE}&shallow=true").json
    back = subprocess.run([program, "restore", file, "--data", data], capture_output=True, text=True, timeout=120)
    checks.check("a backup is made of the store and restored", made.returncode == 0 and back.returncode == 0,
                 (made.stdout + made.stderr + back.stdout + back.stderr)[-400:])
    listed = subprocess.run([program, "data", "get", "/users", "--data", data, "--shallow"], capture_output=True, text=True, timeout=120)
    found = json.loads(listed.stdout) if listed.returncode == 0 else {}
    checks.check("as a store of its own, with every player", bool(users) and found.keys() == users.keys(),
                 f"{len(found)} of {len(users or {})} {listed.stderr[-200:]}")


def refuse(program, folder, cell, checks):
    """What could lose something is refused with a sentence."""
    def said(*options):
        found = subprocess.run([program, *options], capture_output=True, text=True, timeout=60)
        return found.returncode, found.stdout + found.stderr
    copy = os.path.join(folder, "node0")
    code, text = said("dev", "--port", "0", "--data", copy)
    checks.check("a working copy is no store of its own", code != 0 and "working copy" in text, text[:200])
    own = os.path.join(folder, "own")
    os.makedirs(own)
    server = subprocess.Popen([program, "dev", "--port", "0", "--data", own], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while "Ctrl-C" not in (server.stdout.readline() or "Ctrl-C"):
        pass
    server.send_signal(signal.SIGTERM)
    server.wait()
    try:
        code, text = said("dev", "--port", "0", "--data", own, "--postgres", cell.url())
    except subprocess.TimeoutExpired:
        code, text = 0, "it went on"
    checks.check("a store of its own is no working copy", code != 0 and "no working copy" in text, text[:200])
    for wrong in ("postgresql://ann:ge/heim@db/x", "postgresql://ann:ge%zzheim@db/x", "postgresql//ann:geheim@db/x"):
        code, text = said("cluster", "status", "--postgres", wrong)
        checks.check(f"what is no connection string is refused, and no part of its password told: {wrong[:13]}…",
                     code != 0 and "no connection string" in text and "heim" not in text and "ge%" not in text, text[:200])
    configuration = {
        "project": "demo", "data": os.path.join(folder, "strict"), "rules": os.path.join(folder, "rules.json"),
        "listen": {"host": "127.0.0.1", "port": free_port()},
        "storage": {"postgres": {"env": "POSTGRES"}, "sealingKey": {"env": "SEAL"}},
    }
    with open(configuration["rules"], "w") as file:
        json.dump({"rules": {".read": False, ".write": False}}, file)
    path = os.path.join(folder, "strict.json")
    with open(path, "w") as file:
        json.dump(configuration, file)
    cell.ask("ALTER SYSTEM SET synchronous_standby_names = ''")
    cell.ask("SELECT pg_reload_conf()")
    time.sleep(1)
    environment = dict(os.environ, POSTGRES=cell.url(), SEAL="0123456789abcdef0123456789abcdef")
    found = subprocess.run([program, "serve", "--config", path], capture_output=True, text=True, timeout=60, env=environment)
    checks.check("production refuses a server that could acknowledge alone", found.returncode != 0 and "no synchronous standby" in found.stderr,
                 f"{found.returncode} {found.stderr[-300:]}")
    cell.ask("ALTER SYSTEM RESET synchronous_standby_names")
    cell.ask("SELECT pg_reload_conf()")


def watch_nodes(program, cluster, checks):
    """Who looks after the nodes sees which live; one that ends in order, or is forgotten, is not listed."""
    def status():
        found = subprocess.run([program, "cluster", "status", "--postgres", cluster.cell.url(), "--json"], capture_output=True, text=True)
        return {node["node"]: node["alive"] for node in json.loads(found.stdout)["nodes"]}

    def forget(node):
        return subprocess.run([program, "cluster", "forget", node.name(), "--postgres", cluster.cell.url()], capture_output=True, text=True)

    seen = until(lambda: 'doubloon_cluster_nodes{state="alive"} 3' in cluster.insist(cluster.nodes[0], "GET", "/metrics").text, 40)
    checks.check("the metrics of the node that leads count three nodes that live", seen)
    leader = cluster.leader()

    def told():
        return cluster.insist(leader, "GET", "/admin/v1/cluster").json
    # A node that began to lead a moment ago may have listed the others before they showed that they live.
    until(lambda: [node["alive"] for node in told()["nodes"]] == [True] * 3, 20)
    state, term = told(), int(cluster.cell.ask("SELECT fence FROM doubloon.lease"))
    leads = [node["name"] for node in state["nodes"] if node["leads"]]
    checks.check("administrators are told of three nodes, of which the one that answers leads", state["clustered"]
                 and leads == [state["node"]] == [leader.name()] and sorted(node["address"] for node in state["nodes"])
                 == sorted(f"127.0.0.1:{node.port}" for node in cluster.nodes), f"{state}")
    checks.check("and of the term and what it wrote", state["term"]["number"] == term and state["term"]["batches"] > 0
                 and state["term"]["bytes"] > 0 and abs(time.time() * 1000 - state["term"]["startedAt"]) < 600_000, f"{state['term']}")
    ended, killed = (node for node in cluster.nodes if node is not leader)
    ended.signal(signal.SIGTERM)
    ended.process.wait(60)
    killed.kill()
    found = status()
    checks.check("a node that ended in order is not listed, one that died is listed as silent",
                 ended.name() not in found and found.get(killed.name()) is False, f"{found}")
    seen = until(lambda: [node["name"] for node in told()["nodes"] if node["silentMs"] > 0] == [killed.name()], 30)
    checks.check("administrators are told for how long it has been silent, and of no other", seen, f"{told()}")
    done, again = forget(killed), forget(killed)
    checks.check("it can be forgotten, once", done.returncode == 0 and again.returncode == 1 and killed.name() not in status(),
                 done.stdout + done.stderr + again.stderr)
    refused = subprocess.run([program, "cluster", "move", killed.name(), "--postgres", cluster.cell.url()], capture_output=True, text=True)
    checks.check("nor is it asked to lead", refused.returncode == 1 and "nothing was changed" in refused.stderr, refused.stderr[-200:])
    for node in (ended, killed):
        node.start()
    checks.check("both are listed when they are there again", until(lambda: list(status().values()) == [True] * 3, 20))


def example(program, folder, checks):
    """Examples/cluster/start starts it all, and ends it all."""
    # Six in a row.
    port = next(port for port in iter(free_port, None) if all(is_free(port + n) for n in range(6)))
    begin = time.monotonic()
    log = os.path.join(folder, "example.log")
    with open(log, "wb") as output:
        started = subprocess.Popen(
            [os.path.join(os.path.dirname(__file__), "../../Examples/cluster/start"), os.path.join(folder, "example")],
            env=dict(os.environ, DOUBLOON=program, PORT=str(port)), stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    url = "postgresql://postgres@" + ",".join(f"127.0.0.1:{port + n}" for n in (3, 4, 5)) + "/postgres"
    found = None
    while time.monotonic() - begin < 90:
        found = subprocess.run([program, "cluster", "status", "--postgres", url, "--json"], capture_output=True, text=True)
        if found.returncode == 0 and len(json.loads(found.stdout)["nodes"]) == 3:
            break
        time.sleep(0.5)
    with open(log) as output:
        said = output.read()
    checks.check(f"Examples/cluster/start starts three nodes ({time.monotonic() - begin:.0f} s)", found.returncode == 0,
                 (found.stdout + found.stderr + said)[-400:])
    if found.returncode == 0:
        nodes = json.loads(found.stdout)["nodes"]
        checks.check("cluster status tells who leads, and who lives", [node["alive"] for node in nodes] == [True] * 3
                     and sum(node["leads"] for node in nodes) == 1, found.stdout[-300:])
    started.send_signal(signal.SIGTERM)
    try:
        started.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
    left = subprocess.run(["pgrep", "-f", os.path.join(folder, "example")], capture_output=True, text=True).stdout.split()
    checks.check("and ends them all", not left, f"{left}")


def move(program, folder, cell, checks):
    """A store that played alone goes into PostgreSQL with all that it has, and comes out again."""
    alone, out = os.path.join(folder, "alone"), os.path.join(folder, "out")
    port = free_port()

    def serve(data, *options):
        server = subprocess.Popen([program, "dev", "--port", str(port), "--data", data, *options], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                if Connection(port, timeout=2).ask("GET", f"/.json?shallow=true&{NAMESPACE}").status == 200:
                    return server
            except Down:
                pass
            time.sleep(0.05)
        raise RuntimeError("the server does not answer")

    def end(server):
        server.send_signal(signal.SIGTERM)
        server.wait(60)

    def play(uid):
        connection = Connection(port)
        connection.ask("PATCH", f"/users/{uid}.json?{NAMESPACE}", {"referred_by": "ann", "level": 4, "last_signin_at": 1})
        connection.ask("PUT", f"/users/{uid}/level.json?{NAMESPACE}", 5, {"X-Doubloon-Wait": "effects"})

    def everything():
        return Connection(port).ask("GET", f"/.json?{NAMESPACE}").json

    def said(*options):
        found = subprocess.run([program, *options, "--postgres", cell.url(), "--schema", "moved"], capture_output=True, text=True, timeout=120)
        return found.returncode, found.stdout + found.stderr
    server = serve(alone)
    play("bob")
    before = everything()
    end(server)
    code, text = said("move", "--data", alone)
    checks.check("a store goes into PostgreSQL", code == 0 and "working copy" in text, text[-300:])
    checks.check("with every entry of its ledger", cell.ask("SELECT count(*) || ' ' || sum(amount) FROM moved.ledger_entry") == "2 100")
    code, text = said("move", "--data", alone)
    checks.check("and not a second time", code != 0, text[-300:])
    term = int(cell.ask("SELECT fence FROM moved.lease"))
    code, text = said("cluster", "reconcile", "--data", os.path.join(folder, "epoch"))
    checks.check("a new epoch begins", code == 0 and "Epoch 2" in text, text[-300:])
    checks.check("in a term that no copy can know from before", int(cell.ask("SELECT fence FROM moved.lease")) == term + 1000)
    code, text = said("move", "--out", "--data", out)
    checks.check("it comes out again", code == 0 and "No node leads it" in text, text[-300:])
    server = serve(out)
    checks.check("as it went in", everything() == before)
    play("carl")
    coins = Connection(port).ask("GET", f"/users/ann/inventory/pieces_of_eight.json?{NAMESPACE}").json
    checks.check("and goes on", coins == 100, f"{coins}")
    found = subprocess.run([program, "verify", "--server", f"http://127.0.0.1:{port}"], capture_output=True, text=True, timeout=120)
    checks.check("and verifies", found.returncode == 0, (found.stdout + found.stderr)[-300:])
    end(server)


def trap(program, folder, cell, checks):
    """A function that kills its process is found out and stopped, whichever nodes it ends; every node is started again when it dies."""
    cluster = Cluster(program, folder, cell, names=("x", "y", "z"), schema="trapped")
    deaths = []
    ended = threading.Event()

    def supervise(node):
        while not ended.is_set():
            node.start()
            while node.process.poll() is None and not ended.is_set():
                time.sleep(0.02)
            if not ended.is_set():
                deaths.append(node)
    supervisors = [threading.Thread(target=supervise, args=(node,), daemon=True) for node in cluster.nodes]
    for supervisor in supervisors:
        supervisor.start()
    cluster.await_write("begin")
    while not deaths:
        try:
            cluster.ask(random.choice(cluster.nodes), "PUT", f"/fuses/a.json?{NAMESPACE}", "trap", timeout=2)
        except Down:
            pass  # Its death may be what is seen of it.
        time.sleep(0.1)
    letters, end = [], time.monotonic() + 120
    while time.monotonic() < end and not letters:
        for node in cluster.nodes:
            try:
                found = cluster.ask(node, "GET", f"/admin/v1/dead-letters?{NAMESPACE}", timeout=5)
                letters = letters or (found.json or {}).get("deadLetters", []) if found.status == 200 else letters
            except Down:
                pass
        time.sleep(0.2)
    checks.check(f"a function that traps ends {len(deaths)} processes of all nodes together, and is stopped",
                 3 <= len(deaths) <= 5 and [letter["crashes"] for letter in letters] == [3], f"{letters}")
    answer = cluster.insist(cluster.nodes[0], "PUT", f"/players/p/level.json?{NAMESPACE}", 1)
    checks.check("and the game goes on", answer.status == 200, answer.text[:200])
    ended.set()
    for supervisor in supervisors:
        supervisor.join()
    for node in cluster.nodes:
        node.kill()
