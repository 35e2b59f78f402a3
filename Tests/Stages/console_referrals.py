"""Who brought whom: the order of all by what the ledger says, and a tree of three levels with a hundred and twenty players."""

from console import is_ready

REFERRED = 120


def populate(site):
    """alice brought 120, of whom p000 brought two, and the first of them one more; bob brought one, who earned more for him."""
    users = {"alice": {"name": "Alice"}, "bob": {"name": "Bob", "referred_by": "alice", "level": 1}}
    users |= {f"p{n:03}": {"referred_by": "alice", "level": 4 if n < 3 else 1} for n in range(REFERRED - 1)}
    users |= {"q0": {"referred_by": "p000", "level": 4}, "q1": {"referred_by": "p000", "level": 1}, "z0": {"referred_by": "q0", "level": 1},
              "solo": {"referred_by": "zoe", "level": 1}}
    site.write("users", users, "PATCH")
    for uid in ("p000", "p001", "p002", "q0"):
        site.write(f"users/{uid}/level", 5)


def the_order_is_the_ledgers(site, checks):
    populate(site)
    told = site.admin("GET", "referrals", limit=50)
    sums = {}
    for row in told["leaders"]:
        entries = site.admin("GET", "ledger/statement", account=f"user:{row['player']}", limit=1000)["entries"]
        sums[row["player"]] = sum(e["amount"] if e["credit"] == f"user:{row['player']}" else -e["amount"] for e in entries if e.get("subject"))
    coins = [row["coins"].get("pieces_of_eight", 0) for row in told["leaders"]]
    checks.check("the coins are the ledger's sums, the most first", coins == list(sums.values()) == sorted(coins, reverse=True)
                 and coins[:2] == [150, 50], (coins, sums))
    checks.check("alice has 120 referred, three of them at level 5", (told["leaders"][0]["player"], told["leaders"][0]["referred"],
                 told["leaders"][0]["reached"], told["complete"]) == ("alice", REFERRED, 3, True), told["leaders"][0])
    tab = site.open("rewards")
    rows = "[...document.querySelectorAll('.leaders tbody tr')].map((e) => e.cells[0].innerText)"
    checks.check("the page has that order", tab.until(lambda: tab.value(rows) == [row["player"] for row in told["leaders"]]), tab.value(rows))
    entry = site.admin("GET", "ledger/entries", key="level5/p001")["entries"][0]["sequence"]
    for uid in ("p001", "p002"):
        one = site.admin("GET", "ledger/entries", key=f"level5/{uid}")["entries"][0]["sequence"]
        site.admin("POST", "ledger/reverse", {"sequence": one, "reason": "a check"})
    told = site.admin("GET", "referrals")["leaders"]
    checks.check("reversals are taken off and told", told[0]["coins"]["pieces_of_eight"] == 50 and told[0]["reversed"] == {"pieces_of_eight": 100},
                 (entry, told[0]))
    before = site.admin("GET", "referrals")
    site.admin("POST", "replays", {"mode": "all", "reason": "a check"})
    site.admin("POST", "drain", {})
    checks.check("a replay of everything changes nothing", site.admin("GET", "referrals") == before)


def a_tree_of_three_levels_in_windows(site, checks):
    tab = site.open("rewards/u/alice?tab=tree")
    items = "document.querySelectorAll('.referrals > li').length"
    first = "document.querySelectorAll('.tab-panel .panel-body > .referrals > li').length"
    # Fifty of alice's, the two of p000 and the one of q0, and what shows more.
    checks.check("the first window has fifty", tab.until(f"{first} === 51"), tab.value(first))
    site_tree = site.admin("GET", "referrals/alice")
    checks.check("one answer goes three levels deep", sorted({row["depth"] for row in site_tree["referrals"]}) == [1, 2, 3], len(site_tree["referrals"]))
    site.go(tab, "rewards/u/p000?tab=tree")
    checks.check("up: who invited", tab.shows("alice →"), tab.text[:400])
    checks.check("down: two, and one of the first", tab.until(f"{items} === 3") and tab.shows("z0"), tab.text[-500:])
    site.go(tab, "rewards/u/alice?tab=tree")
    for count in (101, REFERRED):
        tab.click("50 more", "button")
        checks.check(f"the next window makes {min(count, REFERRED)}", tab.until(f"{first} === {count}"), tab.value(first))
    checks.check("nobody is told twice", tab.value(
        "(() => { const all = [...document.querySelectorAll('.referrals > li > a')].map((e) => e.innerText);"
        " return all.length === new Set(all).size })()") and is_ready(tab), tab.text[-300:])


CHECKS = [the_order_is_the_ledgers, a_tree_of_three_levels_in_windows]
