#!/usr/bin/env python3
"""What the console's pages do, and what they cost the server, while much is written; and how they hold very much.

    python3 Benchmarks/console.py --program .build/release/doubloon                 # 200 commits a second, 5 s; 20,000 of each
    python3 Benchmarks/console.py --program .build/release/doubloon --full          # 1,000 a second, 30 s; 1,000,000 of each
    python3 Benchmarks/console.py --program .build/release/doubloon --only lifecycle  # the lifecycle with a console beside it, and without

Three pages are open (overview, data, events) while others write: how long the page's tasks are, how soon it takes an input, how
many messages and requests there are, whether heap and nodes stay, how soon the last value is right. Beside that what the server
computes with and without them, and how long the writers wait. Then a node with very many children, and a log with very many
events: opened, scrolled, searched. Bounds on counts and bytes are judged; times are said, with their marks.
"""

import argparse
import http.client
import multiprocessing
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
import beside  # noqa: E402
from browser import Browser, Tab  # noqa: E402
from console import NAMESPACE, Site, is_ready  # noqa: E402
from console_bounds import GRID, answers_of  # noqa: E402
from console_live import begins  # noqa: E402
from server import Checks, Connection  # noqa: E402
from serving import free_port  # noqa: E402

WRITERS = 2
LARGE = "large"
TASKS = """(() => { window.tasks = []; window.inputs = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
  addEventListener('keydown', (e) => requestAnimationFrame(() => window.inputs.push(performance.now() - e.timeStamp)), true); })()"""


