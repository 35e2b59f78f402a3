"""Why a player has what they have, and mending it: questions that support is asked, answered and settled in the console."""

import re

from console import dies, heading, is_ready, refers
from serving import until

BIG, LEAST = 9007199254740993, -9223372036854775808
SELECTED = "document.querySelector('.data-pane').innerText"


def row(tab, key):
    """The text of a child's row in the tree."""
    return tab.value(
        f"[...document.querySelectorAll('[role=treegrid] [role=row]')].find((e) => e.dataset.id?.split('/').at(-1) === {key!r})"
        "?.innerText ?? ''")


def walks_to(tab, name, most=120):
    """Presses Tab until what has the focus is called so."""
    for _ in range(most):
        tab.key("Tab")
        focused = tab.focused or ""
        if re.search(name, focused):
            return focused
    raise LookupError(f"Tab does not lead to {name} on {tab.address}; the focus is on {tab.focused}")


def answers(site, name, **query):
    return site.admin("GET", name, **query)


def why_bob_has_coins_by_keyboard(site, checks):
    refers(site)
    tab = site.open("overview")
    tab.key("k", "ctrl")
    tab.find(re.compile("search or jump|player|path", re.I), ("textbox", "combobox", "searchbox"))
    tab.type("bob")
    # The first is what Enter takes: it is the player once the answer has come.
    tab.until("/player[^]*bob/.test(document.querySelector('[role=option]')?.innerText ?? '')")
    tab.key("Enter")
    checks.check("three keys and Enter lead to the player", tab.until("location.pathname.endsWith('/rewards/u/bob')") and is_ready(tab),
                 tab.address)
    checks.check("the page says what bob has, and what for", tab.shows("On the account") and heading(tab) == "bob" and tab.shows("+50")
                 and tab.shows("grantSignupReward") and tab.shows("last_signin_at"), tab.text[:800])
    walks_to(tab, r"^event$|:/users/bob/last_signin_at")
    tab.key("Enter")
    checks.check("Tab and Enter lead to the event", tab.until("location.pathname.includes('/event/')") and is_ready(tab), tab.address)
    checks.check("which shows its function, outcome and entry", tab.shows("grantSignupReward") and tab.shows(re.compile("done", re.I))
                 and tab.shows(re.compile(r"entry 1\b|entries? 1\b")), tab.text[:800])
    walks_to(tab, r"/users/bob/last_signin_at|\br\d+\b")
    tab.key("Enter")
    checks.check("and further to the write", tab.until("location.pathname.includes('/data/')") and tab.shows("1767225600000"), tab.text[:400])


def a_dead_letter_is_found_mended_and_paid_once(site, checks):
    event = dies(site)
    tab = site.open("overview")
    checks.check("Overview says that something was given up on", tab.shows("rewardReferrals") and tab.shows(re.compile("no integer")), tab.text)
    tab.click("See", "link")
    checks.check("its link shows the event", tab.until("location.pathname.endsWith('/events')") and tab.shows("/users/zed/level"), tab.text[:500])
    site.go(tab, "data/users/yara/inventory?sel=pieces_of_eight")
    tab.find("Value", "textbox")
    tab.focus("Type", "combobox")
    tab.type("Num")
    tab.fill("Value", "0")
    tab.click("Save", "button")
    checks.check("saving is told", tab.shows("Saved") and tab.quiet(), tab.text[-600:])
    checks.check("the cause is repaired in Data", until(lambda: site.read("users/yara/inventory/pieces_of_eight") == 0), tab.text[:600])
    site.go(tab, "replays/new?function=rewardReferrals&mode=failed")
    replayed(site, checks, tab, "balance was a text")
    checks.check("yara was paid", until(lambda: site.read("users/yara/inventory/pieces_of_eight") == 50))
    entries = [one for one in answers(site, "ledger/statement", account="user:yara")["entries"] if one.get("event") == event]
    checks.check("once, by the event that died", len(entries) == 1 and entries[0]["amount"] == 50, entries)
    checks.check("no dead letter is left", until(lambda: not answers(site, "dead-letters")["deadLetters"]))
    site.go(tab, "replays/new?function=rewardReferrals&mode=failed")
    checks.check("a second replay finds nothing to run", tab.shows(re.compile(r"Would run\s+0\b")), tab.text[-900:])
    checks.check("and yara still has 50", site.coins("yara") == 50)


