"""Rewards that wait for a person, and players who are owed something: reviewed, released, given back, paid from a table, each once."""

import os
import re
import tempfile
import threading

from console import heading, is_ready, refers
from console_reading import walks_to
from server import Connection, Down, Server
from serving import until

COMPENSATION = "/admin/v1/ledger/compensation?ns=cut"


def holds(site, **query):
    return site.admin("GET", "ledger/holds", limit=1000, **query)["holds"]


def hold(site, owner, amount, reason, key):
    order = {"from": "issuance:level5", "owner": owner, "amount": amount, "reason": reason, "key": key}
    return site.admin("POST", "ledger/holds", order)["entry"]["sequence"]


def confirms(tab, verb, reason):
    """Gives the reason and presses what says the deed, once the preview is there."""
    tab.fill(re.compile("^Reason"), reason)
    tab.click(verb, "button")


def a_hold_is_made_released_in_part_and_voided(site, checks):
    refers(site)
    tab = site.open("rewards/u/bob")
    tab.click(re.compile("^Hold"), "button")
    tab.fill("Amount", "40")
    tab.fill("From", "user:bob")
    checks.check("the preview of a hold says what is left", tab.shows(re.compile(r"50\s*→\s*10")), tab.text)
    confirms(tab, "Hold 40 for bob", "a purchase")
    checks.check("it is held", until(lambda: site.coins("bob") == 10) and is_ready(tab) and tab.shows("a purchase"), tab.text[:600])
    tab.click(re.compile("^Release"), "button")
    tab.fill("Amount", "41")
    checks.check("more than is held cannot be released", tab.shows("Release 41 to bob") and not tab.shows(re.compile(r"10\s*→\s*51"), 0.5))
    tab.fill("Amount", "15")
    checks.check("the preview of a part says what everybody has", tab.shows(re.compile(r"10\s*→\s*25")), tab.text[-600:])
    confirms(tab, "Release 15 to bob", "half of it")
    checks.check("a part is released, the rest goes back", until(lambda: site.coins("bob") == 50 and not holds(site)), holds(site))
    hold(site, "bob", 30, "invented?", "h/2")
    site.go(tab, "rewards/u/bob")
    tab.click(re.compile("^Give back"), "button")
    confirms(tab, "Give 30 back", "invented")
    checks.check("a hold is given back", until(lambda: not holds(site)) and site.coins("bob") == 50, holds(site))
    for repeated in (False, True):
        site.go(tab, "rewards/u/bob")
        tab.click(re.compile("^Pay"), "button")
        tab.fill("Amount", "7")
        tab.fill(re.compile("^Key"), "ticket/7")
        confirms(tab, "Pay 7 to bob", "ticket 7")
        checks.check("a payment under a used key says that it is repeated" if repeated else "a payment is made",
                     tab.shows(re.compile("Repeated: entry" if repeated else r"Entry \d+ was made")) and site.coins("bob") == 57, tab.text[-300:])


