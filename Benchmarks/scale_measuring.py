"""What is measured for scale.py: costs of a write at several concurrencies, ungrouped writes beside it, a base, disk, sockets."""

import json
import os
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import time

from scale_parts import GRANTS, MADE, WRITES, memory

HERE = os.path.dirname(os.path.abspath(__file__))
POSTGRES = ("writing", "reading", "sending", "other", "standby 1", "standby 2")
# The tables of a working copy whose rows are kept for so many days, and forgotten by `doubloon log prune`; all others stay.
PRUNED = ("commit_log", "history", "history_run", "event")
LOOPBACK = [f"127.0.0.{number}" for number in range(2, 10)]


def said(text):
    print(text, file=sys.stderr, flush=True)


def postgres_cost(found):
    """Microseconds of PostgreSQL's servers for a write: of the primary, and of all three."""
    return (sum(found["micro"][part] for part in POSTGRES[:4]), sum(found["micro"][part] for part in POSTGRES))


def without_idle(found, idle):
    """What is used while nobody asks is no cost of a write."""
    for part in found["micro"]:
        found["micro"][part] = max(0, found["micro"][part] - 1e6 * idle[part] / found["rate"])
    return found


class Plain:
    """The rows of a store's writes, put into tables with the same columns and keys on the same PostgreSQL, one write a transaction."""

    COUNTER = "(SELECT last_value FROM plain.numbers)"

    def __init__(self, rig, bytes_a_write):
        self.rig = rig
        tables = ("batch_log", "execution", "ledger_entry")
        rig.sql("CREATE SCHEMA plain; CREATE SEQUENCE plain.numbers;" + "".join(
            f"CREATE TABLE plain.{table} (LIKE doubloon.{table} INCLUDING ALL);" for table in tables))
        rows = [json.loads(rig.sql(f"SELECT row_to_json(r) FROM doubloon.{table} r ORDER BY {key} DESC LIMIT 1"))
                for table, key in zip(tables, ("length(changes)", "revision", "sequence"))]
        rows[0]["changes"] = rows[0]["changes"][: 2 + 2 * round(bytes_a_write)]
        number = "(SELECT n FROM numbered)"
        texts = [self._values(row, keys) for row, keys in zip(rows, (
            {"batch": number}, {"revision": number}, {"sequence": number, "business_key": f"'level5/p' || {number}", "reverses": "NULL"}))]
        put = [f"INSERT INTO plain.{table} {text}" for table, text in zip(tables, texts)]
        begin = "WITH numbered AS MATERIALIZED (SELECT nextval('plain.numbers') AS n)"
        write = f"{begin} {put[0]};\n"
        paying = f"{begin}, written AS ({put[0]}), done AS ({put[1]}) {put[2]};\n"
        self.script = f"{rig.folder}/plain.sql"
        with open(self.script, "w") as file:
            file.write(write + paying + 4 * write + paying)

    @staticmethod
    def _values(row, keys):
        def literal(value):
            if value is None or isinstance(value, int):
                return "NULL" if value is None else str(value)
            text = value.replace("'", "''")
            # A colon would be a variable of pgbench's.
            return "U&'" + text.replace("\\", "\\\\").replace(":", "\\003A") + "'" if ":" in text else f"'{text}'"
        return f"({', '.join(row)}) VALUES ({', '.join(keys.get(name) or literal(value) for name, value in row.items())})"

    def slice(self, clients, seconds):
        rig = self.rig
        words = [f"{rig.programs}/pgbench", "-n", "-M", "prepared", "-f", self.script, "-c", str(clients), "-j", "1", "-T",
                 str(int(seconds + 3)), "-h", "127.0.0.1", "-p", str(rig.cell.ports[0]), "-U", "postgres", "postgres"]
        for _ in range(6):
            start = rig.look(self.COUNTER)
            play = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            before = start
            while before["counted"] < start["counted"] + 2 * clients and play.poll() is None:
                time.sleep(0.1)
                before = rig.look(self.COUNTER)
            time.sleep(seconds)
            after = rig.look(self.COUNTER)
            errors = play.communicate(timeout=60)[1]
            if play.returncode or after["counted"] == before["counted"]:
                raise SystemExit(f"pgbench: {errors}")
            if after["parts"] == start["parts"]:
                return rig.between(before, after, after["counted"] - before["counted"])
            rig.await_base()
        raise SystemExit(MADE)


