"""Ways in that need more than a key, and the end that comes to every session: the code of an authenticator, a key in the address,
and twelve hours after the sign-in."""

import base64
import hashlib
import hmac
import re
import struct
import time

from browser import Tab
from console import heading
from console_access import is_key_entry, signs_in
from production import TOKEN
from server import Connection, Server
from serving import free_port, until

PORT = free_port()
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"http://localhost:{PORT}"},
    "console": {"claim": "staff"},
}
PASSWORD, SECRET = "eight-pieces-1", base64.b32encode(b"a secret of twenty b").decode()
MINUTE = 60_000
TOUCH = "fetch('/admin/v1/session', {headers: {'X-Doubloon-Console': '1', 'X-Doubloon-Active': '1'}}).then((a) => a.status)"


def code_at(seconds):
    """What an authenticator shows (RFC 6238)."""
    digest = hmac.new(base64.b32decode(SECRET), struct.pack(">Q", int(seconds) // 30), hashlib.sha1).digest()
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at:at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def colleague(site, mail, has_authenticator):
    order = {"email": mail, "password": PASSWORD, "emailVerified": True, "claims": {"staff": "support"}, "reason": "joined the studio"}
    uid = site.admin("POST", "accounts", order)["localId"]
    if has_authenticator:
        change = {"localId": uid, "mfa": {"enrollments": [{"mfaEnrollmentId": "f1", "totpInfo": {"sharedSecretKey": SECRET}}]}}
        answer = site.ask("POST", "/identitytoolkit.googleapis.com/v1/projects/stage/accounts:update", change)
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {answer.text[:300]}")
    return uid


def comes_in(site, tab, mail):
    tab.open(site.address("overview"))
    is_key_entry(tab)
    tab.fill("E-mail", mail)
    tab.fill("Password", PASSWORD)
    tab.click("Sign in", "button")


def an_authenticator_is_asked_for(site, checks):
    site.secrets += [PASSWORD, SECRET]
    uid = colleague(site, "sue@example.com", True)
    colleague(site, "tom@example.com", False)
    site.provoke(r"network: .* 40[0134] ")
    tab = site.tab()
    comes_in(site, tab, "sue@example.com")
    checks.check("after the password the code is asked for", tab.shows("Now the code that the authenticator shows"), tab.text[-300:])
    field = tab.find("Code of the authenticator", "textbox")
    checks.check("its field is there, and has the focus", bool(field) and tab.until("document.activeElement?.autocomplete === 'one-time-code'"))
    right = code_at(time.time())
    tab.fill("Code of the authenticator", f"{(int(right) + 1) % 1_000_000:06}")
    tab.click("Sign in", "button")
    checks.check("a wrong code is refused", tab.shows(re.compile("INVALID|wrong", re.I)) and heading(tab) == "Sign in", tab.text[-300:])
    tab.fill("Code of the authenticator", code_at(time.time()))
    tab.click("Sign in", "button")
    checks.check("the right one opens the console", bool(tab.until(lambda: heading(tab) in ("Overview", "Start"))), tab.text[-400:])
    checks.check("as that user, with that role", tab.shows(f"user:{uid}") and tab.shows("support"), tab.text[:300])
    other = Tab(site.browser.chromium, site.browser.stranger())
    other.hosts = {f"localhost:{site.port}"}
    site.tabs.append(other)
    comes_in(site, other, "tom@example.com")
    checks.check("an account without a second factor is told that it needs one", other.shows(re.compile("second factor", re.I)), other.text[-400:])
    checks.check("and is not let in", heading(other) == "Sign in", heading(other))


def a_key_in_the_address_opens_it(site, checks):
    """And its session ends twelve hours later. In development with a token, for there the clock can be moved."""
    server = Server(site.program, "--in-memory", "--token")
    try:
        port = server.await_address()
        said = lambda: re.search(r"Console\s+(\S+#key=(\S{16,}))", "\n".join(server.lines))
        until(said)
        token = said().group(2)
        connection = Connection(port, token=token)
        connection.ask("PUT", "/users/alice.json?ns=demo-default-rtdb", {"name": "Alice"})
        tab = site.tab()
        tab.hosts = {f"localhost:{port}", f"127.0.0.1:{port}"}
        site.provoke(r"network: .* 40[134] ")
        tab.open(f"http://localhost:{port}/console/n/demo-default-rtdb/data/users#key=not-the-key-of-this-server")
        checks.check("a wrong key in the address is no way in", bool(is_key_entry(tab)), tab.text[:300])
        checks.check("and is gone from the address", "#" not in tab.value("location.href"), tab.value("location.href"))
        tab.open(said().group(1).replace("/console/", "/console/n/demo-default-rtdb/data/users"))
        checks.check("the address that the server prints opens the console", tab.until(lambda: "alice" in tab.text), tab.text[:300])
        checks.check("the key is taken out of it at once", "key" not in tab.value("location.href"), tab.value("location.href"))
        clock = lambda milliseconds: connection.ask("POST", "/admin/v1/clock", {"advance": milliseconds})
        session = lambda: tab.value("fetch('/admin/v1/session', {headers: {'X-Doubloon-Console': '1'}}).then((a) => a.json())")
        left = lambda: session()["until"] - connection.ask("GET", "/admin/v1/status").json["time"]
        steps = 0
        while left() > 100_000 and steps < 40:
            steps += 1
            clock(min(29 * MINUTE, left() - 90_000))
            checks.check("an active person stays signed in", tab.value(TOUCH) == 200, quiet=True)
        checks.check("for twelve hours", 12 * 60 <= 29 * steps < 13 * 60, steps)
        checks.check("two minutes before their end the page says so", tab.shows(re.compile("This session ends")), tab.text[:300])
        clock(95_000)
        checks.check("then a sign-in comes over the page", bool(is_key_entry(tab)) and heading(tab) == "users", (heading(tab), tab.text[:300]))
        signs_in(tab, token)
        checks.check("and the page goes on", tab.until("!document.querySelector('dialog[open]')") and tab.shows("alice"), tab.text[:300])
        connection.close()
    finally:
        server.stop()


CHECKS = [an_authenticator_is_asked_for, a_key_in_the_address_opens_it]