def what_waits_is_reviewed_by_keyboard(site, checks):
    numbers = [hold(site, f"r{number % 3}", 10 + number, "Daily limit" if number < 9 else "address", f"review/{number}") for number in range(12)]
    tab = site.open("rewards")
    walks_to(tab, "^Review$")
    tab.key("Enter")
    checks.check("Tab and Enter lead to what waits", tab.until("location.pathname.endsWith('/rewards/review')")
                 and tab.until(lambda: heading(tab) == "Review") and is_ready(tab) and tab.shows("12 holds"), tab.text[:500])
    rows = "[...document.querySelectorAll('main tbody tr td:nth-child(2)')].map((e) => Number(e.innerText.replaceAll(',', '')))"
    checks.check("oldest first", tab.until(lambda: tab.value(rows) == numbers), tab.value(rows))
    walks_to(tab, "^Reason has")
    tab.type("limit")
    tab.key("Enter")
    checks.check("filtered by reason", tab.until("location.search.includes('reason=limit')") and is_ready(tab) and tab.shows("9 holds match"), tab.text[:500])
    walks_to(tab, rf"^Choose hold {numbers[1]}$")
    tab.key(" ")
    tab.find(re.compile("^Give back chosen"), "button")
    tab.focus(re.compile("^Give back chosen"), "button")
    tab.key("Enter")
    checks.check("one that was chosen is looked at", tab.shows(re.compile(r"Holds\s+1\b")) and tab.shows("+11"), tab.text[-600:])
    tab.fill(re.compile("^Reason, for"), "invented")
    walks_to(tab, "^Give back 1 hold$")
    tab.key("Enter")
    checks.check("and given back", until(lambda: len(holds(site)) == 11) and is_ready(tab), len(holds(site)))
    rest = [one for one in holds(site) if "limit" in one["reason"]]
    coins = sum(one["amount"] for one in rest)
    tab.click(re.compile("^Release all that match"), "button")
    checks.check("all that match are looked at", tab.shows(re.compile(r"Holds\s+8\b")) and tab.shows(f"+{coins}"), tab.text[-600:])
    late = hold(site, "r9", 1, "limit", "review/late")
    confirms(tab, "Release 8 holds", "a school")
    checks.check("and released", tab.shows("8 holds released") and until(lambda: len(holds(site)) == 4), tab.text[-300:])
    checks.check("each to its player", until(lambda: sum(site.coins(f"r{number}") for number in range(3)) == coins))
    checks.check("what began to wait meanwhile still waits", late in [one["sequence"] for one in holds(site)])
    order = {"action": "release", "holds": [one["sequence"] for one in rest], "reason": "a school"}
    again = site.admin("POST", "ledger/holds/end", order)
    checks.check("asked again it answers the same, and nothing moves", again["repeated"] == 8 == len(again["ended"])
                 and sum(site.coins(f"r{number}") for number in range(3)) == coins, again)
    recorded = lambda: [one for one in site.admin("GET", "audit", limit=20)["actions"] if one["action"] == "ledger.holds.end"]
    checks.check("the audit log has all of it", until(lambda: len(recorded()) == 3 and "a school" in str(recorded()[0])), recorded()[:1])


def ends_by_command(site, checks):
    said = site.command("ledger", "holds", "void", "--all", "--why", "ADDRESS", "--dry-run")
    checks.check("a command looks first", "3 holds, 60 pieces_of_eight would be given back" in said and len(holds(site)) == 4, said)
    said = site.command("ledger", "holds", "void", "--all", "--why", "address", "--reason", "never confirmed", "--yes")
    checks.check("and ends all that match", "3 holds, 60 pieces_of_eight given back" in said and len(holds(site)) == 1, said)
    said = site.command("ledger", "accounts", "--prefix", "user:r")
    checks.check("accounts are listed", "user:r0" in said and "user:bob" not in said, said)
    said = site.command("ledger", "entries", "--code", "void", "--limit", "2")
    checks.check("entries of a code are listed, newest first", said.count(" void ") == 2 and "--before" in said, said)