def replayed(site, checks, tab, reason):
    checks.check("the preview says 1 run and +50", tab.shows(re.compile(r"Would run\s+1\b")) and tab.shows("+50"), tab.text[-900:])
    tab.fill(re.compile("^Reason"), reason)
    tab.click(re.compile("^Replay 1"), "button")
    tab.find(re.compile("^Replay 1 run"), "button")
    tab.click(re.compile("^Replay 1 run"), "button")
    checks.check("the replay has a page of its own", tab.until(r"/\/replays\/\d+/.test(location.pathname)"), tab.address)
    checks.check("and comes to its end", tab.shows(re.compile(r"\bdone\b", re.I)), tab.text[:800])


def a_dry_run_changes_nothing(site, checks):
    dies(site, "zoe", "yves")
    site.write("users/yves/inventory/pieces_of_eight", 0)
    state = lambda: (answers(site, "namespaces")["namespaces"], answers(site, "ledger/entries", limit=500)["entries"], answers(site, "replays"),
                     answers(site, "dead-letters"))
    before = state()
    tab = site.open("replays/new?function=rewardReferrals&mode=failed")
    tab.click("Dry run", "button")
    checks.check("a dry run shows what would be in the tree", tab.shows("/users/yves/inventory/pieces_of_eight"), tab.text[-1200:])
    tab.click(re.compile("^Entries"), "tab")
    checks.check("and what would be paid", tab.shows(re.compile(r"\+50|0 → 50")), tab.text[-1200:])
    checks.check("revision, ledger and replays are as before", state() == before)


def an_entry_is_reversed(site, checks):
    entry = next(one for one in answers(site, "ledger/statement", account="user:alice")["entries"] if one["amount"] == 50)
    tab = site.open(f"rewards/entry/{entry['sequence']}")
    tab.click(re.compile("^Reverse"), "button")
    checks.check("the preview says what is left", tab.shows(re.compile(r"50\s*→\s*0")), tab.text)
    verb = tab.find(re.compile(r"^Reverse 50 from"), "button")
    checks.check("the button says what it does", verb["name"] == "Reverse 50 from alice", verb)
    tab.click(verb["name"], "button")
    checks.check("without a reason it does nothing", tab.shows(re.compile("reason", re.I)) and site.coins("alice") == 50)
    tab.fill(re.compile("Reason", re.I), "wrong season")
    tab.click(re.compile(r"^Reverse 50 from"), "button")
    checks.check("with one alice has nothing left", until(lambda: site.coins("alice") == 0), tab.text[:600])
    checks.check("the tree says so, too", until(lambda: site.read("users/alice/inventory/pieces_of_eight") == 0))
    reversal = answers(site, "ledger/entries", key=f"reversal/{entry['sequence']}")["entries"][0]
    checks.check("the entry names its reversal", tab.shows(re.compile(rf"by\s+entry {reversal['sequence']}\b")), tab.text[:900])
    checks.check("Reverse is gone", tab.until(lambda: not tab.named(re.compile("^Reverse"), "button")))
    recorded = lambda: [one for one in answers(site, "audit", limit=20)["actions"] if "reverse" in one["action"]]
    checks.check("and the audit log has it, with the reason", until(lambda: any("wrong season" in str(one) for one in recorded())), recorded()[:3])
    site.go(tab, "rewards/u/alice?tab=statement")
    checks.check("the statement shows both entries", tab.shows("+50") and tab.shows(re.compile("[-−]50")) and tab.shows("wrong season"), tab.text[:900])


def integers_are_exact(site, checks):
    site.write("numbers", {"big": BIG, "least": LEAST})
    tab = site.open("data/numbers")
    checks.check("large integers are shown exactly", tab.until(lambda: str(BIG) in row(tab, "big") and str(LEAST).replace("-", "") in row(tab, "least")),
                 (row(tab, "big"), row(tab, "least")))
    site.go(tab, "data/numbers?sel=big")
    field = "document.querySelector('.data-pane textarea').value"
    checks.check("edited as they are", tab.until(f"{field} === '{BIG}'"), tab.value(field))
    site.browser.chromium.ask("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
                              browserContextId=site._context)
    copies_exactly(checks, tab, BIG)
    tab.fill("Value", str(BIG + 2))
    tab.click("Save", "button")
    stored = lambda key: site.ask("GET", f"/numbers/{key}.json?ns={site.namespace}").text
    tab.shows("Saved") and tab.quiet()
    checks.check("and stored as they were typed", until(lambda: stored("big") == str(BIG + 2)), stored("big"))
    site.go(tab, "data/numbers?sel=least")
    tab.until(f"{field} === '{LEAST}'")
    tab.fill("Value", str(LEAST + 1))
    tab.click("Save", "button")
    checks.check("down to the least that there is", until(lambda: stored("least") == str(LEAST + 1)), stored("least"))
    copies_exactly(checks, tab, LEAST + 1)