def play_rounds(rig, options, idle):
    """Rounds in turns: through the leading node, through the following one, ungrouped. Lists by name and clients."""
    found = {name: {} for name in ("direct", "through", "plain", "trigger")}
    plain = None

    def note(name, clients, result):
        result = without_idle(result, idle)
        found[name].setdefault(clients, []).append(result)
        primary, total = postgres_cost(result)
        said(f"  {name} {clients}: {result['rate']:.0f} writes/s, {result['batch']:.0f} a batch, leading node "
             f"{result['micro']['leader']:.0f} us, primary {primary:.0f}, all of PostgreSQL {total:.0f}, {result['log']:.0f} bytes of log")

    rig.sql(open(f"{HERE}/beside.sql").read())
    seeded = []
    for number in range(options.rounds):
        said(f"round {number + 1} of {options.rounds}")
        for clients in options.mark_clients if options.mark_only else [1, *options.clients]:
            note("direct", clients, rig.slice(rig.leader.port, clients, options.seconds))
            if clients > 1 and not options.mark_only:
                note("through", clients, rig.slice(rig.follower.port, clients, options.seconds))
        if plain is None:
            plain = Plain(rig, statistics.median(one["bytes"] for one in found["direct"][options.mark_clients[0]]))
        for clients in options.mark_clients:
            note("plain", clients, plain.slice(clients, options.seconds))
            if not seeded:
                seeded.append(rig._play("postgres", rig.cell.ports[0], 1, 0, "--seed").wait())
            note("trigger", clients, rig.slice(rig.cell.ports[0], clients, options.seconds, kind="postgres"))
    return found


def base(rig, idle, seconds=150):
    """What a whole copy of the store in PostgreSQL costs; None where none was made in time."""
    behind = "SELECT coalesce(sum(length(changes)), 0) FROM doubloon.batch_log WHERE batch > (SELECT max(batch) FROM doubloon.base)"
    bases = "(SELECT max(batch) FROM doubloon.base)"
    end = time.monotonic() + 120
    while int(rig.sql(behind)) <= 64 << 20 and time.monotonic() < end:
        rig.slice(rig.leader.port, 64, 5)
    before = rig.look(bases)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.5)
        after = rig.look(bases)
        if after["counted"] != before["counted"]:
            time.sleep(2)
            after = rig.look(bases)
            size = int(rig.sql("SELECT bytes FROM doubloon.base ORDER BY batch DESC LIMIT 1"))
            kept = rig.sql("SELECT sum(pg_column_size(data)) FROM doubloon.base_part "
                           "WHERE upload = (SELECT upload FROM doubloon.base ORDER BY batch DESC LIMIT 1)")
            took = after["time"] - before["time"]
            used = {part: after["used"][part] - before["used"][part] - idle[part] * took for part in idle}
            return {"bytes": size, "log": (after["log"] - before["log"]) / size, "kept": int(kept) / size,
                    "leader": 1e6 * used["leader"] / (size / 2**20),
                    "primary": 1e6 * sum(used[part] for part in POSTGRES[:4]) / (size / 2**20),
                    "standby": 1e6 * (used["standby 1"] + used["standby 2"]) / 2 / (size / 2**20)}
        if after["parts"] == before["parts"]:
            before = after
    return None