def a_table_is_paid_once(site, checks):
    for name in ("ann", "ben"):
        site.write(f"users/{name}/name", name)
    tab = site.open("rewards/compensation")
    good = "account,amount,key,reason\r\nann,50,outage/ann,\"=cmd|' /C calc'!A1\"\r\nben,5,outage/ben,\r\n"

    def looks(table):
        tab.fill("Or the lines themselves", table)
        tab.click("Preview", "button")
        tab.shows("What it would do") and tab.quiet()

    looks(good + "ghost,1,outage/ghost,\nben,1e3,x,\nben,-1,y,\nann,9223372036854775808,z,\n")
    for column, line in (("amount", 5), ("amount", 6), ("amount", 7)):
        checks.check(f"line {line} is at fault", tab.shows(re.compile(rf"\b{line}\s+{column}\b")), tab.text[-900:])
    checks.check("and nothing can be paid", not tab.named(re.compile("^Pay 3"), "button"))
    looks(good + "ghost,1,outage/ghost,\n")
    checks.check("a player who is not known is named", tab.shows("Players without account and record: 1") and tab.shows("ghost"), tab.text[-900:])
    tab.click("Pay 3 lines…", "button")
    confirms(tab, "Pay 3 lines", "the outage")
    checks.check("and not paid unasked", tab.shows("Some players are not known") and site.coins("ann") == 0, tab.text[-400:])
    tab.key("Escape")
    looks(good)
    checks.check("the preview says how much", tab.shows(re.compile(r"Would be paid\s+2\b")) and tab.shows("+55"), tab.text[-900:])
    checks.check("what a spreadsheet would run is a text", tab.shows("=cmd|' /C calc'!A1"), tab.text[-900:])
    tab.click("Pay 2 lines…", "button")
    confirms(tab, "Pay 2 lines", "the outage")
    checks.check("it is paid", tab.shows("2 lines paid") and until(lambda: (site.coins("ann"), site.coins("ben")) == (50, 5)), tab.text[-300:])
    looks(good)
    checks.check("the same table again says that it was paid", tab.shows("Every line was paid before") and not tab.named(re.compile("^Pay "), "button"),
                 tab.text[-600:])
    with tempfile.NamedTemporaryFile("w", suffix=".csv", newline="") as file:
        file.write(good)
        file.flush()
        said = site.command("ledger", "compensate", file.name, "--reason", "other words")
    checks.check("so does the command", "Nothing was paid: all 2 lines had been paid before." in said and site.coins("ann") == 50, said)
    site.provoke(r"\b413\b|\b400\b")
    large = {"csv": "account,amount,key\n" + "ann,1,k\n" * 600_000}
    answer = site.ask("POST", f"/admin/v1/ledger/compensation/preview?ns={site.namespace}", large)
    checks.check("a table of 600,000 lines is refused, not read", answer.status == 200 and "larger than" in answer.text, answer.text[:200])


def cut_off(program, data, lines):
    """A server that is killed while it pays so many lines: what it was ordered, and the server that follows it."""
    table = "account,amount,key\n" + "".join(f"user:k{line % 7},3,cut/{line}\n" for line in range(lines))
    order = {"csv": table, "reason": "the outage", "allowUnknown": True}
    server = Server(program, "--data", data)
    port = server.await_address()

    def send():
        try:
            Connection(port, timeout=300).ask("POST", COMPENSATION, order)
        except Down:
            pass

    Connection(port).ask("PUT", "/begun.json?ns=cut", True)
    sender = threading.Thread(target=send)
    sender.start()
    looker = Connection(port)
    paid = lambda: looker.ask("GET", "/admin/v1/ledger/entries?ns=cut&before=9007199254740992&limit=1").json["entries"]
    until(lambda: (paid() or [{"sequence": 0}])[0]["sequence"] > 100)
    server.kill()
    sender.join()
    server = Server(program, "--data", data)
    return order, server, server.await_address()


def a_table_that_is_cut_off_goes_on(site, checks):
    """The server is killed while it pays; the same table, sent again, pays the rest and nothing twice."""
    with tempfile.TemporaryDirectory() as folder:
        # A server that was done before it was killed is given more to do.
        for lines in (3_000, 12_000, 30_000):
            order, server, port = cut_off(site.program, os.path.join(folder, f"data-{lines}"), lines)
            ask = lambda method, path, body=None: Connection(port, timeout=300).ask(method, path, body)
            before = ask("POST", COMPENSATION.replace("compensation", "compensation/preview"), order).json["repeated"]
            if before < lines:
                break
            server.stop()
        checks.check("the server was killed in the middle", 0 < before < lines, before)
        rest = ask("POST", COMPENSATION, order).json
        checks.check("the table goes on where it was", rest["repeated"] == before and rest["paid"] == lines - before, rest)
        answers = [ask("GET", f"/admin/v1/ledger/balance?ns=cut&account=user:k{one}").json["balance"] for one in range(7)]
        checks.check("everybody has been paid once", sum(answers) == 3 * lines, answers)
        sound = ask("GET", "/admin/v1/ledger/verify?ns=cut").json
        checks.check("the ledger is sound, with one entry for each line", sound["sound"] and sound["entries"] == lines, sound)
        again = ask("POST", COMPENSATION, order).json
        checks.check("a third time pays nothing", again["paid"] == 0 and again["repeated"] == lines, again)
        server.stop()


CHECKS = [
    a_hold_is_made_released_in_part_and_voided, what_waits_is_reviewed_by_keyboard, ends_by_command, a_table_is_paid_once,
    a_table_that_is_cut_off_goes_on,
]
