"""Accounts and functions: what is made, changed, ended and erased by hand, what a function does meanwhile, and that all of it is on record."""

import csv
import io
import json
import re

from console import heading, is_ready, refers
from serving import until

MAIL = "carol@example.com"


def signed_up(site, email=MAIL):
    """A player who is signed in: the uid, and the tokens."""
    for method in ("signUp", "signInWithPassword"):
        answer = site.ask("POST", f"/v1/accounts:{method}?key=k", {"email": email, "password": "secret-1", "returnSecureToken": True})
    return answer.json["localId"], answer.json


def stands(site, uid):
    return site.ask("GET", f"/admin/v1/accounts/{uid}?ns={site.namespace}").json


def says_why(tab, reason, typed=None):
    tab.fill("Reason, for the record", reason)
    if typed:
        tab.fill(re.compile(r"^Type "), typed)


def an_account_is_made_and_changed(site, checks):
    refers(site)
    tab = site.open("accounts")
    tab.click("Create…", "button")
    tab.fill("E-mail", "dan@example.com")
    tab.fill("Password", "secret-2")
    tab.fill("Name", "Dan")
    says_why(tab, "asked by mail")
    tab.click("Create", "button")
    checks.check("a new account is shown", tab.until(lambda: heading(tab) == "Dan") and tab.shows("dan@example.com"), tab.text[:300])
    uid = tab.address.split("/")[-1]
    player = site.ask("POST", "/v1/accounts:signInWithPassword?key=k", {"email": "dan@example.com", "password": "secret-2"})
    checks.check("and its player signs in", player.status == 200 and player.json["localId"] == uid, player.text[:200])
    tab.click("Edit…", "button")
    tab.fill("Name", "Daniel")
    tab.click("The address is confirmed", "checkbox")
    says_why(tab, "by letter")
    tab.click("Save", "button")
    checks.check("a change is shown", tab.shows("dan@example.com (confirmed)") and tab.until(lambda: heading(tab) == "Daniel"), tab.text[:300])
    checks.check("and it is so, the rest as before", stands(site, uid)["emailVerified"] and stands(site, uid)["email"] == "dan@example.com")
    tab.click("Claims…", "button")
    for text, told in (("[1]", "Claims are an object"), ("{", "expected|unexpected|ends|no JSON"), ('{"sub": "x"}', "set by the server only")):
        tab.fill("Claims, as JSON", text)
        says_why(tab, "a trial")
        tab.click("Save", "button")
        if "sub" in text:
            site.provoke(r"network: .* 400 ")
        checks.check(f"the claims {text} are refused with the reason", tab.shows(re.compile(told, re.I)), tab.text[-300:])
    tab.fill("Claims, as JSON", '{"guild": "pirates", "best": 9007199254740993}')
    tab.click("Save", "button")
    checks.check("claims are saved, exactly", tab.until(lambda: "9007199254740993" in stands(site, uid).get("customAttributes", "")), stands(site, uid))
    is_ready(tab)


def accounts_are_listed_by_address(site, checks):
    for uid, address in (("a-uid", "xena@sorted.test"), ("b-uid", "amy@sorted.test"), ("c-uid", None)):
        site.admin("POST", "accounts", {"uid": uid, **({"email": address} if address else {}), "reason": "a list"})
    tab = site.open("accounts")
    uids = lambda: [uid for uid in tab.value("[...document.querySelectorAll('main tbody tr')].map((row) => row.cells[0].innerText.trim())") if "-uid" in uid]
    checks.check("accounts stand by uid", tab.until(lambda: uids() == ["a-uid", "b-uid", "c-uid"]), uids())
    site.go(tab, "accounts?sort=email")
    checks.check("or by address, those who have one", tab.until(lambda: uids() == ["b-uid", "a-uid"]), uids())
    checks.check("which the form says, and the command", tab.value("[...document.querySelectorAll('main select')].some((e) => e.value === 'email')")
                 and site.command("accounts", "list", "--sort", "email").count("sorted.test") == 2, tab.text[:300])