def copies_exactly(checks, tab, value):
    tab.click("Copy", "button")
    tab.click("JSON", "menuitem")
    copied = lambda: tab.value("navigator.clipboard.readText()")
    checks.check(f"{value} is copied exactly", tab.until(lambda: copied() == str(value)), copied())


def a_commit_is_read(site, checks):
    refers(site, "aldo", "bea")
    entry = next(one for one in answers(site, "ledger/statement", account="user:aldo")["entries"] if one["amount"] == 50)
    tab = site.open(f"rewards/entry/{entry['sequence']}")
    commit = f"r{entry['revision']}"
    tab.click(commit, "link")
    checks.check("an entry leads to its commit", tab.until(lambda: heading(tab) == commit) and tab.address.endswith(f"/commits/{commit[1:]}")
                 and is_ready(tab), tab.address)
    checks.check("which says what it changed, and why", tab.shows("/users/aldo/inventory/pieces_of_eight") and tab.shows("function:rewardReferrals")
                 and tab.shows(re.compile("because of.*/users/bea/level", re.I | re.S)), tab.text[-600:])
    tab.click("Commits", "link")
    rows = "[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[0].innerText.trim())"
    wanted = lambda path: [f"r{one['revision']}" for one in
                           site.ask("GET", f"/admin/v1/data/log?ns={site.namespace}&path={path}&limit=50").json["commits"]]
    checks.check("beside all others, the newest first", tab.until(lambda: heading(tab) == "Commits" and tab.value(rows) == wanted("/")), tab.value(rows))
    tab.fill("Path", "/users/bea")
    tab.click("Show", "button")
    checks.check("or those that touched a place", tab.until(lambda: "path=%2Fusers%2Fbea" in tab.address
                 and tab.value(rows) == wanted("/users/bea")), (tab.address, tab.value(rows)))
    site.provoke("network: .* 404 ")
    site.go(tab, "commits/999999")
    checks.check("one that there is not is said to be none", tab.shows("No commit that is remembered"), tab.text[-300:])


def a_conflict_loses_nothing(site, checks):
    site.write("shared/word", "first")
    tab = site.open("data/shared?sel=word")
    tab.find("Value", "textbox")
    tab.fill("Value", "mine")
    tab.until("document.querySelector('.data-pane').innerText.includes('Saving will')")
    site.write("shared/word", "theirs")
    site.provoke(r"40[9]|41[2]")
    tab.click("Save", "button")
    checks.check("an edit conflict shows both versions", tab.shows("theirs") and tab.shows(re.compile("Not saved|changed")), tab.value(SELECTED))
    checks.check("mine is still in the field", tab.until("document.querySelector('.data-pane textarea')?.value === 'mine'"))
    checks.check("theirs is still stored", site.read("shared/word") == "theirs")
    tab.click(re.compile("Save mine"), "button")
    checks.check("mine can be saved over it", until(lambda: site.read("shared/word") == "mine"), tab.value(SELECTED))


