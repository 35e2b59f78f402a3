"""An empty store, and the README's scenario: what somebody sees who has just started the server."""

import re
import time

from browser import PATIENCE
from console import heading, is_ready

OTHER = "second-default-rtdb"


def pages_of_an_empty_store_open(site, checks):
    """Nothing was ever written here, so there is not even a namespace yet."""
    tab = site.tab()
    for page in ("overview", "data", "events", "events?outcome=dead", "replays", "replays/new", "rewards", "rewards/entries", "rewards/u/nobody",
                 "accounts", "rules", "functions", "links", "audit", "settings"):
        site.go(tab, page)
        checks.check(f"{page} of an empty store says something", heading(tab) and "cannot be shown" not in heading(tab), heading(tab), quiet=True)
        checks.check(f"{page} of an empty store has no fault", not tab.value("!!document.querySelector('main .error-panel')"), tab.text[-300:], quiet=True)
        complaints = tab.take_complaints()
        checks.check(f"{page} of an empty store opens without a complaint", not complaints, complaints[:3], quiet=True)
    checks.check("pages of an empty store were opened", True)


def an_empty_store_opens_start(site, checks):
    tab = site.tab()
    tab.open(site.base + "/console/")
    checks.check("an empty store opens Start", tab.until(lambda: tab.address == site.address("start") and heading(tab) == "Start") and is_ready(tab),
                 tab.address)
    tab.value("window.isTheSamePage = true")
    steps = [tab.find(re.compile(rf"^Do step {number}\b"), "button") for number in range(1, 7)]
    checks.check("it has a button for each of six steps", len(steps) == 6)
    paid = {3: ("Bob has 50 pieces of eight, Alice has 0", {"bob": 50, "alice": 0}),
            5: ("Bob has 50 pieces of eight, Alice has 50", {"bob": 50, "alice": 50})}
    for number in range(1, 6):
        tab.click(re.compile(rf"^Do step {number}\b"), "button")
        done = tab.until(f"!!document.querySelectorAll('main ol > li')[{number - 1}].querySelector('ul, .error-panel')")
        told = tab.value(f"document.querySelectorAll('main ol > li')[{number - 1}].innerText")
        checks.check(f"step {number} says what it did", done and re.search(r"\br\d", told), told)
        if number in paid:
            text, coins = paid[number]
            checks.check(f"after step {number} the page says: {text}", tab.shows(text), tab.text[:300])
            checks.check("and so it is", {uid: site.coins(uid) for uid in coins} == coins)
    tab.click(re.compile(r"^Do step 6\b"), "button")
    tab.until("/No coins moved/.test(document.querySelectorAll('main ol > li')[5].innerText)")
    told = tab.value("document.querySelectorAll('main ol > li')[5].innerText")
    checks.check("the sixth step pays nothing, and says why", "rewardReferrals" in told and re.search("already|paid before|once", told)
                 and "No coins moved" in told, told)
    checks.check("both still have 50", (site.coins("bob"), site.coins("alice")) == (50, 50))
    checks.check("all of it without loading the page again", tab.value("window.isTheSamePage === true"))


def what_others_write_is_shown(site, checks):
    """The README's commands from outside, while three pages are open."""
    pages = {"overview": "/users/bob/level", "data/users": "alice", "events": "/users/bob/level"}
    site.admin("POST", "namespaces", {"name": OTHER})
    tabs = {page: site.open(page, OTHER) for page in pages}
    before = {page: wanted in tabs[page].text for page, wanted in pages.items()}
    checks.check("nothing is there before", not any(before.values()), before)
    for tab in tabs.values():
        tab.value("window.isTheSamePage = true")
    began = time.monotonic()
    for method, path, body in (
            ("PATCH", "/users/alice", {"name": "Alice"}), ("PATCH", "/users/bob", {"name": "Bob", "referred_by": "alice", "level": 4}),
            ("PATCH", "/users/bob", {"last_signin_at": 1767225600000}), ("PUT", "/users/bob/level", 5)):
        site.write(path, body, method, key="", namespace=OTHER)
    written = time.monotonic()
    waiting, shown = dict(pages), {}
    while waiting and time.monotonic() - written < PATIENCE:
        for page in [page for page, wanted in waiting.items() if tabs[page].until(lambda: wanted in tabs[page].text, 0.05)]:
            shown[page] = time.monotonic() - written
            del waiting[page]
    for page in pages:
        checks.check(f"{page} shows by itself what was written from outside", page in shown, tabs[page].text[:300])
    print(f"        written in {written - began:.2f} s, shown after " + ", ".join(f"{page} {s:.2f} s" for page, s in shown.items()))
    checks.check("none of them was loaded again", all(tab.value("window.isTheSamePage === true") for tab in tabs.values()))


def a_browser_at_the_root_finds_it(site, checks):
    tab = site.tab()
    tab.open(site.base + "/")
    checks.check("a browser at / is led to the console", tab.until(lambda: "/console/n/" in tab.address), tab.address)
    answer = site.ask("GET", "/")
    checks.check("what is no browser gets what emulators answer", answer.status == 200 and answer.json is not None, answer.text[:200])


CHECKS = [a_browser_at_the_root_finds_it, pages_of_an_empty_store_open, an_empty_store_opens_start, what_others_write_is_shown]
