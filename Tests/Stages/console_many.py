"""A log of twenty thousand events, and twenty consoles that listen while much is written. Counts and bytes are judged, no times."""

import http.client
import json
import re
import socket
import threading

from console_bounds import answers_of
from console_hostile import asked
from console_live import metric
from serving import until

EVENTS, CHUNK, PAGES = 20_000, 1_000, 10
ROWS, ANSWER_BYTES, HEAP_BYTES = 60, 81_920, 40_000_000
CONSOLES, OF_ONE, COMMITS = 20, 5, 300
# Looks of a stream at the newest commit from one of its figures to the next.
BEATS = 10
ROW = "main .wl-body [role=row]"
# Number and text of the rows that are drawn.
SHOWN = f"[...document.querySelectorAll('{ROW}')].filter((e) => e.checkVisibility()).map((e) => [Number(e.ariaRowIndex ?? e.getAttribute('aria-rowindex')), e.innerText])"


def fills(site):
    """An event for each of very many players, whom nobody referred; returns when all are handled."""
    for first in range(0, EVENTS, CHUNK):
        made = {f"p{number:05}/last_signin_at": 1 for number in range(first, first + CHUNK)}
        answer = site.ask("PATCH", f"/users.json?ns={site.namespace}&print=silent", made)
        if answer.status not in (200, 204):
            raise RuntimeError(f"the log was not filled: {answer.status} {answer.text[:200]}")
    # 504: some are still running.
    if not until(lambda: site.ask("POST", f"/admin/v1/drain?ns={site.namespace}&timeout=10s", {}).status == 200, 600):
        raise RuntimeError("the functions do not come to an end")


def a_long_log_is_read_in_windows(site, checks):
    fills(site)
    tab = site.open("events")
    shown = lambda: tab.value(SHOWN)
    checks.check("the newest events are shown", tab.until(lambda: any(f"/users/p{EVENTS - CHUNK:05}" <= text[text.find("/users/"):] for _, text in shown())),
                 shown()[:3])
    box = tab.value("(() => { const b = document.querySelector('main .wl-scroll').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()")
    before, most, deep = len(answers_of(tab)), 0, PAGES * 100
    for _ in range(400):
        tab.ask("Input.dispatchMouseEvent", type="mouseWheel", x=box[0], y=box[1], deltaX=0, deltaY=500)
        tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        tab.quiet()
        rows = shown()
        most = max(most, len(rows))
        if any(number >= deep and "/users/" in text for number, text in rows):
            break
    checks.check(f"scrolling leads to the row {deep:,}", any(number >= deep and "/users/" in text for number, text in shown()), shown()[-3:])
    checks.check(f"with fewer than {ROWS} rows", 0 < most < ROWS, most)
    asked_for = len(answers_of(tab)) - before
    checks.check("and at most two answers for a hundred rows", asked_for <= 2 * PAGES + 4, asked_for)
    large = [(one["url"], one["bytes"]) for one in answers_of(tab) if one["bytes"] > ANSWER_BYTES]
    checks.check(f"no answer has more than {ANSWER_BYTES:,} bytes", not large, large)
    tab.ask("HeapProfiler.collectGarbage")
    heap = tab.ask("Runtime.getHeapUsage")["usedSize"]
    checks.check(f"the page holds at most {HEAP_BYTES:,} bytes", heap <= HEAP_BYTES, f"{heap:,}")


def a_filter_without_a_hit_says_how_far_it_looked(site, checks):
    tab = site.open("events?reason=like-none-of-them")
    checks.check("it looks at 5,000 events, and says so", tab.shows(re.compile(r"\b5,000 events looked at")), tab.text[-300:])
    back = lambda: int((re.search(r"back to revision ([\d,]+)", tab.text) or ["", "0"])[1].replace(",", ""))
    first = back()
    tab.click("Look further", "button")
    checks.check("then at the next ones", tab.until(lambda: 0 < back() < first), (first, tab.text[-300:]))
    asked_for = [one["url"] for one in answers_of(tab) if re.search(r"/events\?", one["url"])]
    checks.check("each look is one answer", len(set(asked_for)) == 2, asked_for)


class Listener:
    """What a console's stream hears: (name, what, bytes), as it comes."""

    def __init__(self, site, cookie):
        self.heard = []
        self.line = http.client.HTTPConnection("127.0.0.1", site.port)
        self.line.request("GET", f"/admin/v1/live?ns={site.namespace}", headers={"X-Doubloon-Console": "1", "Cookie": cookie})
        self.socket = self.line.sock
        self.answer = self.line.getresponse()
        if self.answer.status != 200:
            raise RuntimeError(f"a stream was refused: {self.answer.status}")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        name = ""
        try:
            while line := self.answer.readline():
                kind, _, text = line.decode().strip().partition(": ")
                if kind == "event":
                    name = text
                elif kind == "data":
                    self.heard.append((name, json.loads(text), len(line)))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # it was closed

    def has_heard(self, revision):
        return any(what.get("revision", -1) >= revision for name, what, _ in list(self.heard))

    def count(self, kind):
        return sum(name == kind for name, _, _ in list(self.heard))

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)


def twenty_consoles_cost_beats(site, checks):
    """A stream looks at the newest commit in beats: what it sends depends on the time that passes, and not on what is written."""
    site.write("users/load", {"name": "Load", "count": 0})
    revision = lambda: next(one["revision"] for one in site.admin("GET", "namespaces")["namespaces"] if one["name"] == site.namespace)
    listeners = []
    for number in range(CONSOLES):
        if number % OF_ONE == 0:
            session = asked(f"{site.base}/admin/v1/session", {"X-Doubloon-Console": "1", "Content-Type": "application/json"}, "POST", '{"as":"owner"}')
            cookie = session.headers["set-cookie"].split(";")[0]
        listeners.append(Listener(site, cookie))
    open_now = lambda: metric(site, "doubloon_connections")
    checks.check(f"{CONSOLES} consoles listen", until(lambda: all(one.heard for one in listeners)) and open_now() > CONSOLES, open_now())
    for number in range(COMMITS):
        site.ask("PUT", f"/users/load/count.json?ns={site.namespace}&print=silent", number + 1)
    last = revision()
    checks.check("each hears of the last commit", until(lambda: all(one.has_heard(last) for one in listeners)), (last, [one.heard[-1:] for one in listeners]))
    checks.check("and gets the server's figures", until(lambda: all(one.count("stats") > 1 for one in listeners)), [one.count("stats") for one in listeners])
    counts = [(one.count("revision"), one.count("stats")) for one in listeners]
    checks.check(f"of {COMMITS} commits each hears in beats, {BEATS} of which make a figure", all(told <= BEATS * (figures + 2) for told, figures in counts), counts)
    sizes = [size for one in listeners for _, _, size in list(one.heard)]
    checks.check("a message has at most 1,000 bytes", max(sizes) <= 1_000, max(sizes))
    told = [[(name, what["revision"]) for name, what, _ in list(one.heard) if "revision" in what] for one in listeners]
    checks.check("no commit is told twice, and none after a later one",
                 all(now >= before and (now > before or name == "stats") for each in told for (_, before), (name, now) in zip(each, each[1:])), told[0][-6:])
    for one in listeners:
        one.close()
    checks.check("when they go, no stream is left", until(lambda: open_now() < OF_ONE), open_now())


CHECKS = [twenty_consoles_cost_beats, a_long_log_is_read_in_windows, a_filter_without_a_hit_says_how_far_it_looked]