def the_past_is_shown(site, checks):
    name = "history-default-rtdb"
    site.admin("POST", "namespaces", {"name": name})
    for value in range(1, 6):
        site.write("story/chapter", value, namespace=name)
    tab = site.open("data/story", name)
    checks.check("now is the fifth commit", tab.until(lambda: "5" in row(tab, "chapter")), row(tab, "chapter"))
    tab.value("document.querySelector('main').focus()")
    for value in (4, 3, 2, 1):
        tab.key("[")
        checks.check(f"[ goes back to {value}", tab.until(lambda: re.search(rf"^{value}\s*$", row(tab, "chapter"), re.M)), row(tab, "chapter"))
        checks.check("and the address says so", tab.until(f"new URLSearchParams(location.search).get('at') === 'r{value}'"), tab.address)
    tab.key("]")
    checks.check("] goes forward to 2", tab.until(lambda: re.search(r"^2\s*$", row(tab, "chapter"), re.M)), row(tab, "chapter"))
    for value in (3, 4, 5):
        tab.focus("As of", "slider")
        tab.key("ArrowRight")
        checks.check(f"the slider moves to {value}", tab.until(lambda: re.search(rf"^{value}\s*$", row(tab, "chapter"), re.M)),
                     (row(tab, "chapter"), tab.address))
    other = site.open("data/story?at=r3", name)
    checks.check("an address with a moment opens that moment", other.until(lambda: re.search(r"^3\s*$", row(other, "chapter"), re.M)), row(other, "chapter"))
    checks.check("which cannot be edited", not [one for one in other.named("Save", "button") if not one.get("disabled")])
    log = site.ask("GET", f"/admin/v1/data/log?ns={name}&path=/story&limit=50").json["commits"]
    wanted = next(one["time"] for one in log if one["revision"] == 3)
    then = max(one["revision"] for one in log if one["time"] <= wanted)
    other.fill("As of a time", "some day")
    other.key("Enter")
    checks.check("what is no time is marked, and goes nowhere", other.until("document.querySelector('.as-of form input').ariaInvalid === 'true'")
                 and "at=r3" in other.address, other.address)
    other.fill("As of a time", str(wanted))
    other.key("Enter")
    checks.check("a time leads to the commit that held then", other.until(
        lambda: re.search(rf"^{then}\s*$", row(other, "chapter"), re.M) and f"at=t{wanted}" in other.address), (row(other, "chapter"), other.address))
    for value in range(6, 70):
        site.write("story/chapter", value, namespace=name)
    site.go(other, "data/story?at=r3", name)
    other.click("Older", "button")
    checks.check("however many commits came since, there is an older one", other.until(lambda: re.search(r"^2\s*$", row(other, "chapter"), re.M)),
                 other.address)
    site.go(other, "data/story/chapter?tab=diff&at=r2&to=r5", name)
    told = lambda: other.value(SELECTED) or ""
    checks.check("two moments are compared", other.until(lambda: re.search(r"[-−]\s*(was\s*)?2\b", told()) and re.search(r"\+\s*(is\s*)?5\b", told())),
                 told())


def what_is_removed_comes_back(site, checks):
    site.write("gone", {"a": 1, "b": {"c": 2, "d": 3}})
    site.write("users/uma", {"name": "Uma", "referred_by": "ulf", "level": 4, "last_signin_at": 1767225600000})
    tab = site.open("data?sel=gone")
    tab.click("Remove", "button")
    checks.check("Remove asks, with the number of leaves", tab.shows(re.compile(r"\b3 (leaves|removed)\b")), tab.text)
    checks.check("and of events", tab.shows(re.compile(r"no event|\b0 events|events?: none", re.I)), tab.text)
    checks.check("nothing is removed before", site.read("gone/b/c") == 2)
    tab.fill(re.compile("Reason", re.I), "no longer wanted")
    tab.click("Remove gone", "button")
    checks.check("then it is gone", until(lambda: site.read("gone") is None))
    tab.click("Undo", "button")
    checks.check("Undo brings it back", until(lambda: site.read("gone") == {"a": 1, "b": {"c": 2, "d": 3}}), tab.text[-400:])
    checks.check("and says that coins stay", tab.shows(re.compile("coins.*stay", re.I | re.S)), tab.text[-400:])


# A minute passes when `kept` is called.
MINUTE = """window.kept = []; { const start = setTimeout.bind(window);
  window.setTimeout = (act, ms, ...rest) => (ms === 60000 ? (window.kept.push(act), 0) : start(act, ms, ...rest)); }"""


def undo_stays_for_a_minute(site, checks):
    site.write("brief", {"a": 1})
    tab = site.tab()
    tab.ask("Page.addScriptToEvaluateOnNewDocument", source=MINUTE)
    site.go(tab, "data?sel=brief")
    tab.click("Remove", "button")
    tab.fill(re.compile("Reason", re.I), "no longer wanted")
    tab.click("Remove brief", "button")
    checks.check("it is removed", until(lambda: site.read("brief") is None))
    checks.check("Undo is offered, and waits for a minute", bool(tab.find("Undo", "button")) and tab.until("window.kept.length > 0"), tab.text[-300:])
    # Other messages go after eight seconds.
    tab.stays(9)
    checks.check("it is still there after others have gone", bool(tab.named("Undo", "button")), tab.text[-300:])
    tab.value("window.kept.at(-1)()")
    checks.check("and gone when the minute is over", tab.until(lambda: not tab.named("Undo", "button")), tab.text[-300:])
    checks.check("what was removed stays so", site.read("brief") is None)


CHECKS = [
    why_bob_has_coins_by_keyboard, a_dead_letter_is_found_mended_and_paid_once, a_dry_run_changes_nothing, an_entry_is_reversed,
    integers_are_exact, a_commit_is_read, a_conflict_loses_nothing, the_past_is_shown, what_is_removed_comes_back,
    undo_stays_for_a_minute,
]