def writes(port, number, rate, gate, results):
    """So many commits a second until the gate falls, the waits of each, and the last number that was written."""
    connection = Connection(port)
    count, due, waits = 0, time.monotonic(), []
    while not gate.is_set():
        count += 1
        path, value = ("level", 4 + count // 10 % 2) if count % 10 == 0 else ("count", count)
        begin = time.monotonic()
        connection.ask("PUT", f"/users/load{number}/{path}.json?print=silent", value)
        waits.append(time.monotonic() - begin)
        due = max(due + 1 / rate, time.monotonic() - 0.5)
        gate.wait(max(0, due - time.monotonic()))
    connection.ask("PUT", f"/users/load{number}/count.json?print=silent", count)
    results.put((number, count, sorted(waits)))
    connection.close()


class Load:
    """Writers at work, and what the server computes meanwhile: `cpu` in cores, `p99` in milliseconds."""

    def __init__(self, site, commits):
        self.site, self.gate, self.results = site, multiprocessing.Event(), multiprocessing.Queue()
        self.writers = [
            multiprocessing.Process(target=writes, args=(site.port, number, commits / WRITERS, self.gate, self.results), daemon=True)
            for number in range(WRITERS)]

    def computed(self):
        with open(f"/proc/{self.site.server.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        self.cpu, self.began = self.computed(), time.monotonic()
        for writer in self.writers:
            writer.start()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        self.cpu = (self.computed() - self.cpu) / self.seconds
        self.gate.set()
        told = [self.results.get() for _ in self.writers]
        self.ended = time.monotonic()
        self.last = {number: count for number, count, _ in told}
        waits = sorted(one for _, _, some in told for one in some)
        self.rate, self.p99 = len(waits) / self.seconds, waits[len(waits) * 99 // 100] * 1000


def held(tab):
    tab.ask("HeapProfiler.collectGarbage")
    return tab.ask("Runtime.getHeapUsage")["usedSize"] / 1e6, tab.ask("Memory.getDOMCounters")["nodes"]


def live(site, checks, options):
    """Pages beside writers."""
    for number in range(WRITERS):
        site.write(f"users/load{number}", {"name": "Load", "level": 4, "count": 0})
    with Load(site, options.commits) as alone:
        time.sleep(options.seconds)
    pages = {"overview": None, "data/users/load0": None, "events": None}
    for page in ([], list(pages)[:1], list(pages)):
        tabs = {}
        for one in page:
            tab = tabs[one] = site.tab()
            tab.ask("Page.addScriptToEvaluateOnNewDocument", source=TASKS)
            site.go(tab, one)
            tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)
            tab.until(lambda: False, 2)
            tab.value("(tasks.length = 0, 1)")
            tab.began = (len(tab.requests), held(tab), sum(len(r.get("parts", [])) for r in tab.requests if "/live" in r["url"]))
        with Load(site, options.commits) as load:
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                for tab in tabs.values():
                    tab.key("j")
                site.browser.until(lambda: False, 0.5)
        for one, tab in tabs.items():
            wanted = {"overview": str(revision(site)), "data/users/load0": str(load.last[0])}.get(one)
            right = tab.until(lambda: wanted is None or wanted in tab.text.replace(",", ""), 10) and time.monotonic() - load.ended
            judged(tab, one, right, load, checks)
        name = "no console" if not page else "overview alone" if len(page) == 1 else "three pages"
        print(f"{name}: {load.rate:.0f} commits/s, p99 {load.p99:.1f} ms; the server computes {load.cpu:.3f} cores "
              f"(alone {alone.cpu:.3f}, p99 {alone.p99:.1f} ms; mark: 0.05 more, p99 5% more)")
        for tab in tabs.values():
            tab.leave()
    lines = listeners(site, 20)
    with Load(site, options.commits) as load:
        time.sleep(options.seconds)
    print(f"20 streams: {load.rate:.0f} commits/s, p99 {load.p99:.1f} ms; the server computes {load.cpu:.3f} cores (alone {alone.cpu:.3f})")
    for line in lines:
        line.close()


def listeners(site, count):
    """So many streams, of sessions that have seven each; their connections, which nobody reads from."""
    open_, cookie = [], None
    for number in range(count):
        if number % 7 == 0:
            line = http.client.HTTPConnection("127.0.0.1", site.port)
            line.request("POST", "/admin/v1/session", '{"as":"owner"}', {"X-Doubloon-Console": "1", "Content-Type": "application/json"})
            cookie = line.getresponse().headers["Set-Cookie"].split(";")[0]
            line.close()
        line = http.client.HTTPConnection("127.0.0.1", site.port)
        line.request("GET", f"/admin/v1/live?ns={site.namespace}", headers={"X-Doubloon-Console": "1", "Cookie": cookie})
        if line.getresponse().status != 200:
            raise SystemExit("a stream was refused")
        open_.append(line)
    return open_


def revision(site):
    return next(one["revision"] for one in site.admin("GET", "namespaces")["namespaces"] if one["name"] == site.namespace)


def judged(tab, page, right, load, checks):
    requests, (heap, nodes), parts = tab.began
    asked = len([one for one in tab.requests[requests:] if not re.search(r"/live\b", one["url"])]) / load.seconds
    messages = (sum(len(r.get("parts", [])) for r in tab.requests if "/live" in r["url"]) - parts) / load.seconds
    tasks, inputs = tab.value("[tasks, inputs]")
    heap_after, nodes_after = held(tab)
    print(f"  {page}: longest task {max(tasks, default=0):.0f} ms ({len(tasks)} over 50; mark 100), input after {max(inputs, default=0):.0f} ms "
          f"(mark 100), {messages:.1f} messages/s, {asked:.1f} requests/s, heap {heap:.1f} -> {heap_after:.1f} MB, "
          f"nodes {nodes} -> {nodes_after}, right {f'{right:.2f} s after the end' if right else 'never'} (mark 1)")
    checks.check(f"{page}: at most 10 messages a second", 0 < messages <= 10, messages)
    checks.check(f"{page}: at most 6 requests a second", asked <= 6, asked)
    checks.check(f"{page}: heap and nodes stay", heap_after <= heap * 1.1 + 1.5 and nodes_after <= nodes * 1.1 + 300, (heap, heap_after, nodes, nodes_after))
    checks.check(f"{page}: the last value is right in the end", right is not False and right < 5, right)


def timed(act):
    begin = time.monotonic()
    found = act()
    return (time.monotonic() - begin) * 1000 if found else float("nan")


def children(site, checks, options):
    """A node with very many children."""
    begin, chunk = time.monotonic(), 50_000
    for first in range(0, options.children, chunk):
        names = {f"key-{number:07}": number for number in range(first, min(first + chunk, options.children))}
        answer = site.ask("PATCH", f"/{LARGE}.json?print=silent", names)
        if answer.status not in (200, 204):
            raise SystemExit(f"the store was not filled: {answer.status} {answer.text[:200]}")
    print(f"{options.children:,} children: written in {time.monotonic() - begin:.0f} s")
    tab = site.tab()
    shown = lambda: tab.value(f"[...document.querySelectorAll('{GRID}')].map((e) => e.innerText).join(' ')")
    rows = lambda: tab.value(f"document.querySelectorAll('{GRID}').length")
    site.go(tab, "overview")
    opened = timed(lambda: (tab.value(f"(document.querySelector('#rail a[data-page=data]').click(), 1)"), tab.until(lambda: LARGE in shown()))[1])
    tab.ask("Page.addScriptToEvaluateOnNewDocument", source=TASKS)
    begin = time.monotonic()
    site.go(tab, f"data/{LARGE}")
    ready = tab.value("performance.getEntriesByName('ready')[0]?.startTime ?? -1")
    checks.check("the first children are shown, in few rows", "key-0000000" in shown() and rows() < 60, (rows(), shown()[:200]))
    before, most = len(answers_of(tab)), 0
    box = tab.value("(() => { const b = document.querySelector('[role=treegrid]').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()")
    tab.value("(tasks.length = 0, 1)")
    for _ in range(20):
        tab.ask("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=500)
        tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        most = max(most, rows())
    tab.quiet()
    asked, longest = len(answers_of(tab)) - before, max(tab.value("tasks"), default=0)
    jumps = []
    for number in (options.children - 3, 5, options.children // 2):
        key = f"key-{number:07}"
        tab.fill(re.compile("Jump to key"), key)
        jumps.append(timed(lambda: (tab.key("Enter"), tab.until(lambda: key in shown()))[1]))
    heap, _ = held(tab)
    largest = max(one["bytes"] for one in answers_of(tab))
    print(f"  usable after {ready:.0f} ms (mark 300), data from the overview {opened:.0f} ms, 10,000 px: {asked} requests, longest task "
          f"{longest:.0f} ms (mark 50); jumps {', '.join(f'{one:.0f}' for one in jumps)} ms (mark 150), {most} rows, heap {heap:.1f} MB, "
          f"largest answer {largest:,} bytes")
    checks.check("children: fewer than 60 rows, at most 12 requests, 64 KB an answer, 30 MB", most < 60 and asked <= 12 and largest <= 65_536 and heap < 30,
                 (most, asked, largest, heap))
    checks.check("children: every jump arrives", all(one == one for one in jumps), jumps)
    tab.leave()


def events(site, checks, options):
    """A log with very many events, of players whom nobody referred."""
    begin, chunk = time.monotonic(), 1000
    for first in range(0, options.events, chunk):
        made = {f"p{number:07}/last_signin_at": 1 for number in range(first, min(first + chunk, options.events))}
        answer = site.ask("PATCH", "/users.json?print=silent", made)
        if answer.status not in (200, 204):
            raise SystemExit(f"the log was not filled: {answer.status} {answer.text[:200]}")
    wrote = time.monotonic() - begin
    # 504: some are still running.
    while site.ask("POST", "/admin/v1/drain?timeout=20s", {}).status == 504:
        pass
    print(f"{options.events:,} events: written in {wrote:.0f} s, handled in {time.monotonic() - begin:.0f} s")
    tab = site.open("events")
    ready = tab.value("performance.getEntriesByName('ready')[0]?.startTime ?? -1")
    rows = "document.querySelectorAll('main [role=row], main .wl-row').length"
    empty = timed(lambda: (tab.open(site.address("events?reason=like-none-of-them")), tab.shows(re.compile("looked at")))[1])
    checks.check("events: a filter without a hit looks at 5,000, and says so", re.search(r"\b5,000 events looked at", tab.text), tab.text[-300:])
    site.go(tab, "events")
    before, most = len(answers_of(tab)), 0
    box = tab.value("(() => { const b = document.querySelector('.wl-box, .wl, [role=grid]').getBoundingClientRect(); return [b.x + b.width / 2, b.y + 60] })()")
    pages = 100 if options.full else 10
    for _ in range(pages * 6):
        tab.ask("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=500)
        tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        most = max(most, tab.value(rows))
    tab.quiet()
    heap, nodes = held(tab)
    print(f"  usable after {ready:.0f} ms (mark 300), a filter without a hit says so after {empty:.0f} ms; {len(answers_of(tab)) - before} answers for "
          f"{pages} pages down, {most} rows, heap {heap:.1f} MB (mark 40), {nodes} nodes")
    checks.check("events: fewer than 60 rows, 40 MB", 0 < most < 60 and heap < 40, (most, heap))


class Watched(beside.Doubloon):
    """The program with the overview of one console open beside it."""

    def __init__(self, program, browser):
        super().__init__(program, "rest")
        self.name, self.browser, self.tab = "one console", browser, None

    def begin(self, folder, port):
        self.tab = Tab(self.browser.chromium, self.browser.stranger())
        self.tab.hosts = {f"localhost:{port}"}
        self.tab.open(f"http://localhost:{port}/console/n/{NAMESPACE}/overview")
        if not is_ready(self.tab):
            raise SystemExit(f"the overview is not there: {self.tab.text[:300]}")
        self.tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)

    def end(self):
        live = [one for one in self.tab.requests if re.search(r"/live\b", one["url"])]
        if not live or "Overview" not in self.tab.text:
            raise SystemExit("the overview did not listen")
        self.tab.leave()


def lifecycle(browser, options):
    """The referral lifecycle beside an open console, and without. The browser runs on the same machine: CPU is the server's."""
    alone = beside.Doubloon(os.path.abspath(options.program), "rest")
    alone.name = "no console"
    beside.compared((Watched(os.path.abspath(options.program), browser), alone), options, "within 3 %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--full", action="store_true", help="the sizes that the marks are of")
    parser.add_argument("--only", choices=["live", "children", "events", "lifecycle"], help="lifecycle is left out where it is not named")
    parser.add_argument("--commits", type=int, help="a second")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--driver", default=".build/release/lifecycle", help="of the lifecycle")
    parser.add_argument("--rounds", type=int, default=5, help="of the lifecycle")
    parser.add_argument("--clients", type=int, default=16, help="of the lifecycle")
    parser.add_argument("--folder", default=".build", help="where the lifecycle's data are: on the disk where yours would be")
    options = parser.parse_args()
    if options.only == "lifecycle":
        options.seconds, options.perf, options.random = options.seconds or 8, False, False
        options.driver, options.folder = os.path.abspath(options.driver), os.path.abspath(options.folder)
        with Browser() as browser:
            return lifecycle(browser, options)
    options.commits = options.commits or (1000 if options.full else 200)
    options.seconds = options.seconds or (30 if options.full else 5)
    options.children = options.events = 1_000_000 if options.full else 20_000
    checks = Checks()
    with Browser() as browser:
        site = Site(os.path.abspath(options.program), browser)
        site.server.stop()
        begins(site, free_port())
        try:
            for part in (live, children, events):
                if options.only in (None, part.__name__):
                    part(site, checks, options)
        finally:
            site.stop()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
