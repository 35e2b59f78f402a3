"""Reads a store's file by itself, in another language than the engine's, and checks what must be true of it.

The commit log is a hash chain: the hash of a record covers the record before it, its fixed fields and the digest of its
changes. Applied in order, the changes must give the tree that the table `node` holds.
"""

import hashlib
import sqlite3


class Bytes:
    """Writes and reads the compact forms in which the engine stores and hashes records."""

    def __init__(self, data=b""):
        self.data = bytearray(data)
        self.at = 0

    def unsigned(self, value):
        while value >= 0x80:
            self.data.append(value & 0x7F | 0x80)
            value >>= 7
        self.data.append(value)

    def signed(self, value):
        self.unsigned(((value << 1) ^ (value >> 63)) & (2**64 - 1))

    def bytes(self, value):
        self.unsigned(len(value))
        self.data += value

    def optional(self, text):
        self.data.append(0 if text is None else 1)
        if text is not None:
            self.bytes(text.encode())

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("a record ends too early")
        self.at += count
        return bytes(self.data[self.at - count:self.at])

    def take_unsigned(self):
        value, shift = 0, 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take_scalar(self):
        """The scalar's stored bytes, tag first; None for the tag of "nothing"."""
        start = self.at
        tag = self.take(1)[0]
        if tag == 0:
            return None
        if tag == 3:
            self.take_unsigned()
        elif tag == 4:
            self.take(8)
        elif tag == 5:
            self.take(self.take_unsigned())
        return bytes(self.data[start:self.at])


def changes(payload):
    """The changes of a commit: path, the value before, the value after."""
    reader = Bytes(payload)
    if reader.take(1) != b"\x01":
        raise ValueError("a commit has an unknown form")
    path = b""
    for _ in range(reader.take_unsigned()):
        path = path[:reader.take_unsigned()]
        path += reader.take(reader.take_unsigned())
        yield path, reader.take_scalar(), reader.take_scalar()


def chain_hash(previous, row):
    _, revision, epoch, time, actor, request_id, cause, suppresses, digest, _, _ = row
    text = Bytes()
    text.bytes(b"doubloon.commit.1")
    text.bytes(previous)
    for number in (epoch, revision, time):
        text.signed(number)
    text.bytes(actor.encode())
    text.optional(request_id)
    text.bytes(cause or b"")
    text.data.append(1 if suppresses else 0)
    text.bytes(digest)
    return hashlib.sha256(text.data).digest()


def whole(column):
    """What a column, named with its table, holds: a long value stands in a table of its own, and the column has its number."""
    return f"CASE typeof({column}) WHEN 'integer' THEN (SELECT value FROM long_value WHERE id = {column}) ELSE {column} END"


def faults(path):
    """What is wrong with the store: a list of sentences, empty if nothing is. Nobody may have the store open."""
    found = []
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    if store.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        found.append("SQLite's own check of the file fails")
    last = {}
    tree = {}
    columns = f"ns, revision, epoch, time, actor, request_id, cause, suppresses_triggers, digest, hash, {whole('commit_log.changes')}"
    for row in store.execute(f"SELECT {columns} FROM commit_log ORDER BY ns, revision"):
        ns, revision, _, time, *_ = row
        before = last.get(ns, (0, time, bytes(32)))
        name = f"commit {revision} of namespace {ns}"
        if revision != before[0] + 1 or time < before[1]:
            found.append(f"{name} follows on {before[0]} or is older than it")
        if hashlib.sha256(row[10]).digest() != row[8] or chain_hash(before[2], row) != row[9]:
            found.append(f"{name} is not what its hash says")
        for place, old, new in changes(row[10]):
            if tree.get((ns, place)) != old:
                found.append(f"{name} changes a value that was not there")
            if new is None:
                tree.pop((ns, place), None)
            else:
                tree[ns, place] = new
        last[ns] = (revision, time, row[9])
        if len(found) > 5:
            break
    stored = {(ns, place): value for ns, place, value in store.execute(f"SELECT ns, path, {whole('node.value')} FROM node")}
    if stored != tree:
        wrong = sorted(place for place in set(stored) | set(tree) if stored.get(place) != tree.get(place))
        found.append(f"the commits do not add up to the tree at {len(wrong)} places, the first of them {wrong[0]}")
    store.close()
    return found


def entry_counts(path):
    """How many ledger entries there are, by code."""
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    counts = dict(store.execute("SELECT code, count(*) FROM ledger_entry GROUP BY code"))
    store.close()
    return counts
