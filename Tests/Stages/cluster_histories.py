"""Clients who write, read and listen through any node while faults are played, and what each was told and when: compared with the order
that the log gives, every answer must fit. Standard library only.

The log is one order of all commits. A history fits it if every write that was acknowledged stands in it once, what was refused does not,
a write on a condition met what it expected, and no answer is older than what had ended before it was asked for. That is what
linearizable means for registers whose writes are ordered. Answers at the port for stale reads may be older by what they say.
"""

import bisect
import http.client
import json
import random
import sqlite3
import threading
import time

from cluster_nodes import NAMESPACE
from commit_log import changes, whole
from server import Connection, Down

KEYS = [f"k{number}" for number in range(6)]


class Operation:
    """What a client did at a key: `write` or `read`, what of (a value is written once), and from when to when; `end` is None where
    nobody knows whether it happened."""

    def __init__(self, kind, key, value, begin, end, expected=None, age=None, refused=False):
        self.kind, self.key, self.value, self.begin, self.end = kind, key, value, begin, end
        self.expected, self.age, self.refused = expected, age, refused


class Histories:
    """The clients. Times are of one clock, this process's."""

    def __init__(self, cluster, clients=3, seed=1):
        self.cluster, self.operations, self.heard = cluster, [], []
        self._seed, self._clients = seed, clients
        self._ended = threading.Event()
        self._threads = []
        self._open = {}
        self._silent = threading.Event()

    def start(self):
        for number in range(self._clients):
            self._threads.append(threading.Thread(target=self._play, args=(number,), daemon=True))
        for number in range(len(self.cluster.nodes)):
            self._threads.append(threading.Thread(target=self._listen, args=(number,), daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self):
        """The clients end first; who listens then hears of everything. Who has not after ten seconds is `deaf`."""
        self._silent.set()
        end = time.monotonic() + 10
        while time.monotonic() < end and self._deaf():
            time.sleep(0.1)
        self.deaf = self._deaf()
        self._ended.set()
        for thread in self._threads:
            thread.join(60)

    def _deaf(self):
        """The nodes at which nobody has heard the last write that was acknowledged of each key."""
        last = {}
        for one in sorted((one for one in self.operations if one.kind == "write" and one.end is not None), key=lambda one: one.begin):
            last[one.key] = one.value
        heard = {number: {value for values in told for value in values} for number, told in self._open.items()}
        return [number for number in range(len(self.cluster.nodes)) if not heard.get(number, set()).issuperset(last.values())]

    def _play(self, number):
        chance, count = random.Random(self._seed * 100 + number), 0
        while not self._silent.is_set():
            count += 1
            node, key = chance.choice(self.cluster.nodes), chance.choice(KEYS)
            kind = chance.choices(("write", "condition", "read", "stale"), (4, 2, 4, 3))[0]
            getattr(self, "_" + kind)(node, key, f"{key}:{number}:{count}")
            time.sleep(0.02)

    def _ask(self, port, method, key, body=None, headers=None):
        """The answer, and from when to when; None where there is none."""
        connection, begin = Connection(port, timeout=10), time.monotonic()
        try:
            answer = connection.ask(method, f"/histories/{key}.json?{NAMESPACE}", body, headers)
            return answer, begin, time.monotonic()
        except Down:
            return None, begin, None
        finally:
            connection.close()

    def _write(self, node, key, value, expected=None, headers=None):
        answer, begin, end = self._ask(node.port, "PUT", key, value, headers)
        status = answer.status if answer else 503
        self.operations.append(Operation("write", key, value, begin, end if status == 200 else None, expected, refused=status == 412))

    def _condition(self, node, key, value):
        answer, begin, end = self._ask(node.port, "GET", key, headers={"X-Firebase-ETag": "true"})
        if not answer or answer.status != 200:
            return
        self.operations.append(Operation("read", key, answer.json, begin, end))
        self._write(node, key, value, expected=(answer.json,), headers={"if-match": answer.headers["etag"]})

    def _read(self, node, key, _):
        answer, begin, end = self._ask(node.port, "GET", key)
        if answer and answer.status == 200:
            self.operations.append(Operation("read", key, answer.json, begin, end))

    def _stale(self, node, key, _):
        answer, begin, end = self._ask(node.reads, "GET", key)
        if answer and answer.status == 200:
            # The node that leads shows there what is newest, and says no age.
            age = answer.headers.get("age")
            self.operations.append(Operation("read", key, answer.json, begin, end, age=None if age is None else int(age)))

    def _listen(self, number):
        """One connection after the other; of each what it was shown first, and then."""
        while not self._ended.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.cluster.nodes[number].port, timeout=3)
            told = self._open[number] = []
            try:
                connection.request("GET", f"/histories.json?{NAMESPACE}",
                                   headers={"Accept": "text/event-stream", "Authorization": "Bearer owner"})
                response = connection.getresponse()
                while response.status == 200 and not self._ended.is_set():
                    line = response.readline()
                    if not line:
                        break
                    if line.startswith(b"data: {"):
                        event = json.loads(line[6:])
                        data = event["data"] if isinstance(event["data"], dict) else {event["path"].strip("/"): event["data"]}
                        told.append([value for value in data.values() if value is not None])
            except (OSError, http.client.HTTPException, ValueError):
                pass
            finally:
                connection.close()
            if told:
                self.heard.append(told)
            time.sleep(0.2)


