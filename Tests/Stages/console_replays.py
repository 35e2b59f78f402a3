"""Many failures at once: chosen by a filter, looked at, replayed with brakes, closed without a run; and rows that are broken."""

import base64
import json
import re

from console import dies, is_ready, refers
from serving import until

COUNT = 200


def dead(site):
    return [one["event"] for one in site.admin("GET", "dead-letters", limit=1000)["deadLetters"]]


def replay(site, number):
    return site.admin("GET", f"replays/{number}")


def given(site, number):
    return replay(site, number)["progress"]["given"]


def number_of(tab):
    return int(tab.until(r"(/\/replays\/(\d+)/.exec(location.pathname) ?? [])[1]"))


def starts(tab, count, reason):
    tab.fill(re.compile("^Reason"), reason)
    tab.click(re.compile(rf"^Replay {count}"), "button")
    tab.click(re.compile(rf"^Replay {count} runs?$"), "button")
    found = number_of(tab)
    is_ready(tab)
    return found


def two_hundred_dead_letters_are_replayed(site, checks):
    other = dies(site, "zed", "yves")
    site.write("users/yara", {"name": "Yara", "inventory": {"pieces_of_eight": "none"}})
    names = [f"p{number:03}" for number in range(COUNT)]
    site.write("users", {name: {"name": name, "referred_by": "yara", "level": 4} for name in names}, "PATCH")
    site.write("users", {f"{name}/level": 5 for name in names}, "PATCH")
    checks.check("200 and 1 events were given up on", until(lambda: len(dead(site)) == COUNT + 1), len(dead(site)))
    site.write("users/yara/inventory/pieces_of_eight", 0)

    tab = site.open("events?outcome=dead&path=/users/*/level&reason=yara")
    tab.click(re.compile("^Replay these"), "link")
    checks.check("all that match the filter are chosen, on every page of it, and no other",
                 tab.until("location.pathname.endsWith('/replays/new')") and tab.shows(re.compile(rf"Would run\s+{COUNT}\b")), tab.text[-800:])
    checks.check("the preview says what they would pay", tab.shows(re.compile(rf"\+{50 * COUNT:,}")), tab.text[-800:])
    checks.check("nothing was paid before", site.coins("yara") == 0)
    tab.fill(re.compile("^Events a second"), "8")
    tab.until("new URLSearchParams(location.search).get('rate') === '8'") and tab.quiet()
    first = starts(tab, COUNT, "balance was a text")
    bar = "Number(document.querySelector('[role=progressbar]')?.getAttribute('aria-valuenow') ?? 0)"
    checks.check("it moves", tab.until(lambda: 0 < given(site, first) < COUNT), replay(site, first))
    tab.click("Pause", "button")
    checks.check("it pauses", until(lambda: replay(site, first)["state"] == "paused") and tab.shows(re.compile("paused")), tab.text[:600])
    at = given(site, first)
    checks.check("with a part of it given", 0 < at < COUNT, at)
    checks.check("the page says how many", tab.until(lambda: re.search(rf"Given\s+{given(site, first)}\b", tab.text)), tab.text[:600])
    at = given(site, first)
    tab.click("Resume", "button")
    checks.check("it goes on", until(lambda: given(site, first) > at), replay(site, first))
    tab.click(re.compile("^Cancel"), "button")
    tab.click("End it", "button")
    checks.check("it ends when it is told to", until(lambda: replay(site, first)["state"] == "cancelled") and tab.shows("cancelled"), tab.text[:600])
    checks.check("the bar is where it ended", tab.until(f"{bar} < 100 || document.querySelector('[role=progressbar]').hidden"))
    checks.check("what was given is paid", until(lambda: site.coins("yara") == 50 * given(site, first)), (site.coins("yara"), replay(site, first)))
    part = given(site, first)
    items = site.admin("GET", f"replays/{first}/items", limit=1000)["items"]
    checks.check("and stands among its items", len(items) == part and len({one["event"] for one in items}) == part, (len(items), part))
    tab.reload()
    is_ready(tab)
    checks.check("on the page, too", tab.until(f"document.querySelector('[role=grid]').getAttribute('aria-rowcount') >= {min(part, 100)}"))

    site.go(tab, "replays/new?mode=failed&error=yara")
    rest = COUNT - part
    checks.check("a second one finds the rest", tab.shows(re.compile(rf"Would run\s+{rest}\b")), tab.text[-800:])
    second = starts(tab, rest, "the rest of it")
    checks.check("and comes to its end", until(lambda: replay(site, second)["state"] == "done", 180), replay(site, second))
    checks.check("every reward was paid once", until(lambda: site.coins("yara") == 50 * COUNT), site.coins("yara"))
    said = replay(site, second)["progress"]
    checks.check("its coins are those that the preview said", said["coins"].get("pieces_of_eight") == 50 * rest and said["given"] == rest, said)
    checks.check("the failure of another player is left", dead(site) == [other], dead(site)[:3])
    checks.check("the ledger is sound", site.admin("GET", "ledger/verify")["sound"])


