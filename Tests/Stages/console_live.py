"""What the console shows while it happens: paused, through a restart of the server, in other time zones and after a jump of the
clock; and that its figures are those of the metrics and of the audit.
"""

import datetime
import json
import os
import re
import sqlite3
import time
import zoneinfo

from console import heading, is_ready, refers
from server import Server
from serving import free_port, until

WORDS = "document.querySelector('main').innerText"
LIGHT = "document.getElementById('light').innerText"
ZONES = ("UTC", "Asia/Kolkata", "America/St_Johns")
DAY = 86_400_000


def begins(site, port):
    """The server of this module from now on: its data are in a folder, and it can be started again where it was."""
    site.server = Server(site.program, "--data", os.path.join(site.folder, "kept"), "--port", str(port))
    site.port, site.lines = site.server.await_address(), site.server.lines
    site.base = f"http://localhost:{site.port}"


def levels(site, *players):
    """An event for each, without waiting for its function."""
    for player in players:
        for level in (4, 5):
            site.ask("PATCH", f"/users/{player}.json?ns={site.namespace}", {"referred_by": "alice", "level": level})


def asked(tab):
    return len([one for one in tab.requests if "/admin/v1/" in one["url"]])


def paused_stays_paused(site, checks):
    refers(site)
    tab = site.open("events")
    tab.value("document.querySelector('main').focus()")
    tab.key("p")
    checks.check("p pauses", tab.until(f"{LIGHT}.includes('paused')"), tab.value(LIGHT))
    tab.quiet(apart="nothing")
    before = asked(tab)
    for disturb in (
            "dispatchEvent(new Event('blur')), dispatchEvent(new Event('focus'))",
            "Object.defineProperty(document, 'visibilityState', {configurable: true, get: () => 'hidden'}), document.dispatchEvent(new Event('visibilitychange'))",
            "Object.defineProperty(document, 'visibilityState', {configurable: true, get: () => 'visible'}), document.dispatchEvent(new Event('visibilitychange'))",
            "dispatchEvent(new Event('offline')), dispatchEvent(new Event('online'))"):
        tab.value(f"({disturb}, 1)")
        levels(site, f"quiet{len(disturb)}")
        tab.stays(0.4)
    other = site.open("overview")
    checks.check("another window goes on", other.until(lambda: re.search(r"revision (\d+)", other.text)), other.text[:300])
    checks.check("a paused one asks for nothing, whatever happens to it", asked(tab) == before, [one["url"] for one in tab.requests[-4:]])
    checks.check("and shows nothing new", "quiet" not in tab.value(WORDS) and "paused" in tab.value(LIGHT), tab.value(LIGHT))
    tab.click("Audit", "link")
    tab.until(lambda: heading(tab) == "Audit")
    tab.click("Events", "link")
    tab.until(lambda: heading(tab) == "Events")
    checks.check("another page is read when somebody goes there, and stays paused", "paused" in tab.value(LIGHT) and tab.shows("quiet"))
    tab.value("document.querySelector('main').focus()")
    tab.key("p")
    levels(site, "loud")
    checks.check("p goes on", tab.shows("/users/loud/level") and tab.until(f"{LIGHT}.includes('live')"), tab.value(LIGHT))


def a_restart_loses_nothing(site, checks):
    site.server.stop()
    port = free_port()
    begins(site, port)
    refers(site)
    tabs = {"events": site.open("events"), "overview": site.open("overview")}
    levels(site, "one", "two")
    checks.check("events are shown", all(tab.shows("/users/two/level") for tab in tabs.values()), tabs["events"].text[-300:])
    for tab in tabs.values():
        tab.value("window.isTheSamePage = true")
    site.provoke("network: .*(ERR_| 401 )", "answer 50")
    site.server.kill()
    checks.check("the light says that it tries again, and when", all(tab.until(f"/again in [0-9]+ s/.test({LIGHT})") for tab in tabs.values()),
                 [tab.value(LIGHT) for tab in tabs.values()])
    seen = set()
    tabs["events"].until(lambda: seen.add(tabs["events"].value(LIGHT)) or len(seen) > 2)
    checks.check("it counts down", len(seen) > 2, seen)
    checks.check("what was there stays", all("/users/two/level" in tab.value(WORDS) for tab in tabs.values()))
    begins(site, port)
    levels(site, "three", "four")
    checks.check("it finds the server again by itself", all(tab.until(f"{LIGHT}.includes('live')") for tab in tabs.values()),
                 [tab.value(LIGHT) for tab in tabs.values()])
    levels(site, "five")
    checks.check("what happened meanwhile is there", all(tab.shows(re.compile(r"/users/five/level")) for tab in tabs.values()), tabs["events"].text[-300:])
    log = lambda: [one["id"] for one in site.admin("GET", "events", limit=100)["events"]]
    rows = "[...new Set([...document.querySelectorAll('main [data-event]')].map((e) => e.dataset.event))].length + ' ' + "
    rows += "[...document.querySelectorAll('main [data-event]')].map((e) => e.dataset.event).sort().join(' ')"
    tab = tabs["events"]
    wanted = lambda: f"{len(log())} " + " ".join(sorted(log()))
    checks.check("no row is there twice, and none is missing", tab.until(lambda: tab.value(rows) == wanted()), (tab.value(rows), wanted()))
    checks.check("no page was loaded again", all(tab.value("window.isTheSamePage === true") for tab in tabs.values()))