def order(path):
    """The values that the log has, in its order, of each key, and the revision of each value. Others may have the store open."""
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    keys, revisions = {key: [] for key in KEYS}, {}
    for revision, payload in store.execute(f"SELECT revision, {whole('commit_log.changes')} FROM commit_log ORDER BY ns, revision"):
        for _, _, after in changes(payload):
            text = after[2:].decode("utf-8", "replace") if after and after[0] == 5 else ""
            if text.partition(":")[0] in keys and text.count(":") == 2:
                keys[text.partition(":")[0]].append(text)
                revisions.setdefault(text, revision)
    store.close()
    return keys, revisions


def misfits(operations, keys):
    """What of a history does not fit the order: sentences, by kind."""
    found = {"lost": [], "refused": [], "condition": [], "old": [], "early": []}
    for key in KEYS:
        here, place = [one for one in operations if one.key == key], {value: number for number, value in enumerate(keys[key])}
        for value in {value for value in keys[key] if keys[key].count(value) > 1}:
            found["lost"].append(f"{value} stands twice in the log")
        begins = {one.value: one.begin for one in here if one.kind == "write"}
        ended = sorted((one.end, place[one.value]) for one in here if one.end is not None and one.value in place and one.age is None)
        times, highest = [end for end, _ in ended], []
        for _, number in ended:
            highest.append(max(number, highest[-1] if highest else -1))

        def finished(since):
            count = bisect.bisect_left(times, since)
            return highest[count - 1] if count else -1
        for one in here:
            judge(one, keys[key], place, begins, finished, found)
    return found


def judge(one, values, place, begins, finished, found):
    """One operation. `finished` says which place of the order had been reached by all that had ended at a time."""
    if one.kind == "write":
        if one.value not in place:
            if one.end is not None:
                found["lost"].append(f"{one.value} was acknowledged")
            return
        number = place[one.value]
        if one.refused:
            found["refused"].append(one.value)
        if one.expected is not None:
            before = values[number - 1] if number else None
            if one.expected != (before,):
                found["condition"].append(f"{one.value} expected {one.expected[0]}, and met {before}")
        if finished(one.begin) >= number:
            found["old"].append(f"{one.value} was written behind what had ended before")
        return
    number = -1 if one.value is None else place.get(one.value, None)
    if number is None:
        found["lost"].append(f"{one.value} was read")
        return
    if one.value is not None and begins.get(one.value, one.end) > one.end:
        found["early"].append(f"{one.value} was read before it was written")
    # The age is that of the answer, or more.
    since = one.begin if one.age is None else one.begin - one.age
    if finished(since) > number:
        age = "" if one.age is None else f" at an age of {one.age}"
        found["old"].append(f"{one.value} was read{age}, {values[finished(since)]} was there")


