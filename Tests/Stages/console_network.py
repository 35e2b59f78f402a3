"""Answers that are late, wrong, cut off or none: every page says what happened and goes on, and keeps what somebody typed.

Files of another build, several windows at once, and two hundred changes of the page.
"""

import os
import re

from chromium import ElementGone
from console import heading, refers
from serving import until

FAULTS = {
    "too many requests": (429, '{"error":"Too many requests from this address."}', {"Retry_After": "7"}, r"Too many requests.* 7 s"),
    "a server that stops": (503, '{"error":"The server is shutting down."}', {}, "shutting down"),
    "an answer that is too late": (504, "", {}, r"could not answer \(504\)"),
    "no JSON": (200, "<html>A proxy says hello</html>", {}, "no complete JSON"),
    "half an answer": (200, '{"namespaces":[{"name":"a', {}, "no complete JSON"),
    "a broken line": (None, "", {}, "does not answer"),
}
# Each with the address of what it shows, and a text of that.
PAGES = {
    "events": (r"/admin/v1/events\?", "/users/bob/level"), "data/users": (r"/admin/v1/data/children", "alice"),
    "rewards/u/bob": (r"/admin/v1/why", "grantSignupReward"), "overview": (r"/admin/v1/status", "Version"),
    "functions": (r"/admin/v1/functions\b", "rewardReferrals"), "audit": (r"/admin/v1/audits", "users"),
}
ROUTES = ("overview", "data", "events", "rewards", "accounts", "rules", "links", "functions", "audit", "settings")
CHANGES = int(os.environ.get("DOUBLOON_ROUTE_CHANGES", "40"))


def faults_are_told(site, checks):
    refers(site)
    site.provoke("answer 50[34]", r"network: .*(429|50[34]|ERR_CONNECTION_CLOSED)", "no complete JSON")
    tab = site.open("settings")
    faults = list(FAULTS.items())
    for number, (page, (address, shown)) in enumerate(PAGES.items()):
        name, (status, text, headers, words) = faults[number]
        tab.tells(address, status, text, **headers)
        tab.open(site.address(page))
        checks.check(f"{page} says what {name} means", tab.shows(re.compile(words, re.I)), tab.text[-300:])
        checks.check(f"{page} has its frame and its heading all the same", tab.until(lambda: heading(tab)) and "Settings" in tab.text,
                     tab.text[:200])
        tab.tells_no_more()
        tries_again(tab, shown)
        checks.check(f"{page} is there after Try again", tab.shows(shown), tab.text[-400:])


def tries_again(tab, shown):
    """Presses Try again, but where the page has found what it shows by itself meanwhile."""
    button = lambda: tab.named(re.compile(r"Try again\.?$"), ("button", "row"))
    while tab.until(lambda: button() or shown in tab.text) and (found := button()):
        try:
            return tab.click_node(found[0]["node"])
        except ElementGone:
            pass


def an_edit_survives_a_fault(site, checks):
    site.write("note", {"text": "before"})
    tab = site.open("data/note?sel=text")
    field = "document.querySelector('.data-pane textarea').value"
    tab.until(f"{field} === 'before'")
    tab.fill("Value", "after")
    tab.until("document.querySelector('.data-pane').innerText.includes('Saving will')")
    site.provoke("answer 503", "network: .* 503")
    tab.tells(r"/admin/v1/data\?", 503, '{"error":"The writer has stopped."}')
    tab.click("Save", "button")
    checks.check("a refused save says why", tab.shows("The writer has stopped"), tab.text[-400:])
    checks.check("and keeps what was typed", tab.value(field) == "after", tab.value(field))
    tab.tells_no_more()
    tab.click("Save", "button")
    checks.check("it can be saved after", until(lambda: site.read("note/text") == "after"), site.read("note"))


def files_of_another_build(site, checks):
    tab = site.open("overview")
    build = tab.value("[...document.scripts].map((s) => s.src).find((s) => s.includes('~'))").split("/console/")[1].split("/")[0]
    answer = site.ask("GET", "/console/~0123456789abcdef/audit.js")
    checks.check("files of another build are gone", answer.status == 404 and build.startswith("~"), (answer.status, build))
    site.provoke("network: .* 404")
    loads = tab._loads
    tab.tells(r"/audit\.js", 404, "")
    tab.click("Audit", "link")
    checks.check("a page whose files are gone is loaded again", tab.until(lambda: tab._loads == loads + 1), tab._loads - loads)
    checks.check("once, and then says so", tab.shows("cannot be shown") and tab._loads == loads + 1, (tab._loads - loads, tab.text[:300]))
    tab.tells_no_more()
    tab.click("Try again", "button")
    checks.check("it is there when the files are", tab.until(lambda: heading(tab) == "Audit"), tab.text[:300])
    site.go(tab, "overview")
    loads = tab._loads
    # A page that was not shown yet: the browser keeps the files of those that were.
    tab.tells(r"/functions\.js", 404, "")
    tab.click("Functions", "link")
    checks.check("the next new build is loaded, too", tab.until(lambda: tab._loads == loads + 1), tab._loads - loads)
    tab.tells_no_more()
    # Who has something unsaved is asked first.
    site.write("note", {"text": "before"})
    site.go(tab, "data/note?sel=text")
    tab.fill("Value", "unsaved")
    site.provoke("^dialog: (confirm|beforeunload)")
    loads = tab._loads
    tab.click("Audit", "link")
    asked = tab.until(lambda: [one for one in tab.complaints if one.startswith("dialog: confirm")])
    checks.check("unsaved changes are asked for before the page goes", asked, tab.complaints)
    checks.check("and stay where the answer is no", tab._loads == loads and tab.value("document.querySelector('.data-pane textarea')?.value") == "unsaved",
                 tab.text[-300:])


