"""How people come in to the console of a server in production, and how they are out again: key files, accounts with a role, revoked and
disabled credentials, several windows, the clock; and that what cannot be undone wants the credential once more."""

import json
import os
import re

from browser import Tab
from console import heading, is_ready, pauses
from console_access import cookie_of, csrf_of, is_key_entry, signs_in, status_of, with_cookie
from production import TOKEN
from server import Connection, Server
from serving import free_port, until

PORT = free_port()
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"http://localhost:{PORT}"},
    "console": {"claim": "staff", "requireSecondFactor": False},
}
MAIL, PASSWORD = "sue@example.com", "eight-pieces-1"
MINUTE = 60_000


def chooses(tab, path):
    """Chooses a file in the dialog's field for it."""
    root = tab.ask("DOM.getDocument")["root"]["nodeId"]
    node = tab.ask("DOM.querySelector", nodeId=root, selector="dialog input[type=file]")["nodeId"]
    tab.ask("DOM.setFileInputFiles", nodeId=node, files=[path])


def somebody_else(site):
    """A window of another person, who is not signed in."""
    tab = Tab(site.browser.chromium, site.browser.stranger())
    tab.hosts = {f"localhost:{site.port}"}
    tab.emulate("light", (1280, 800), True)
    site.tabs.append(tab)
    return tab