def unheard(heard, keys, revisions):
    """What listeners were not told as the log has it: sentences. Each connection is told of every commit once, in order, from its first
    picture on."""
    found = []
    ordered = sorted((revisions[value], value) for values in keys.values() for value in set(values))
    for told in heard:
        if any(value not in revisions for values in told for value in values):
            found.append("something was told that the log does not have")
            continue
        begin = max((revisions[value] for value in told[0]), default=0)
        expected = [value for revision, value in ordered if revision > begin]
        got = [value for values in told[1:] for value in values]
        if got != expected[:len(got)]:
            wrong = next(number for number, value in enumerate(got) if number >= len(expected) or value != expected[number])
            found.append(f"{got[wrong]} was told instead of {expected[wrong:wrong + 1]}")
    return found


def can_fail(checks):
    """What compares histories finds what is wrong with them."""
    keys = {key: [] for key in KEYS}
    keys["k0"] = ["a", "b", "c"]
    write = lambda value, begin, end, **more: Operation("write", "k0", value, begin, end, **more)
    read = lambda value, begin, end, **more: Operation("read", "k0", value, begin, end, **more)
    good = [write("a", 1, 2), write("b", 3, 4), read("b", 5, 6), write("c", 7, None), read("b", 7.5, 7.6), read("c", 8, 9),
            read("a", 12, 13, age=10), write("x", 10, None, refused=True)]
    wrong = {
        "lost": [write("y", 20, 21)], "refused": [write("b", 3, None, refused=True)], "condition": [write("c", 7, 8, expected=("a",))],
        "old": [read("a", 20, 21)], "early": [read("b", 2.1, 2.9)],
    }
    none = misfits(good, keys)
    found = {kind: bool(misfits(good + more, keys)[kind]) for kind, more in wrong.items()}
    stale = misfits(good + [read("a", 12, 13, age=3)], keys)["old"]
    places = {"a": 1, "b": 2, "c": 3}
    heard = [unheard([told], keys, places) for told in ([["a"], ["b"], ["c"]], [["a"], ["c"]], [["b"], ["c"], ["c"]], [["c"], ["b"]])]
    checks.check("histories: what compares them finds what is wrong", not any(none.values()) and all(found.values()) and stale
                 and not heard[0] and all(heard[1:]), f"{none} {found} {stale} {heard}")


def compare_histories(cluster, histories, checks):
    leader = cluster.leader()
    keys, revisions = order(leader.folder + "/doubloon.db")
    operations = histories.operations
    found = misfits(operations, keys)
    written = sum(1 for one in operations if one.kind == "write" and one.end is not None)
    reads = sum(1 for one in operations if one.kind == "read" and one.age is None)
    stale = sum(1 for one in operations if one.age is not None)
    events = sum(len(told) - 1 for told in histories.heard)
    checks.check(f"histories: {written} writes were acknowledged, and each stands in the log once", written > 100 and not found["lost"],
                 f"{found['lost'][:3]}")
    checks.check("histories: no write that was refused stands there, and every condition was met by what is before",
                 not found["refused"] and not found["condition"], f"{found['refused'][:3]} {found['condition'][:3]}")
    checks.check(f"histories: none of {reads} answers, and none of {stale} at the ports for stale reads, is older than it may be",
                 reads > 100 and stale > 50 and not found["old"] and not found["early"], f"{found['old'][:3]} {found['early'][:3]}")
    wrong = unheard(histories.heard, keys, revisions)
    checks.check(f"histories: {len(histories.heard)} listeners were told of every commit once, in the log's order ({events})",
                 events > 100 and not wrong, f"{wrong[:3]}")
    checks.check("histories: and at every node up to the last", not histories.deaf, f"{histories.deaf}")