def open_streams(tab):
    """Streams that this window has open."""
    return len([one for one in tab._open_requests.values() if re.search(r"/live\b", one)])


def hides(tab, state="hidden"):
    tab.value(f"(() => {{ Object.defineProperty(document, 'visibilityState', {{ configurable: true, get: () => '{state}' }});"
              " document.dispatchEvent(new Event('visibilitychange')) })()")


# Fifteen seconds pass in six.
SHORTER = "(() => { const start = setTimeout.bind(window); window.setTimeout = (act, ms, ...rest) => start(act, ms === 15000 ? 6000 : ms, ...rest) })()"


def streams_are_few(site, checks):
    refers(site)
    tabs = [site.tab() for _ in range(3)]
    tabs[0].ask("Page.addScriptToEvaluateOnNewDocument", source=SHORTER)
    for number, tab in enumerate(tabs):
        site.go(tab, "overview" if number else "events")
    checks.check("three open windows have a stream each", all(tab.until(lambda: open_streams(tab) == 1) for tab in tabs),
                 [open_streams(tab) for tab in tabs])
    more = [site.open("data/users") for _ in range(4)]
    checks.check("a seventh window still loads", more[-1].shows("alice"), more[-1].text[:300])
    held = [open_streams(tab) for tab in tabs + more]
    checks.check("no window has more than one stream, and all together leave the browser connections", max(held) <= 1 and sum(held) <= 4, held)
    site.write("users/nina", {"name": "Nina"})
    checks.check("who has none looks all the same", more[-1].shows("nina"), more[-1].text[-300:])
    hides(tabs[0])
    tabs[0].stays(0.5)
    checks.check("a window that was just hidden keeps its stream", open_streams(tabs[0]) == 1)
    checks.check("after 15 s it has none", tabs[0].until(lambda: open_streams(tabs[0]) == 0), open_streams(tabs[0]))
    before = len([one for one in tabs[0].requests if "/admin/v1/" in one["url"]])
    site.write("users/oscar", {"name": "Oscar", "referred_by": "alice", "level": 5})
    tabs[0].stays(1.5)
    quiet = len([one for one in tabs[0].requests if "/admin/v1/" in one["url"]]) - before
    checks.check("and asks nothing", quiet == 0, quiet)
    hides(tabs[0], "visible")
    checks.check("one that is looked at again has one", tabs[0].until(lambda: open_streams(tabs[0]) == 1 or looks(tabs[0])), open_streams(tabs[0]))


def looks(tab):
    """Whether it asks now and then, for the places of streams are taken."""
    before = len([one for one in tab.requests if re.search(r"/live\b", one["url"])])
    return tab.until(lambda: len([one for one in tab.requests if re.search(r"/live\b", one["url"])]) > before)


COUNTING = """(() => {
  window.timers = new Set();
  const [start, stop] = [window.setInterval.bind(window), window.clearInterval.bind(window)];
  window.setInterval = (...given) => { const id = start(...given); window.timers.add(id); return id };
  window.clearInterval = (id) => { window.timers.delete(id); stop(id) };
})()"""


def measured(tab):
    tab.quiet()
    for _ in range(2):
        tab.ask("HeapProfiler.collectGarbage")
    counters = tab.ask("Memory.getDOMCounters")
    return {
        "listeners": counters["jsEventListeners"], "documents": counters["documents"], "nodes": counters["nodes"],
        "timers": tab.value("window.timers.size"), "streams": open_streams(tab),
        "heap": tab.ask("Runtime.getHeapUsage")["usedSize"] / 1e6,
    }


def changes_of_the_page_leave_nothing(site, checks):
    refers(site)
    tab = site.tab()
    tab.ask("Page.addScriptToEvaluateOnNewDocument", source=COUNTING)
    site.go(tab, "overview")
    walk = ("(async () => { for (const name of names) { performance.clearMarks('ready');"
            " document.querySelector(`#rail a[data-page=${name}]`).click();"
            " for (let i = 0; i < 1500 && performance.getEntriesByName('ready').length === 0; i += 1) await new Promise((f) => setTimeout(f, 10));"
            " } })()")
    go = lambda: tab.value(walk.replace("names", repr(list(ROUTES))))
    for _ in range(2):
        go()
    before = measured(tab)
    for _ in range(CHANGES // len(ROUTES)):
        go()
    after = measured(tab)
    print(f"        {CHANGES} changes: {before} -> {after}")
    checks.check("the last page is shown", heading(tab) == "Settings", heading(tab))
    checks.check("no timer and no stream is left behind", (after["timers"], after["streams"]) == (before["timers"], before["streams"]),
                 (before, after))
    checks.check("no document is", after["documents"] <= before["documents"] + 1, (before, after))
    checks.check("listeners are as many as before", after["listeners"] <= before["listeners"] * 1.1 + 20, (before, after))
    checks.check("nodes are as many as before", after["nodes"] <= before["nodes"] * 1.2 + 200, (before, after))
    checks.check("the heap is as before", after["heap"] <= before["heap"] * 1.15 + 1, (before, after))


CHECKS = [faults_are_told, an_edit_survives_a_fault, files_of_another_build, streams_are_few, changes_of_the_page_leave_nothing]
