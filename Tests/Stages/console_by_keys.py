"""The first steps, and a dead letter from its discovery to its payment, by keys alone: no pointer is moved here."""

import re

from console import dies, heading, is_ready
from console_keys import AT
from console_reading import walks_to
from serving import until

DONE = "document.querySelectorAll('main ol.start > li.is-done').length"


def enters(tab, name):
    """Walks to what has this name, and presses Enter."""
    walks_to(tab, name)
    tab.key("Enter")


def the_first_steps(site, checks):
    tab = site.open("start")
    for number in range(1, 7):
        enters(tab, rf"^Do step {number}\b")
        checks.check(f"step {number} is done by Enter", tab.until(f"{DONE} === {number}"), tab.text[-600:])
        tab.quiet()
    checks.check("both have 50 at the end", tab.shows("Bob has 50 pieces of eight, Alice has 50") and (site.coins("bob"), site.coins("alice")) == (50, 50),
                 tab.text[:300])


def down_to(tab, path):
    """Goes down in the tree, row by row."""
    for _ in range(60):
        if tab.until(f"{AT}.startsWith('{path} ')", 0.3):
            return
        before = tab.value(AT)
        tab.key("ArrowDown")
        tab.until(f"{AT} !== {before!r}", 10)
    raise LookupError(f"the arrows do not lead to {path}; they are at {tab.value(AT)}")


def opens_the_way_to(tab, *keys):
    """Unfolds the tree down to a value."""
    for number in range(1, len(keys)):
        path = "/" + "/".join(keys[:number])
        down_to(tab, path)
        tab.key("ArrowRight")
        tab.until(f"!!document.querySelector('[role=treegrid] [data-id=\"{path}/{keys[number]}\"]')")
        tab.quiet()
    down_to(tab, "/" + "/".join(keys))


def a_dead_letter_is_found_mended_and_paid(site, checks):
    event = dies(site)
    tab = site.open("overview")
    enters(tab, "^See$")
    checks.check("Enter shows what was given up on", tab.until("location.pathname.endsWith('/events')") and tab.shows("/users/zed/level") and is_ready(tab), tab.address)
    enters(tab, "/users/zed/level")
    checks.check("and the event, with its fault", tab.until("location.pathname.includes('/event/')") and is_ready(tab) and tab.shows(re.compile("no integer")), tab.text[:600])
    enters(tab, "^Data$")
    checks.check("the rail leads to the data", tab.until("location.pathname.endsWith('/data')") and is_ready(tab), tab.address)
    for _ in range(60):
        if tab.value(AT) != "nowhere":
            break
        tab.key("Tab")
    opens_the_way_to(tab, "users", "yara", "inventory", "pieces_of_eight")
    tab.key("Enter")
    checks.check("Enter on a value edits it", tab.until("document.activeElement.closest('.data-pane')?.contains(document.activeElement)"
                 " && ['TEXTAREA', 'INPUT', 'SELECT'].includes(document.activeElement.tagName)"), tab.focused)
    walks_to(tab, "^Type$")
    tab.type("Num")
    walks_to(tab, "^Value$")
    tab.key("a", "ctrl")
    tab.type("0")
    enters(tab, "^Save$")
    checks.check("the balance is a number again", until(lambda: site.read("users/yara/inventory/pieces_of_eight") == 0) and tab.shows("Saved"), tab.text[-500:])
    tab.quiet()
    enters(tab, "^Overview$")
    checks.check("the rail leads back", tab.until(lambda: heading(tab) == "Overview") and is_ready(tab), tab.address)
    enters(tab, "^Replay 1…$")
    checks.check("to a replay of what died", tab.until("location.pathname.endsWith('/replays/new')") and is_ready(tab) and tab.shows(re.compile(r"Would run\s+1\b")), tab.text[-600:])
    walks_to(tab, "^Reason")
    tab.type("balance was a text")
    enters(tab, "^Replay 1…$")
    checks.check("which asks once more, and has the focus", tab.until("!!document.activeElement?.closest('dialog[open]')"), tab.focused)
    enters(tab, "^Replay 1 run")
    checks.check("runs", tab.until(r"/\/replays\/\d+/.test(location.pathname)"), tab.address)
    checks.check("and pays, once", until(lambda: site.read("users/yara/inventory/pieces_of_eight") == 50)
                 and len([one for one in site.admin("GET", "ledger/statement", account="user:yara")["entries"] if one.get("event") == event]) == 1, tab.text[-500:])
    checks.check("no dead letter is left", until(lambda: not site.admin("GET", "dead-letters")["deadLetters"]))


CHECKS = [the_first_steps, a_dead_letter_is_found_mended_and_paid]
