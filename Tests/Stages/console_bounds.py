"""What the console costs: bytes and requests of a first visit, a hundred thousand children, two hundred commits a second.

Counts and bytes are judged as they are; times only where they are far beyond their mark, for machines differ.
"""

import multiprocessing
import re
import time

from browser import PATIENCE
from server import Connection

LARGE, CHILDREN, CHUNK = "large-default-rtdb", 100_000, 10_000
COMMITS, SECONDS = 200, 5
FILES, FIRST_BYTES, WIRE_BYTES, ANSWER_BYTES, ROWS, HEAP_BYTES = 18, 105_000, 55_000, 65_536, 60, 30_000_000
# Far beyond the marks: how long a page may take on a machine that is busy with other things.
PAINT_MS, ANSWER_SECONDS, LEAST_COMMITS = 5_000, 10, 5
GRID = "[role=treegrid] [role=row], [role=grid] [role=row]"


def a_first_visit_is_small(site, checks):
    site.write("users/alice", {"name": "Alice"})
    paints, readies, shown = [], [], None
    for _ in range(3):
        site.start_again()
        tab = site.open("overview")
        paints.append(tab.value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 99999"))
        readies.append(tab.value("performance.getEntriesByName('ready')[0]?.startTime ?? 99999"))
        shown = tab
    files = [one for one in shown.requests if "/console/" in one["url"]]
    data = [one for one in shown.requests if "/admin/v1/" in one["url"] and not re.search(r"/live\b", one["url"])]
    total, wire = (sum(one.get(name, 0) for one in files) for name in ("bytes", "wire"))
    print(f"        {len(files)} files with {total:,} bytes, {wire:,.0f} on the wire, {len(data)} answers; first paint {sorted(paints)[1]:.0f} ms, ready {sorted(readies)[1]:.0f} ms")
    checks.check(f"a first visit takes at most {FILES} files", 0 < len(files) <= FILES, [one["url"] for one in files])
    checks.check(f"of at most {FIRST_BYTES:,} bytes", total <= FIRST_BYTES, f"{total:,}")
    checks.check(f"and at most {WIRE_BYTES:,} bytes on the wire", 0 < wire <= WIRE_BYTES, f"{wire:,}")
    checks.check("no file is asked for twice", len({one["url"] for one in files}) == len(files))
    # What the stream tells while the page opens makes it look once more.
    asked = [one["url"] for one in data]
    checks.check("at most ten answers, none of them again and again", len(set(asked)) <= 10 and max(map(asked.count, asked)) <= 3, asked)
    checks.check(f"an answer has at most {ANSWER_BYTES:,} bytes", all(one["bytes"] <= ANSWER_BYTES for one in data),
                 [(one["url"], one["bytes"]) for one in data if one["bytes"] > ANSWER_BYTES])
    checks.check("the first paint comes soon", sorted(paints)[1] <= PAINT_MS, paints)
    known = {one["url"] for one in files}
    shown.requests.clear()
    site.go(shown, "data")
    again = [one["url"] for one in shown.requests if re.search(r"/console/~", one["url"]) and not one.get("kept")]
    checks.check("a second page loads only what is new", 0 < len(again) <= 10 and not known & set(again), again)


def keys(first, count):
    return {f"key-{number:06}": number for number in range(first, first + count)}


def answers_of(tab):
    return [one for one in tab.requests if "/admin/v1/" in one["url"] and not re.search(r"/live\b", one["url"])]


def a_hundred_thousand_children(site, checks):
    site.admin("POST", "namespaces", {"name": LARGE})
    for first in range(0, CHILDREN, CHUNK):
        answer = site.ask("PATCH", f"/large.json?ns={LARGE}&print=silent", keys(first, CHUNK))
        if answer.status not in (200, 204):
            raise RuntimeError(f"the store was not filled: {answer.status} {answer.text[:200]}")
    tab = site.open("data/large", LARGE)
    rows = lambda: tab.value(f"document.querySelectorAll('{GRID}').length")
    top = lambda: tab.value("[...document.querySelectorAll('[role=treegrid] [role=row]')].map((e) => e.innerText).join(' ')")
    checks.check("the first children are shown", "key-000000" in top(), top()[:200])
    checks.check(f"with fewer than {ROWS} rows", 0 < rows() < ROWS, rows())
    before = len(answers_of(tab))
    box = tab.value("(() => { const b = document.querySelector('[role=treegrid]').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()")
    most, deep = 0, f"key-{10_000 // 28:06}"
    for _ in range(80):
        tab.ask("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=500)
        tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        most = max(most, rows())
        # Rows whose window is still to come have no text; what is passed meanwhile is not seen.
        tab.quiet()
        if deep in top():
            break
    tab.quiet()
    asked = len(answers_of(tab)) - before
    checks.check(f"scrolling leads to {deep}", deep in top(), top()[-200:])
    checks.check(f"still with fewer than {ROWS} rows", most < ROWS, most)
    checks.check("10,000 pixels take at most 12 requests", asked <= 12, asked)
    last = f"key-{CHILDREN - 3:06}"
    begin = time.monotonic()
    tab.fill(re.compile("Jump to key"), last)
    tab.key("Enter")
    checks.check("a jump leads to any key", tab.until(lambda: last in top()), top()[-200:])
    print(f"        jump to {last}: {(time.monotonic() - begin) * 1000:.0f} ms; {most} rows, {asked} requests for 10,000 pixels")
    checks.check("and the address says which", tab.until(lambda: last in tab.address), tab.address)
    tab.quiet()
    large = [(one["url"], one["bytes"]) for one in answers_of(tab) if one["bytes"] > ANSWER_BYTES]
    checks.check(f"no answer has more than {ANSWER_BYTES:,} bytes", not large, large)
    checks.check("all of it in few answers", len(answers_of(tab)) <= 40, len(answers_of(tab)))
    tab.ask("HeapProfiler.collectGarbage")
    heap = tab.ask("Runtime.getHeapUsage")["usedSize"]
    print(f"        heap {heap / 1e6:.1f} MB")
    checks.check(f"the page holds at most {HEAP_BYTES:,} bytes", heap <= HEAP_BYTES, f"{heap:,}")


def writes(port, namespace, gate, count):
    """So many commits a second, until the gate falls; the last value goes to `count`."""
    connection = Connection(port)
    number, due = 0, time.monotonic()
    while not gate.is_set():
        number += 1
        path = "level" if number % 10 == 0 else "count"
        value = 4 + number // 10 % 2 if path == "level" else number
        if connection.ask("PUT", f"/users/load/{path}.json?ns={namespace}&print=silent", value).status not in (200, 204):
            break
        due = max(due + 1 / COMMITS, time.monotonic() - 0.5)
        gate.wait(max(0, due - time.monotonic()))
    connection.ask("PUT", f"/users/load/count.json?ns={namespace}&print=silent", number)
    count.value = number
    connection.close()


def heard(tab):
    """How many messages a window has had, and how many other requests it has sent."""
    is_live = [bool(re.search(r"/live\b", one["url"])) for one in tab.requests]
    return sum(len(one.get("parts", [])) for one, live in zip(tab.requests, is_live) if live), is_live.count(False)


def commits_are_followed(site, checks):
    site.write("users/load", {"name": "Load", "level": 4, "count": 0})
    pages = ["overview", "data/users/load", "events"]
    tabs = {page: site.open(page) for page in pages}
    for tab in tabs.values():
        tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        tab.quiet()
        tab.take_complaints()
    gate, count = multiprocessing.Event(), multiprocessing.Value("i", 0)
    load = multiprocessing.Process(target=writes, args=(site.port, site.namespace, gate, count), daemon=True)
    before, begin = {page: heard(tab) for page, tab in tabs.items()}, time.monotonic()
    load.start()
    slowest = 0
    while time.monotonic() - begin < SECONDS:
        for tab in tabs.values():
            asked = time.monotonic()
            tab.value("1")
            slowest = max(slowest, time.monotonic() - asked)
        tabs["overview"].stays(0.1)
    took, after = time.monotonic() - begin, {page: heard(tab) for page, tab in tabs.items()}
    gate.set()
    load.join(30)
    end = time.monotonic()
    number = count.value
    revision = next(one["revision"] for one in site.admin("GET", "namespaces")["namespaces"] if one["name"] == site.namespace)
    newest = site.admin("GET", "events", limit=1)["events"][0]["id"]
    wanted = {
        "overview": lambda tab: re.search(rf"revision {revision:,}\b", tab.text),
        "data/users/load": lambda tab: re.search(rf"\b{number:,}\b|\b{number}\b", tab.text),
        "events": lambda tab: tab.value(f"document.querySelector('main').innerHTML.includes({newest!r})"),
    }
    waiting, right = dict(wanted), {}
    while waiting and time.monotonic() - end < PATIENCE:
        for page in [page for page, holds in waiting.items() if holds(tabs[page])]:
            right[page] = time.monotonic() - end
            del waiting[page]
        tabs["overview"].stays(0.05)
    checks.check("there were many commits a second", number / took >= LEAST_COMMITS, f"{number / took:.0f}")
    for page, tab in tabs.items():
        messages, asked = (late - early for late, early in zip(after[page], before[page]))
        seconds = took + 1
        print(f"        {page}: {number / took:.0f} commits/s, {messages / seconds:.1f} messages/s, {asked / seconds:.1f} requests/s, "
              f"right after {right.get(page, 99):.2f} s")
        checks.check(f"{page} hears at most 10 messages a second", 0 < messages / seconds <= 10, messages / seconds)
        checks.check(f"{page} asks at most 6 times a second", asked / seconds <= 6, asked / seconds)
        checks.check(f"{page} shows the last value", page in right, tab.text[-500:])
    checks.check("the pages answer all the while", slowest < ANSWER_SECONDS, f"{slowest:.2f} s")


CHECKS = [a_first_visit_is_small, a_hundred_thousand_children, commits_are_followed]