def an_account_is_found_ended_and_disabled(site, checks):
    uid, player = signed_up(site)
    tab = site.open("accounts")
    tab.fill("Uid, e-mail or number", "carol@")
    tab.click("Find", "button")
    tab.until(lambda: "q=carol" in tab.address)
    tab.click(uid, "link")
    checks.check("an account is found by the beginning of its address", tab.until(lambda: heading(tab) == MAIL), tab.text[:300])
    tab.click("Sessions", "tab")
    checks.check("its sessions are listed", tab.shows("password") and tab.shows("Last used"), tab.text[-300:])
    tab.click(re.compile("^End all sessions of"), "button")
    says_why(tab, "lost the telephone")
    tab.click(re.compile(f"^End all sessions of {uid}$"), "button")
    checks.check("all of them end", tab.shows("signed in nowhere"), tab.text[-300:])
    refreshed = site.ask("POST", "/v1/token?key=k", {"grant_type": "refresh_token", "refresh_token": player["refreshToken"]})
    checks.check("a signed-in client is out", refreshed.status == 400, refreshed.text[:200])
    tab.click("Disable…", "button")
    tab.click(re.compile("^Disable "), "button")
    checks.check("it is disabled", tab.until(lambda: stands(site, uid).get("disabled")) and tab.shows("disabled"))
    again = site.ask("POST", "/v1/accounts:signInWithPassword?key=k", {"email": MAIL, "password": "secret-1"})
    checks.check("nobody signs in to it", again.status == 400 and "DISABLED" in again.text, again.text[:200])
    tab.click("Enable…", "button")
    tab.click(re.compile("^Enable "), "button")
    checks.check("until it is enabled", bool(tab.until(lambda: not stands(site, uid).get("disabled"))))
    is_ready(tab)
    site.ask("POST", "/v1/accounts:sendOobCode?key=k", {"requestType": "PASSWORD_RESET", "email": MAIL})
    site.go(tab, f"accounts/{uid}?tab=codes")
    checks.check("in development its codes are shown", tab.shows("PASSWORD_RESET"), tab.text[-200:])


def players_are_merged_and_erased(site, checks):
    old, _ = signed_up(site, "old@example.com")
    new, _ = signed_up(site, "new@example.com")
    site.write(f"users/{old}", {"name": "Old", "referred_by": "alice", "level": 4})
    site.write(f"users/{old}/last_signin_at", 1767225600000)
    tab = site.open(f"accounts/{old}")
    tab.click("Merge…", "button")
    tab.fill("Into", "new@example.com")
    checks.check("a merge is previewed", tab.shows(re.compile("Coins that move\\s+.?.?50")), tab.text[-600:])
    says_why(tab, "two telephones", old)
    tab.click(re.compile("^Merge "), "button")
    checks.check("and done as previewed", bool(tab.until(lambda: site.coins(new) == 50 and site.coins(old) == 0)), (site.coins(new), site.coins(old)))
    is_ready(tab)
    site.go(tab, f"accounts/{new}")
    tab.click("Erase…", "button")
    checks.check("an erasure is previewed", tab.shows(re.compile("Coins taken back\\s+.?50")), tab.text[-600:])
    go = tab.find(re.compile("^Erase "), "button")
    checks.check("it wants the typed name", go.get("disabled") is True, go)
    says_why(tab, "asked for by mail", new)
    tab.click(re.compile("^Erase "), "button")
    gone = lambda: site.ask("GET", f"/admin/v1/accounts/{new}?ns={site.namespace}").status == 404
    checks.check("the account and the record go", bool(until(gone)) and not site.read(f"users/{new}"), site.read(f"users/{new}"))
    checks.check("who ordered it stays", tab.shows("asked for by mail"), tab.text[-300:])