def written(site, name, text):
    path = os.path.join(site.folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def in_settings_a_key_file_is_made_once(site, checks):
    """An administrator makes a service account; its key file is shown once, and a colleague signs in with it until it is revoked."""
    tab = site.tab()
    tab.open(site.address("settings?tab=access"))
    signs_in(tab, TOKEN)
    tab.click("Make…", "button")
    tab.fill("Name", "watcher")
    tab.click(re.compile("^Make watcher"), "button")
    tab.find(re.compile("^Save watcher.json"), "button")
    text = tab.value("document.querySelector('dialog pre').textContent")
    key = json.loads(text)
    site.secrets += [line for line in key["private_key"].splitlines() if len(line) > 40 and "-----" not in line]
    checks.check("the key file of a new service account is shown", key["type"] == "service_account" and "watcher" in key["client_email"], text[:60])
    tab.click("I have saved it", "button")
    checks.check("and nowhere again", tab.shows("watcher") and "PRIVATE KEY" not in tab.value("document.documentElement.outerHTML"))
    path = written(site, "watcher.json", text)
    colleague = somebody_else(site)
    colleague.open(site.address("overview"))
    is_key_entry(colleague)
    chooses(colleague, written(site, "other.json", '{"type": "authorized_user"}'))
    colleague.click("Sign in", "button")
    checks.check("another file is none", colleague.shows("not the key file of a service account"), colleague.text[-300:])
    colleague.requests.clear()
    chooses(colleague, path)
    colleague.click("Sign in", "button")
    checks.check("the page signs with the file and is in, as a viewer", colleague.until(lambda: heading(colleague) == "Overview")
                 and colleague.shows("admin:watcher") and colleague.shows("viewer"), colleague.text[:300])
    sent = [one for one in colleague.requests if one["method"] == "POST"]
    bodies = [colleague.ask("Network.getRequestPostData", requestId=one["id"])["postData"] for one in sent if "/token" in one["url"] or "/session" in one["url"]]
    checks.check("the key itself was not sent", len(bodies) == 2 and not [secret for secret in site.secrets[1:] if any(secret in body for body in bodies)], len(bodies))
    site.secrets += [json.loads(bodies[-1])["key"]]
    site.provoke(r"network: .* 401 ")
    pauses(colleague)
    site.command("service-account", "revoke", "watcher", "--reason", "left the studio")
    colleague.click("Audit", "link")
    checks.check("once it is revoked, the next request asks for a credential", bool(is_key_entry(colleague)), colleague.text[:300])


def a_forged_key_file_is_refused(site, checks):
    """The file of an account of the same name, with another key."""
    made = site.admin("POST", "service-accounts", {"name": "forged", "role": "admin", "server": site.base})["key"]
    site.command("service-account", "revoke", "forged")
    tab = site.tab()
    tab.open(site.address("overview"))
    is_key_entry(tab)
    site.provoke(r"network: .* 400 ")
    chooses(tab, written(site, "forged.json", json.dumps(made)))
    tab.click("Sign in", "button")
    checks.check("the key file of a revoked account is refused in words", tab.shows("may have been revoked"), tab.text[-300:])
    checks.check("without a cookie", cookie_of(tab, site) is None)


def account_of(site):
    found = site.admin("GET", "accounts", q=MAIL)["accounts"]
    if found:
        return found[0]["localId"]
    order = {"email": MAIL, "password": PASSWORD, "claims": {"staff": "support"}, "reason": "joined the studio"}
    site.secrets.append(PASSWORD)
    return site.admin("POST", "accounts", order)["localId"]


def comes_in(site, tab, page="overview"):
    tab.open(site.address(page))
    is_key_entry(tab)
    tab.fill("E-mail", MAIL)
    tab.fill("Password", PASSWORD)
    tab.click("Sign in", "button")


def accounts_with_a_role_sign_in(site, checks):
    uid = account_of(site)
    tab = site.tab()
    site.provoke(r"network: .* 40[01] ")
    tab.open(f"{site.base}/console/sign-in?to=" + "/console/n/" + site.namespace + "/audit")
    is_key_entry(tab)
    tab.fill("E-mail", MAIL)
    tab.fill("Password", "not-the-password")
    tab.click("Sign in", "button")
    checks.check("a wrong password is refused", tab.shows(re.compile("INVALID|wrong|not known", re.I)), tab.text[-200:])
    tab.fill("Password", PASSWORD)
    tab.click("Sign in", "button")
    checks.check("an account with a role signs in, and is where it wanted to be", tab.until(lambda: heading(tab) == "Audit"), tab.text[:300])
    checks.check("as that user, with that role", tab.shows(f"user:{uid}") and tab.shows("support"), tab.text[:300])
    for number, (method, path, body) in enumerate((("POST", f"accounts/{uid}/disable", {}), ("PATCH", f"accounts/{uid}", {"claims": {"staff": "viewer"}}),
                                                   ("DELETE", f"accounts/{uid}/sessions", None))):
        if number:
            tab = site.tab()
            comes_in(site, tab)
            tab.until(lambda: heading(tab) == "Overview")
        is_ready(tab)
        site.admin(method, path, body)
        checks.check(f"{method} {path.split('/')[-1] if number != 1 else 'of the claim'}: its stream ends, and a credential is asked for",
                     bool(is_key_entry(tab)), tab.text[:200])
        site.admin("POST", f"accounts/{uid}/enable", {})
        site.admin("PATCH", f"accounts/{uid}", {"claims": {"staff": "support"}})


def the_way_on_leads_nowhere_else(site, checks):
    tab = site.tab()
    for number, way in enumerate(("//evil.example/x", "https://evil.example/", "javascript:alert(1)", "/users.json", "/console/../admin/v1", "http://[")):
        tab.open(f"{site.base}/console/sign-in?to={way}")
        if number == 0:
            signs_in(tab, TOKEN)
        checks.check(f"from the sign-in nobody is led to {way}", tab.until(lambda: re.search("overview|start", tab.address)) and tab.address.startswith(site.base + "/console/n/"),
                     tab.address, quiet=True)
    checks.check("the way on after a sign-in stays in the console", True)


def signing_out_ends_every_window(site, checks):
    first = site.tab()
    first.open(site.address("overview"))
    signs_in(first, TOKEN)
    first.until(lambda: heading(first) == "Overview")
    is_ready(first)
    second = site.open("audit")
    cookie = cookie_of(second, site)
    site.secrets += [cookie["value"], csrf_of(site, cookie)]
    site.provoke(r"network: .* 401 ")
    second.click(re.compile("^Signed in as"), "button")
    second.click("Sign out", "menuitem")
    checks.check("signing out in one window asks in the other, too", bool(is_key_entry(first)) and bool(is_key_entry(second)), first.text[:200])
    checks.check("and the cookie is worth nothing", status_of(with_cookie(site, cookie))("GET", "status") == 401)


def the_clock_ends_sessions(site, checks):
    """In development with a token of its own, for there the clock can be moved."""
    server = Server(site.program, "--in-memory", "--token")
    try:
        port = server.await_address()
        said = lambda: re.search(r"Admin key\s+(\S{16,})", "\n".join(server.lines))
        until(said)
        token = said().group(1)
        connection = Connection(port, token=token)

        def admin(method, path, body=None):
            answer = connection.ask(method, f"/admin/v1/{path}", body)
            if answer.status != 200:
                raise RuntimeError(f"{method} {path}: {answer.status} {answer.text[:200]}")
            return answer.json

        admin("POST", "namespaces", {"name": "demo-default-rtdb"})
        uid = admin("POST", "accounts", {"email": "ann@example.com"})["localId"]
        tab = site.tab()
        tab.hosts = {f"localhost:{port}"}
        site.provoke(r"network: .* 40[134] ")
        tab.open(f"http://localhost:{port}/console/n/demo-default-rtdb/accounts/{uid}")
        signs_in(tab, token)
        tab.find("Delete…", "button")
        for _ in range(2):
            admin("POST", "clock", {"advance": 16 * MINUTE})
            tab.click("Sessions", "tab")
            tab.shows("signed in nowhere")
            tab.quiet()
            tab.click("Account", "tab")
        tab.click("Delete…", "button")
        tab.fill("Reason, for the record", "asked for it")
        tab.fill(re.compile(r"^Type "), uid)
        tab.click(re.compile("^Delete "), "button")
        checks.check("what cannot be undone wants the credential again after half an hour", tab.shows("Show your credential again"), tab.text[-400:])
        checks.check("nothing was done meanwhile", bool(admin("GET", f"accounts/{uid}")))
        signs_in(tab, token)
        checks.check("then it is done, with what was typed", bool(until(lambda: connection.ask("GET", f"/admin/v1/accounts/{uid}").status == 404)), tab.text[-300:])
        row = admin("GET", "audits?action=accounts.delete&result=ok")["actions"][0]
        checks.check("and on record with its reason", row["detail"].get("reason") == "asked for it", row)
        # What a page asks for within five seconds of an input counts as a person's.
        tab.value("new Promise((done) => setTimeout(done, 5500))")
        left = admin("GET", "sessions")["sessions"][0]["until"] - admin("GET", "status")["time"]
        checks.check("the session is the new one, and would last half an hour", 29 * MINUTE < left <= 30 * MINUTE, left)
        admin("POST", "clock", {"advance": left - 90_000})
        checks.check("two minutes before an idle session ends the page says so", tab.shows(re.compile("You will be signed out")), tab.text[:300])
        admin("POST", "clock", {"advance": 95_000})
        checks.check("live updates do not keep it: a credential is asked for", bool(is_key_entry(tab)), tab.text[:300])
        checks.check("there is no session left", admin("GET", "sessions")["sessions"] == [])
        connection.close()
    finally:
        server.stop()


def nothing_secret_is_written_down(site, checks):
    audit = json.dumps(site.admin("GET", "audit", limit=500))
    text = "\n".join(site.lines) + audit
    found = [secret[:6] + "…" for secret in site.secrets if secret in text]
    checks.check(f"log and audit hold none of {len(site.secrets)} keys, cookies, passwords and tokens", not found and len(site.secrets) > 20, found)
    checks.check("nor the address of the account that was made", MAIL not in audit, MAIL)
    actions = {one["action"] for one in site.admin("GET", "audit", limit=500)["actions"]}
    wanted = {"session.open", "session.close", "accounts.create", "accounts.update", "accounts.endSessions", "service-accounts.create", "service-accounts.revoke"}
    checks.check("who came and who was sent away is on record", wanted <= actions, sorted(wanted - actions))


CHECKS = [in_settings_a_key_file_is_made_once, a_forged_key_file_is_refused, accounts_with_a_role_sign_in, the_way_on_leads_nowhere_else,
          signing_out_ends_every_window, the_clock_ends_sessions, nothing_secret_is_written_down]