def a_dry_run_shows_everything(site, checks):
    refers(site)
    state = lambda: (site.admin("GET", "namespaces")["namespaces"], site.admin("GET", "ledger/entries", limit=1000)["entries"],
                     site.admin("GET", "replays"), dead(site))
    site.write("users/yves/inventory/pieces_of_eight", 0)
    before = state()
    tab = site.open("replays/new?mode=all&function=rewardReferrals&uid=zed")
    tab.click("Dry run", "button")
    checks.check("the tree's difference is shown", tab.shows("/users/yves/inventory/pieces_of_eight"), tab.text[-800:])
    tab.click(re.compile("^Entries"), "tab")
    checks.check("and the entries", tab.shows("level5/zed"), tab.text[-800:])
    tab.click(re.compile("^Runs"), "tab")
    checks.check("and the runs", tab.shows(re.compile(r"done")), tab.text[-800:])
    tab.open(tab.address)
    checks.check("its address shows the same to somebody else", tab.until("document.querySelector('[aria-label=\"Dry run\"] [role=tab][aria-selected=true]')"
                 "?.innerText.startsWith('Runs')") and tab.shows("/users/zed/level"), (tab.address, tab.text[-600:]))
    site.go(tab, "replays/new?mode=all&function=rewardReferrals&uid=bob")
    tab.click("Dry run", "button")
    tab.click(re.compile("^Divergences"), "tab")
    checks.check("and what would end otherwise today: nothing", tab.shows(re.compile(r"[1-9]\d* runs? compared with today: no difference")), tab.text[-800:])
    checks.check("revision, ledger, replays and dead letters are as before", state() == before)


def a_filter_that_no_replay_has_starts_none(site, checks):
    tab = site.open("events?attempt=2")
    checks.check("what a replay cannot choose by is said", tab.shows("No replay by attempts") and not tab.named(re.compile("^Replay these"), "link"), tab.text[:300])
    site.go(tab, "events?outcome=done")
    checks.check("what was handled is not replayed", tab.shows("No replay by outcome done"), tab.text[:300])


def a_dead_letter_is_closed(site, checks):
    event = dead(site)[0]
    tab = site.open(f"event/{event}")
    tab.click(re.compile("^Acknowledge"), "button")
    tab.fill(re.compile("^Reason"), "a test account")
    tab.click("Close 1 dead letter", "button")
    checks.check("a dead letter is closed without a run", until(lambda: not dead(site)) and tab.shows("skipped"), tab.text[:800])
    checks.check("nobody was paid for it", site.coins("yves") == 0)
    checks.check("the audit log says why", until(lambda: "a test account" in json.dumps(site.admin("GET", "audit", limit=10))))


def news_waits_while_somebody_reads(site, checks):
    tab = site.open("events")
    tab.value("document.querySelector('[role=grid] [role=row][tabindex=\"0\"]').focus()")
    first = tab.value("document.querySelector('.wl-body [role=row]').innerText")
    site.write("users", {f"n{number:02}/last_signin_at": 1767225600000 for number in range(38)}, "PATCH")
    tab.find(re.compile(r"^38 new$"), "button")
    checks.check("rows do not move under the focus", tab.value("document.querySelector('.wl-body [role=row]').innerText") == first)
    tab.click(re.compile(r"^38 new$"), "button")
    checks.check("38 new ones come when they are asked for", tab.shows("/users/n37/last_signin_at"), tab.text[:600])
    total = site.admin("GET", "events/histogram", buckets=60)
    checks.check("and says how many were counted", tab.shows(re.compile(r"[\d,]+ events? counted")) and total["scanned"] >= 38, total["scanned"])


def one_broken_row_is_one_broken_row(site, checks):
    """As a newer or an older server might send it."""
    pages = {
        "events": ("events", "events?", lambda answer: answer["events"], "/users/n36/last_signin_at"),
        "rewards/entries": ("ledger/entries", "ledger/entries?", lambda answer: answer["entries"], "level5"),
        "replays": ("replays", "replays?", lambda answer: answer["replays"], "balance was a text"),
    }
    for page, (route, pattern, rows, sound) in pages.items():
        query = {"before": 9007199254740991} if page == "rewards/entries" else {}
        answer = site.admin("GET", route, limit=50, **query)
        rows(answer)[0] = {"id": "?", "sequence": "?", "kind": {"odd": True}, "time": "?", "amount": None}
        answer.pop("next", None)
        tab = site.tab()
        tab.hold(rf"/admin/v1/{re.escape(pattern)}")
        tab.ask("Page.navigate", url=site.address(page))
        body = base64.b64encode(json.dumps(answer).encode()).decode()
        headers = [{"name": "Content-Type", "value": "application/json"}]

        def answered():
            while tab.held:
                try:
                    tab.ask("Fetch.fulfillRequest", requestId=tab.held.pop(), responseCode=200, responseHeaders=headers, body=body)
                except RuntimeError:
                    pass  # the page gave up on it, and asks again
            return "✕" in tab.text and sound in tab.text

        shown = tab.until(answered)
        checks.check(f"a broken row of {page} shows itself as broken, the others as ever", shown, tab.text[-600:])
        tab.release()


CHECKS = [
    two_hundred_dead_letters_are_replayed, a_dry_run_shows_everything, a_filter_that_no_replay_has_starts_none, a_dead_letter_is_closed,
    news_waits_while_somebody_reads, one_broken_row_is_one_broken_row,
]