def a_function_waits_and_is_run_by_hand(site, checks):
    tab = site.open("functions/rewardReferrals")
    tab.click("Pause…", "button")
    says_why(tab, "a look at the books")
    tab.click(re.compile("^Pause "), "button")
    checks.check("a function is paused", tab.shows("paused: a look at the books"), tab.text[-400:])
    site.ask("PUT", f"/users/gus.json?ns={site.namespace}", {"name": "Gus", "referred_by": "alice", "level": 4})
    site.ask("PUT", f"/users/gus/level.json?ns={site.namespace}", 5)
    before = site.coins("alice")
    until(lambda: site.admin("GET", "events", outcome="paused")["events"])
    site.go(tab, "functions/rewardReferrals")
    checks.check("its events wait, and are counted", tab.shows("1 paused"), tab.text[-500:])
    site.go(tab, "events?outcome=paused")
    checks.check("the log has them", tab.shows("/users/gus/level"), tab.text[-400:])
    site.go(tab, "functions/rewardReferrals")
    tab.click("Resume…", "button")
    tab.click(re.compile("^Resume "), "button")
    checks.check("resumed, they are done", bool(until(lambda: site.coins("alice") == before + 50)), site.coins("alice"))
    site.go(tab, "functions/rewardReferrals")
    checks.check("and none is left", tab.shows("0 paused"), tab.text[-400:])
    checks.check("how long its runs took is told", tab.shows(re.compile(r"half within \S+ .*95 of 100 within")), tab.text[-600:])
    site.go(tab, "events?outcome=done&uid=gus")
    checks.check("the log tells what they gave", tab.shows(re.compile(r"\+50\s+pieces_of_eight")), tab.text[-400:])
    site.go(tab, "functions/rewardReferrals?tab=invoke&path=/users/ivy/level&before=4&after=5")
    site.write("users/ivy", {"name": "Ivy", "referred_by": "alice", "level": 5})
    tab.click("Run…", "button")
    says_why(tab, "was missed")
    tab.click(re.compile("^Run rewardReferrals"), "button")
    checks.check("a run by hand shows what it did", tab.shows("/users/alice/inventory/pieces_of_eight") and tab.shows("It committed"), tab.text[-500:])
    checks.check("the coins are there", site.coins("alice") == before + 100, site.coins("alice"))
    checks.check("and it stands below, with who and why", tab.shows("was missed"), tab.text[-300:])


def saved_rows(tab):
    """What the page's CSV has, which is saved by its button."""
    tab.value("""(() => { window.saved = []; const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.saved.push(blob.text()); return make(blob) } })()""")
    tab.click("CSV", "button")
    text = tab.until("window.saved.length > 0 && Promise.all(window.saved).then((all) => all[0])")
    rows = list(csv.reader(io.StringIO(text)))
    return rows


def all_of_it_is_on_record(site, checks):
    signed_up(site, "zoe@example.com")
    tab = site.open("accounts?q=zoe@")
    rows = saved_rows(tab)
    checks.check("the accounts that are shown are saved as CSV", len(rows) == 2 and rows[0][0] == "uid" and rows[1][2] == "zoe@example.com", rows)
    taken = site.admin("GET", "audits", action="accounts.export")["actions"]
    checks.check("who took them along is on record", len(taken) == 1 and taken[0]["actor"] == "admin:owner", taken)
    made = site.admin("POST", "service-accounts", {"name": "looker", "role": "viewer", "server": site.base})
    checks.check("a viewer is made", "key" in made)
    site.ask("POST", f"/admin/v1/accounts?ns={site.namespace}", {"email": "none", "reason": "=cmd|' /C calc'!A0"})
    tab = site.open("audit")
    wanted = ("accounts.create", "accounts.update", "accounts.endSessions", "accounts.disable", "accounts.merge", "accounts.erase", "functions.pause",
              "functions.resume", "functions.invoke", "service-accounts.create")
    missing = [action for action in wanted if not tab.shows(action)]
    checks.check("the audit log shows all that was ordered", not missing, missing)
    site.go(tab, "audit?result=refused")
    checks.check("what was refused, too, with what was wrong", tab.shows("is no plain e-mail address"), tab.text[-400:])
    site.go(tab, "audit")
    rows = saved_rows(tab)
    unsafe = [cell for row in rows for cell in row if re.match(r"[=+\-@\t\r]", cell)]
    checks.check("the CSV has what the page has", {"accounts.erase", "functions.invoke"} <= {row[3] for row in rows}, rows[:2])
    checks.check("and no cell that a spreadsheet would run", not unsafe and any(cell.startswith("'=cmd") for row in rows for cell in row), unsafe[:3])
    audit = json.dumps(site.admin("GET", "audit", limit=500))
    checks.check("no password and no address is on record", not [one for one in ("secret-1", "secret-2", "dan@example.com", "zoe@") if one in audit])


CHECKS = [an_account_is_made_and_changed, accounts_are_listed_by_address, an_account_is_found_ended_and_disabled,
          players_are_merged_and_erased, a_function_waits_and_is_run_by_hand, all_of_it_is_on_record]
