"""What readers of the page hear of a list that moves under them, and of what happens: rows with their numbers, none of them stale,
and sentences that do not come faster than they can be spoken."""

from console import heading, is_ready

EVENTS = 350
# The rows of the list that are drawn: number, event, and whether it has the focus.
ROWS = """[...document.querySelectorAll('main .wl-body [role=row]')].filter((e) => e.checkVisibility()).map((e) => [
  Number(e.getAttribute('aria-rowindex')), e.querySelector('[data-event]')?.dataset.event ?? '', e.contains(document.activeElement)])"""
# Each sentence that is spoken, with its time.
HEARD = """(() => { window.heard = []; new MutationObserver(() => window.heard.push([Math.round(performance.now()), document.getElementById('announcer').textContent]))
  .observe(document.getElementById('announcer'), {childList: true, characterData: true, subtree: true}) })()"""
PAUSE_MS = 4_950


def fills(site):
    site.ask("PATCH", f"/users.json?ns={site.namespace}&print=silent", {f"p{number:03}/last_signin_at": 1 for number in range(EVENTS)})
    site.admin("POST", "drain")


def newest_first(site):
    found, cursor = [], {}
    while len(found) < EVENTS:
        answer = site.admin("GET", "events", limit=100, **cursor)
        found += [one["id"] for one in answer["events"]]
        if "next" not in answer:
            break
        cursor = {"cursor": answer["next"]}
    return found


def rows_are_what_they_say(site, checks):
    fills(site)
    wanted = newest_first(site)
    checks.check(f"there are {EVENTS} events", len(wanted) == EVENTS, len(wanted))
    tab = site.open("events")
    grid = "document.querySelector('main [role=grid]')"

    def right():
        rows = tab.value(ROWS)
        return rows and all(event == wanted[number - 2] for number, event, _ in rows)

    at = lambda: next((number for number, _, is_at in tab.value(ROWS) if is_at), 0)
    checks.check("the first rows are the newest events, each with its number", tab.until(right), tab.value(ROWS)[:4])
    tab.value("document.querySelector('main .wl-body [role=row][tabindex=\"0\"]').focus()")
    most, seen = 0, [at()]
    for key in ["PageDown"] * 200:
        tab.quiet()
        tab.key(key)
        if not tab.until(lambda: at() > seen[-1], 10):
            # At the end of what has come so far a page down leads nowhere.
            if tab.value(f"{grid}.getAttribute('aria-rowcount')") != "-1":
                break
            continue
        seen.append(at())
        if not tab.until(right):
            checks.check("after PageDown every row is what its number says", False, (seen[-3:], tab.value(ROWS)[:4]))
        most = max(most, len(tab.value(ROWS)))
    checks.check("PageDown leads page by page to the oldest event", seen[0] == 2 and seen[-1] == EVENTS + 1 and len(seen) > 4, seen)
    checks.check("with at most 60 rows at a time", 0 < most <= 61, most)
    checks.check("then the list knows how many rows it has", tab.until(f"{grid}.getAttribute('aria-rowcount') === '{EVENTS + 1}'"),
                 tab.value(f"{grid}.getAttribute('aria-rowcount')"))
    for key, last in (("Home", 2), ("ArrowDown", 3), ("End", EVENTS + 1), ("ArrowUp", EVENTS), ("PageUp", None), ("Home", 2)):
        before = at()
        tab.key(key)
        checks.check(f"{key} leads to {last or 'a page above'}, past no stale row",
                     tab.until(lambda: at() == last if last else 2 < at() < before - 1) and tab.until(right), (at(), tab.value(ROWS)[:4]))
    hears(site, checks, tab)
    site.write("users/late/last_signin_at", 1)
    checks.check("what is new waits while somebody reads", tab.until("document.querySelector('.wl-news')?.checkVisibility() && "
                 "/^1 new/.test(document.querySelector('.wl-news').innerText)") and right(), tab.value(ROWS)[:4])
    tab.click("1 new", "button")
    wanted = newest_first(site)
    checks.check("and stands first when it is asked for, with every number moved", tab.until(right) and "/users/late/" in wanted[0], tab.value(ROWS)[:4])


def hears(site, checks, tab):
    """The accessibility tree has the rows that are drawn, and no other."""
    def told():
        nodes = [node for node in tab.ask("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
        return sorted(str(node.get("name", {}).get("value", "")) for node in nodes if node["role"]["value"] == "row" and "/users/" in str(node.get("name", {}).get("value", "")))
    drawn = lambda: sorted(event.split(":", 1)[1] for _, event, _ in tab.value(ROWS))
    same = tab.until(lambda: len(told()) == len(drawn()) and all(path in name for path, name in zip(drawn(), sorted(told(), key=lambda name: name[name.find("/users/"):]))))
    checks.check("a reader of the page hears the rows that are drawn, and no other", same, (told()[:3], drawn()[:3]))


def sentences_come_one_at_a_time(site, checks):
    tab = site.open("overview")
    tab.value(HEARD)
    heard = lambda: tab.value("window.heard")
    for name in ("Rewards", "Functions", "Audit"):
        tab.click(name, "link")
        tab.until(lambda: heading(tab) == name)
    is_ready(tab)
    for _ in range(5):
        tab.value("document.querySelector('main').focus()")
        tab.key("p")
    site.write("users/loud/last_signin_at", 1)
    checks.check("the last of many sentences is spoken", tab.until(lambda: heard() and heard()[-1][1] == "Live updates are paused"), heard())
    tab.stays(6)
    times = [time for time, _ in heard()]
    checks.check("and not more than one in five seconds", heard()[-1][1] == "Live updates are paused"
                 and all(later - before >= PAUSE_MS for before, later in zip(times, times[1:])), heard())
    checks.check("it is a polite one", tab.value("document.getElementById('announcer').getAttribute('aria-live') ?? document.getElementById('announcer').role") in ("polite", "status"))
    tab.value("document.querySelector('main').focus()")
    tab.key("p")
    checks.check("after a pause the next one comes", tab.until(lambda: heard()[-1][1] == "Live updates go on"), heard())


CHECKS = [rows_are_what_they_say, sentences_come_one_at_a_time]
