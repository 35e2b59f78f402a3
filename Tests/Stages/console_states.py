"""States that somebody comes to by hand, step by step: each opens from its address as it was, and Back and Forward lead through all
of them."""

import re

from console import every_page, heading, is_ready
from console_addresses import walks

# What a page shows, without how long ago things happened: title, rows, what is chosen, headings.
STATE = """(() => {
  const main = document.querySelector('main');
  const said = (element) => {
    const copy = element.cloneNode(true);
    for (const one of copy.querySelectorAll('time')) one.textContent = one.dateTime;
    return copy.textContent.replace(/\\s+/g, ' ').trim();
  };
  const all = (what) => [...main.querySelectorAll(what)].filter((element) => element.checkVisibility()).map(said).sort();
  return JSON.stringify({ title: document.title, rows: all('tbody tr, [role=row]'), heads: all('h1, h2, h3, dt'),
    chosen: all('[aria-selected=true], [aria-current], [aria-pressed=true]') });
})()"""


def chooses(name, letter):
    """Opens no list: a letter chooses what begins with it."""
    def act(tab):
        tab.quiet()
        tab.focus(name, "combobox")
        tab.key(letter)
    return act


def presses(name, role="link"):
    return lambda tab: tab.click(name, role)


def filters_by_action(tab):
    tab.fill("Action", "replays.start")
    tab.click("Filter", "button")


# What is done, what stands in the address then, and the heading.
STEPS = (
    (presses("Data"), "/data", "/"),
    (presses("users"), "/data/users", "users"),
    (presses("bob"), "/data/users/bob", "bob"),
    (presses("level", "gridcell"), "sel=level", "bob"),
    (presses("History", "tab"), "tab=history", "bob"),
    (presses("Events"), "/events", "Events"),
    (chooses("Outcome", "d"), "outcome=done", "Events"),
    (chooses("Function", "r"), "function=rewardReferrals", "Events"),
    (presses("/users/bob/level"), "/event/", "/users/bob/level"),
    (presses("Rewards"), "/rewards", "Rewards"),
    (presses("Entries"), "/rewards/entries", "Entries"),
    (presses("2"), "/rewards/entry/2", "Entry 2"),
    (presses(re.compile(r"^r\d+$")), "/commits/", re.compile(r"r\d+")),
    (presses("Commits"), "/commits", "Commits"),
    (presses("Links"), "/links", "Links"),
    (presses("Claims"), "/links/claims", "Links"),
    (presses("Messages"), "/messages", "Messages"),
    (presses("Devices", "tab"), "tab=devices", "Messages"),
    (presses("Functions"), "/functions", "Functions"),
    (presses("grantSignupReward"), "/functions/grantSignupReward", "grantSignupReward"),
    (presses("Invoke by hand", "tab"), "tab=invoke", "grantSignupReward"),
    (presses("Rules"), "/rules", "Rules"),
    (presses("Tests", "tab"), "tab=tests", "Rules"),
    (presses("Audit"), "/audit", "Audit"),
    (filters_by_action, "action=replays.start", "Audit"),
    (presses("Settings"), "/settings", "Settings"),
    (presses("Configuration", "tab"), "tab=configuration", "Settings"),
)


def by_hand_and_by_address(site, checks):
    every_page(site)
    tab, cold = site.open("overview"), site.tab()
    tab.value("window.isTheSamePage = true")
    seen = []
    for act, part, head in STEPS:
        act(tab)
        there = tab.until(lambda: part in (tab.address or "") and re.fullmatch(head, heading(tab) or "")) and is_ready(tab)
        head = heading(tab)
        checks.check(f"by hand: {part}", there, (tab.address, heading(tab)))
        cold.open(tab.address)
        is_ready(cold)
        same = tab.until(lambda: tab.value(STATE) == cold.value(STATE))
        checks.check(f"{part} opened from its address is the same", same and len(tab.value(STATE)) > 80, (tab.value(STATE)[:1500], cold.value(STATE)[:1500]), quiet=True)
        seen.append((tab.address, head, tab.value(STATE)))
    checks.check(f"{len(STEPS)} states open from their addresses as they were reached", True)
    wholly = lambda address, head, state: tab.address == address and heading(tab) == head and tab.value(STATE) == state
    for step, order in (("back", list(reversed(seen[:-1]))), ("forward", seen[1:])):
        for address, head, state in order:
            walks(tab, step)
            checks.check(f"{step} to {re.sub('.*/console', '', address)}", tab.until(lambda: wholly(address, head, state)),
                         (tab.address, heading(tab), tab.value(STATE)[:900], state[:900]), quiet=True)
    checks.check(f"Back and Forward lead through {len(seen)} states, with all that they show", tab.value("window.isTheSamePage === true"))


CHECKS = [by_hand_and_by_address]