def disk(rig):
    """Bytes of a working copy and of PostgreSQL: what stays of a player, of a grant, and what a write leaves to be forgotten."""
    grants = int(rig.sql("SELECT max(sequence) FROM doubloon.ledger_entry"))
    players, writes = grants / GRANTS, grants * WRITES / GRANTS
    copy = sqlite3.connect(f"file:{rig.follower.folder}/doubloon.db?mode=ro", uri=True)
    try:
        sizes = dict(copy.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    except sqlite3.Error:
        return None  # A Python whose SQLite cannot tell.
    finally:
        copy.close()
    log = sum(size for name, size in sizes.items() if name in PRUNED)
    paid = sum(size for name, size in sizes.items() if name.startswith("ledger_") or name == "execution")
    rows = int(rig.sql("SELECT pg_total_relation_size('doubloon.execution') + pg_total_relation_size('doubloon.ledger_entry')"))
    return {"player": (sum(sizes.values()) - log - paid) / players, "grant": paid / grants, "write": log / writes,
            "whole": sum(sizes.values()) / players, "postgres grant": rows / grants}


def sockets(rig, count):
    """KB of memory of the leading node for a socket with one listen: asked directly, and handed on, with the following node's share."""
    found, opened = {}, []
    for name, node in (("direct", rig.leader), ("through", rig.follower)):
        before = {one: memory(one.process.pid) for one in (rig.leader, rig.follower)}
        # The first stay open: memory that they gave back would be taken again by the second.
        opened += [_listening(node.port, len(opened) + number) for number in range(count)]
        time.sleep(1)
        grown = {one: (memory(one.process.pid) - before[one]) / count / 1024 for one in before}
        found[name] = grown[rig.leader]
        if node is rig.follower:
            found["handed on"] = grown[rig.follower]
    for one in opened:
        one.close()
    return found


def _listening(port, number):
    """A socket of the Realtime Database's protocol, from one of eight addresses, that listens to a place of its own."""
    connection = socket.socket()
    connection.bind((LOOPBACK[number % len(LOOPBACK)], 0))
    connection.settimeout(30)
    connection.connect(("127.0.0.1", port))
    connection.sendall(b"GET /.ws?v=5&ns=demo-default-rtdb HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    text = json.dumps({"t": "d", "d": {"r": 1, "a": "q", "b": {"p": f"/sockets/s{number}", "h": ""}}}).encode()
    connection.sendall(struct.pack("!BB", 0x81, 0x80 | len(text)) + b"\0\0\0\0" + text)
    answer = b""
    while b'"s":"ok"' not in answer:
        more = connection.recv(4096)
        if not more:
            raise SystemExit(f"a socket was refused: {answer[:200]!r}")
        answer += more
    return connection


def medians(found):
    """One figure for each part, from the rounds."""
    def middle(results, *names):
        values = []
        for one in results:
            for name in names:
                one = one[name]
            values.append(one)
        return statistics.median(values)

    rows = []
    for clients, results in sorted(found["direct"].items()):
        row = {part: middle(results, "micro", part) for part in results[0]["micro"]}
        row.update({name: middle(results, name) for name in ("thread", "log", "batch", "bytes", "rate", "p50", "p99")})
        row["clients"] = clients
        through = found["through"].get(clients)
        if through:
            row["handing on"] = statistics.median(
                max(0, theirs["micro"]["follower"] - ours["micro"]["follower"]) for ours, theirs in zip(results, through))
        rows.append(row)
    return rows


def upkeep(found):
    """By how much all slices together cost more than their medians say: now and then the history is merged, through the same log."""
    factors = {}
    for part in [*found["direct"][1][0]["micro"], "thread", "log", "bytes"]:
        whole = usual = 0
        for results in found["direct"].values():
            values = [one["micro"].get(part, one.get(part)) for one in results]
            whole += sum(one["rate"] * number for one, number in zip(results, values))
            usual += sum(one["rate"] for one in results) * statistics.median(values)
        factors[part] = max(1, whole / usual) if usual else 1
    return factors


def mark(found, options):
    """PostgreSQL's work for a write in batches by that for one ungrouped: for each round, primary alone and all three servers."""
    rows = []
    for clients in options.mark_clients:
        for name in ("plain", "trigger"):
            ratios = [[mine / its for mine, its in zip(postgres_cost(one), postgres_cost(other))]
                      for one, other in zip(found["direct"][clients], found[name][clients])]
            costs = [statistics.median(postgres_cost(one)[place] for one in found[name][clients]) for place in (0, 1)]
            rows.append({
                "clients": clients, "beside": name, "primary": [row[0] for row in ratios], "all": [row[1] for row in ratios],
                "their primary": costs[0], "their all": costs[1],
                "our all": statistics.median(postgres_cost(one)[1] for one in found["direct"][clients])})
    return rows


def measure(rig, options):
    idle = rig.idle(max(3, options.seconds))
    found = play_rounds(rig, options, idle)
    result = {"idle": idle, "writes": medians(found), "mark": mark(found, options)}
    if options.mark_only:
        return result
    result["upkeep"] = upkeep(found)
    said("disk, sockets")
    result["disk"] = disk(rig)
    result["process"] = {"leader": memory(rig.leader.process.pid) / 2**20, "follower": memory(rig.follower.process.pid) / 2**20}
    result["sockets"] = sockets(rig, options.sockets_tried)
    if options.small:
        result["base"] = None
    else:
        said("a base: up to four minutes")
        result["base"] = base(rig, idle)
    return result