def metric(site, name):
    """The sum of a metric's lines."""
    text = site.ask("GET", "/metrics").text
    return sum(float(one) for one in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))


def tile(tab, name):
    return tab.value(f"[...document.querySelectorAll('.tile')].find((e) => e.innerText.startsWith('{name}'))?.innerText") or ""


def numbers(text):
    return [int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", text)]


def figures_are_those_of_the_metrics(site, checks):
    tab = site.open("overview")
    levels(site, "six")
    site.admin("POST", "drain")
    told = lambda name, value: tab.until(lambda: int(value()) in numbers(tile(tab, name)))
    for name, value in (
            ("Events/s", lambda: metric(site, "doubloon_events_total")), ("Entries/min", lambda: metric(site, "doubloon_ledger_entries_total")),
            ("Queue", lambda: metric(site, "doubloon_writer_queue_depth")), ("Waiting", lambda: metric(site, "doubloon_dead_letters")),
            ("Listeners", lambda: metric(site, "doubloon_streams") + metric(site, "doubloon_sockets")),
            ("Commits/s", lambda: next(one["revision"] for one in site.admin("GET", "namespaces")["namespaces"]))):
        checks.check(f"{name} is what the metrics say", told(name, value), (tile(tab, name), value()))
    total = metric(site, "doubloon_commits_total")
    points = lambda: site.admin("GET", "series", window="15m", points=900)["points"]
    # What came before the first look of the series is in no point of it.
    checks.check("the series counts what was counted", until(lambda: total - 12 <= sum(one["commits"] for one in points()))
                 and sum(one["commits"] for one in points()) <= metric(site, "doubloon_commits_total"), (total, points()[-3:]))
    checks.check("and knows for how long", all(0 <= one["coveredMs"] <= 30_000 for one in points()) and any(one["coveredMs"] for one in points()))
    for window in ("1h", "24h", "15m"):
        tab.value(f"(() => {{ const s = [...document.querySelectorAll('main select')].at(-1); s.value = '{window}'; s.dispatchEvent(new Event('change')) }})()")
        tab.quiet()
        checks.check(f"the window {window} stands in the address", tab.until(f"(new URLSearchParams(location.search).get('w') ?? '15m') === '{window}'"),
                     tab.address)
    tip = "document.querySelector('.chart-tip')?.innerText ?? ''"

    def points_at_a_moment():
        tab.value("document.querySelector('.chart-frame').focus()")
        tab.key("ArrowLeft")
        return re.match(r"\d\d:\d\d:\d\d\s+\S", tab.value(tip))

    checks.check("a chart is read with the arrows", tab.until(points_at_a_moment), tab.value(tip))
    tab.click("as table", "button")
    table = "document.querySelector('dialog[open] table')?.innerText ?? ''"
    checks.check("and as a table, in which what nobody saw is no figure", tab.until(lambda: "/s" in tab.value(table) and "—" in tab.value(table)),
                 tab.value(table)[:300])
    tab.key("Escape")
    tab.click("Verify now", "button")
    audit = site.admin("GET", "ledger/verify")
    checks.check("Verify now says what the audit says", tab.until(lambda: "sound" in tile(tab, "Ledger") and audit["entries"] in numbers(tile(tab, "Ledger"))),
                 (tile(tab, "Ledger"), audit))


def a_broken_ledger_is_named(site, checks):
    site.server.stop()
    with sqlite3.connect(os.path.join(site.folder, "kept", "doubloon.db")) as store:
        changed = store.execute("UPDATE ledger_entry SET amount = amount + 1 WHERE sequence = 2").rowcount
    store.close()
    begins(site, site.port)
    tab = site.open("overview")
    tab.click("Verify now", "button")
    checks.check("a changed entry is found", changed == 1 and tab.until(lambda: "not sound" in tile(tab, "Ledger")), tile(tab, "Ledger"))
    checks.check("and named, with a way there", tab.shows(re.compile(r"entry 2\b")) and tab.until(lambda: tab.named("entry 2", "link")), tab.text[-600:])
    site.go(tab, "settings?tab=log")
    tab.click("Verify now", "button")
    checks.check("the audit of the log in the background finds it, too", tab.shows("not sound") and tab.shows(re.compile("entry 2", re.I)), tab.text[-600:])
    checks.check("and says who began it", tab.until(lambda: "admin:owner" in tab.value(WORDS)), tab.value(WORDS)[-400:])


def shown_in(zone, ms, form="%H:%M:%S"):
    return datetime.datetime.fromtimestamp(ms / 1000, zoneinfo.ZoneInfo(zone)).strftime(form)


def zones_agree(site, checks):
    event = next(one for one in site.admin("GET", "events", limit=50)["events"] if one["path"] == "/users/one/level")
    series = lambda: site.admin("GET", "events/histogram")["since"]
    for zone in ZONES:
        tab = site.tab()
        tab.ask("Emulation.setTimezoneOverride", timezoneId="Asia/Tokyo" if zone == "UTC" else zone)
        tab.open(site.address("audit"))
        # Another zone than the browser's where somebody chose one.
        tab.value(f"localStorage.setItem('doubloon.zone', '{'UTC' if zone == 'UTC' else 'local'}')")
        site.go(tab, "events")
        clock = shown_in(zone, event["time"])
        checks.check(f"{zone}: the table says {clock}", tab.until(lambda: f"{clock}.{event['time'] % 1000:03}" in tab.value(WORDS)), tab.value(WORDS)[-300:])
        axis = shown_in(zone, series())
        checks.check(f"{zone}: the chart's axis begins at {axis}", tab.until(f"document.querySelector('.chart-tip')?.innerText.includes('{axis}')"),
                     tab.value("document.querySelector('.chart-tip').innerText"))
        site.go(tab, f"event/{event['id']}")
        checks.check(f"{zone}: so does the timeline", tab.until(lambda: clock in tab.value(WORDS)), tab.value(WORDS)[:400])
        module = "[...document.scripts].map((s) => s.src).find((s) => s.includes('app.js')).replace('app.js', 'time.js')"
        # Half an hour around the summer's beginning and end, in a zone of half hours.
        for change in ("2026-03-08T05:30:00", "2026-11-01T04:30:00"):
            middle = int(datetime.datetime.fromisoformat(change + "+00:00").timestamp() * 1000)
            for ms in (middle - 1, middle, middle + 1_800_000, middle + DAY):
                told = tab.value(f"import({module}).then((time) => time.moment({ms}) + ' ' + time.clock({ms}))")
                wanted = shown_in(zone, ms, "%b %-d, %Y, %H:%M:%S %H:%M:%S")
                checks.check(f"{zone}: {wanted}", told == f"{wanted}.{ms % 1000:03}", told, quiet=True)


def a_clock_that_was_moved(site, checks):
    tab = site.open("events")
    # A session does not last a month.
    site.provoke("network: .* 401 ")
    site.admin("POST", "clock", {"advance": 30 * DAY})
    checks.check("the frame says that the server's clock is ahead", tab.until(lambda: re.search(r"clock is 30 d.* ahead", tab.text)), tab.text[:400])
    levels(site, "late")
    site.go(tab, "audit")
    checks.check("relative times are by the server's clock", tab.until("[...document.querySelectorAll('time')].some((e) => /30 d ago/.test(e.title))"),
                 tab.value("[...document.querySelectorAll('time')].map((e) => e.title).slice(0, 3)"))
    site.go(tab, "overview")
    is_ready(tab)
    series = lambda: [one for one in site.admin("GET", "series", window="24h", points=1440)["points"] if one["coveredMs"]]
    checks.check("the jump makes no rate", until(series) and all(one["commits"] * 1000 / one["coveredMs"] < 1000 for one in series()), series())
    checks.check("what is new is new", tab.until(lambda: re.search(r"\b(now|\d+ s ago|\d min ago)\b", tab.value(WORDS))), tab.value(WORDS)[-300:])


CHECKS = [
    paused_stays_paused, a_restart_loses_nothing, figures_are_those_of_the_metrics, a_broken_ledger_is_named, zones_agree, a_clock_that_was_moved,
]
