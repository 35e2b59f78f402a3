"""Addresses: every state that is worth sending to a colleague opens from its address, Back and Forward walk through it, and a slow
network changes nothing about that.
"""

import re
import urllib.parse

from console import every_page, heading, is_ready


def every_address_opens_cold(site, checks):
    tab = site.tab()
    for page, (title, head, text) in every_page(site).items():
        try:
            site.go(tab, page)
        except RuntimeError as error:
            checks.check(f"{page} opens", False, str(error)[:600])
            continue
        said = heading(tab)
        checks.check(f"{page} opens with its heading", (said == head) if head else said and "cannot be shown" not in said, said, quiet=True)
        checks.check(f"{page} has its title", tab.until(lambda: tab.title.endswith(f" · {site.namespace} · Doubloon")
                     and (title or "") in tab.title), tab.title,
                     quiet=True)
        checks.check(f"{page} shows {text}", tab.shows(text), tab.text[-500:], quiet=True)
        checks.check(f"{page} keeps its address", urllib.parse.unquote(tab.address) == urllib.parse.unquote(site.address(page)), tab.address, quiet=True)
        complaints = tab.take_complaints()
        checks.check(f"{page} opens without a complaint", not complaints, complaints[:3], quiet=True)
    checks.check("every address was opened", True)
    site.go(tab, "data/users/bob?sel=level")
    chosen = "document.querySelector('[role=treegrid] [role=row][aria-selected=true]')?.innerText"
    checks.check("an address with a selection selects it", tab.until(f"{chosen}?.startsWith('level')"), tab.value(chosen))
    tab.open(site.base + "/console/n/" + site.namespace + "/nowhere")
    checks.check("an unknown address says so", tab.shows("There is no such page"), tab.text)


def walks(tab, step):
    """Back or forward, which may lead to another load of the page: the browser does it once it has answered."""
    tab.value(f"setTimeout(() => history.{step}())")


def back_and_forward(site, checks):
    tab = site.open("overview")
    seen = [("Overview", tab.address)]
    for name, head in (("Data", "/"), ("Events", "Events"), ("Rewards", "Rewards"), ("Accounts", "Accounts"), ("Rules", "Rules"),
                       ("Functions", "Functions"), ("Audit", "Audit"), ("Settings", "Settings")):
        tab.click(name, "link")
        checks.check(f"{name} opens from the rail", tab.until(lambda: heading(tab) == head), heading(tab))
        seen.append((head, tab.address))
    tab.value("window.isTheSamePage = true")
    for step, sign in (("back", -1), ("forward", 1)):
        order = list(reversed(seen[:-1])) if sign < 0 else seen[1:]
        for head, address in order:
            walks(tab, step)
            checks.check(f"{step} to {head}", tab.until(lambda: tab.address == address and heading(tab) == head), (tab.address, heading(tab)),
                         quiet=True)
    checks.check("Back and Forward walk through nine pages", tab.value("window.isTheSamePage === true"))
    site.go(tab, "events")
    before = tab.value("history.length")
    tab.fill(re.compile("^(Player|Path)"), "")
    tab.type("bob")
    typed = tab.until("location.search.includes('bob')")
    checks.check("what is typed into a filter comes into the address", typed, tab.address)
    checks.check("typing makes at most one entry of the history", tab.value("history.length") - before <= 1)
    walks(tab, "back")
    checks.check("Back leads away from it", tab.until(lambda: "bob" not in (tab.address or "bob")), tab.address)


def the_last_request_wins(site, checks):
    """Answers come late and in the wrong order."""
    site.write("users/dora", {"name": "Dora", "referred_by": "alice", "level": 4})
    site.write("users/dora/level", 5)
    tab = site.open("events")
    field = re.compile("^Player")
    tab.hold(r"/admin/v1/events\?.*uid=")
    tab.fill(field, "bob")
    tab.key("Enter")
    of = lambda uid: [one for one in tab.held if re.search(rf"uid={uid}\b", tab.held_at[one])]
    tab.until(lambda: of("bob"))
    tab.fill(field, "dora")
    tab.key("Enter")
    tab.until(lambda: of("dora"))
    first, last = of("bob"), of("dora")
    checks.check("a second filter asks again though the first answer has not come", first and last, (first, last))
    # What the field asks by itself before Enter asks the same, and is given up on.
    checks.check("the last filter's answer is shown", tab.until(lambda: tab.release(*of("dora")) or "/users/dora/level" in tab.text), tab.text[-600:])
    tab.release(*first)
    tab.release()
    tab.quiet()
    checks.check("a late answer to the first does not replace it", "/users/bob" not in rows(tab) and "/users/dora" in rows(tab), rows(tab))
    checks.check("nor the address", "dora" in tab.address and "uid=bob" not in tab.address, tab.address)
    tab.network(latency=400)
    # At once: a pointer would wait until the page before is there.
    tab.value("for (const name of ['rewards', 'functions', 'audit']) document.querySelector(`#rail a[data-page=${name}]`).click()")
    checks.check("on a slow network the last page that was asked for stays", tab.until(lambda: heading(tab) == "Audit") and
                 is_ready(tab) and heading(tab) == "Audit" and tab.address.endswith("/audit"), (heading(tab), tab.address))
    tab.network()


def rows(tab):
    return tab.value("document.querySelector('main').innerText")


CHECKS = [every_address_opens_cold, back_and_forward, the_last_request_wins]
