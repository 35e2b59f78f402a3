"""Who may use the console of a server in production, and for what: sign-in, the cookie, roles, and that no secret is written down."""

import base64
import json
import os
import re
import subprocess
import time
import urllib.parse

from console import heading, is_ready, pauses, refers
from console_hostile import asked
from production import TOKEN
from serving import free_port

PORT = free_port()
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"http://localhost:{PORT}"},
}
ROLES = ("viewer", "support", "admin")
PAGE = {"X-Doubloon-Console": "1"}


def is_key_entry(tab):
    return tab.find("Key", "textbox")


def signs_in(tab, key):
    is_key_entry(tab)
    tab.fill("Key", key)
    tab.click("Sign in", "button")


def cookie_of(tab, site):
    found = [one for one in tab.cookies(f"{site.base}/admin/v1/status") if "doubloon-console" in one["name"]]
    return found[0] if found else None


def access_token(site, role):
    """A service account's: its key signs what is exchanged for a token."""
    made = site.admin("POST", "service-accounts", {"name": f"the-{role}", "role": role, "server": site.base})
    key = next(value for value in made.values() if isinstance(value, dict) and "private_key" in value) if "private_key" not in made else made
    now = int(time.time())
    encoded = lambda value: base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).rstrip(b"=").decode()
    text = encoded({"alg": "RS256", "typ": "JWT", "kid": key["private_key_id"]}) + "." + encoded({
        "iss": key["client_email"], "aud": key["token_uri"], "iat": now, "exp": now + 3600,
        "scope": "https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/firebase.database"})
    path = os.path.join(site.folder, f"{role}.pem")
    with open(path, "w") as file:
        file.write(key["private_key"])
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", path], input=text.encode(), check=True, capture_output=True).stdout
    body = urllib.parse.urlencode({"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": f"{text}.{encoded(signature)}"})
    answer = asked(site.base + urllib.parse.urlsplit(key["token_uri"]).path, {"Content-Type": "application/x-www-form-urlencoded"}, "POST", body)
    token = json.loads(answer.body)["access_token"]
    site.secrets += [token] + [line for line in key["private_key"].splitlines() if len(line) > 40 and "-----" not in line]
    return token


def signing_in_wants_a_key(site, checks):
    refers(site)
    tab = site.tab()
    tab.open(site.address("rewards/u/bob"))
    is_key_entry(tab)
    checks.check("in production a key is asked for", "Sign in" in tab.text and "grantSignupReward" not in tab.text, tab.text[:300])
    asked_before = [one["url"] for one in tab.requests if "/admin/v1/" in one["url"] and "/session" not in one["url"]]
    checks.check("nothing else is asked before", not asked_before, asked_before)
    site.provoke(r"network: .* 401 ")
    signs_in(tab, "not-the-key-0123456789abcdef")
    checks.check("a wrong one is refused", tab.shows(re.compile("not known|not valid|no administrator", re.I)), tab.text[-300:])
    checks.check("without a cookie", cookie_of(tab, site) is None)
    signs_in(tab, TOKEN)
    checks.check("the right one opens the page that was asked for", tab.shows("grantSignupReward") and heading(tab) == "bob", tab.text[:400])
    cookie = cookie_of(tab, site)
    checks.check("there is a cookie", cookie is not None, tab.cookies(f"{site.base}/admin/v1/status"))
    site.secrets.append(cookie["value"])
    checks.check("that no script reads", cookie["httpOnly"] and tab.value("document.cookie") == "", cookie)
    checks.check("that other sites do not send", cookie.get("sameSite") == "Strict", cookie)
    checks.check("that goes over TLS only", cookie["secure"] is True, cookie)
    checks.check("and to the administrators' surface only", cookie["path"] == "/admin/v1", cookie)
    for path in ("/users.json", "/.ws", "/console/", "/healthz", "/v1/accounts:lookup"):
        checks.check(f"it is not sent to {path}", not [one for one in tab.cookies(site.base + path) if one["name"] == cookie["name"]], quiet=True)
    tab.requests.clear()
    tab.value("fetch('/users.json').then((r) => r.status)")
    checks.check("no secret is kept where scripts are", not any(secret in tab.value("JSON.stringify([{...localStorage}, {...sessionStorage}])")
                                                                 for secret in site.secrets))
    the_cookie_alone_does_nothing(site, checks, cookie)
    tab.click(re.compile("^Signed in as"), "button")
    tab.click("Sign out", "menuitem")
    checks.check("signing out asks for a key again", tab.shows("Sign in") and is_key_entry(tab), tab.text[:200])
    checks.check("and takes the cookie away", cookie_of(tab, site) is None)
    worn = status_of(with_cookie(site, cookie))("GET", "status")
    checks.check("which is worth nothing any more", worn == 401, worn)


def with_cookie(site, cookie, csrf=None):
    def ask(method, path, body=None, **headers):
        given = {"Cookie": f"{cookie['name']}={cookie['value']}", **PAGE, "Content-Type": "application/json", "X-Doubloon-CSRF": csrf,
                 "X-Forwarded-Proto": "https", **{name.replace("_", "-"): value for name, value in headers.items()}}
        given = {name: value for name, value in given.items() if value is not None}
        mark = "&" if "?" in path else "?"
        address = f"{site.base}/admin/v1/{path}" + ("" if "ns=" in path else f"{mark}ns={site.namespace}")
        return asked(address, given, method, None if body is None else json.dumps(body))
    return ask


def status_of(ask):
    return lambda *order, **headers: ask(*order, **headers).status


def csrf_of(site, cookie):
    answer = asked(f"{site.base}/admin/v1/session", {"Cookie": f"{cookie['name']}={cookie['value']}", **PAGE})
    return json.loads(answer.body)["csrf"]


def the_cookie_alone_does_nothing(site, checks, cookie):
    csrf = csrf_of(site, cookie)
    site.secrets.append(csrf)
    ask = status_of(with_cookie(site, cookie, csrf))
    order = {"name": "another-default-rtdb"}
    other = "http://localhost:1"
    tried = {
        "with everything it reads": (ask("GET", "status"), 200),
        "without the page's header it reads nothing": (ask("GET", "status", X_Doubloon_Console=None), 403),
        "from another port it reads nothing": (ask("GET", "status", Origin=other), 403),
        "from another site it reads nothing": (ask("GET", "status", Sec_Fetch_Site="cross-site"), 403),
        "from another port of this machine, either": (ask("GET", "status", Sec_Fetch_Site="same-site"), 403),
        "without the page's secret it changes nothing": (ask("POST", "ledger/reverse", {"sequence": 1, "reason": "x"}, X_Doubloon_CSRF=None), 403),
        "with a wrong secret, neither": (ask("POST", "ledger/reverse", {"sequence": 1, "reason": "x"}, X_Doubloon_CSRF="x" * 43), 403),
        "with the secret, but from another origin, neither": (ask("POST", "namespaces", order, Origin=other), 403),
        "nor under another name of this server": (ask("GET", "status", Host="evil.example"), 403),
    }
    for name, (status, wanted) in tried.items():
        checks.check(f"the cookie: {name}", status in (wanted, 421, 404) if "another name" in name else status == wanted, status)
    answer = asked(f"{site.base}/admin/v1/status?ns={site.namespace}", {"Cookie": f"{cookie['name']}={cookie['value']}", **PAGE})
    checks.check("no answer to it is for other origins", "access-control-allow-origin" not in answer.headers, answer.headers)
    tree = asked(f"{site.base}/users.json?ns={site.namespace}", {"Cookie": f"{cookie['name']}={cookie['value']}", **PAGE})
    checks.check("it opens no tree", tree.status == 401, tree.status)
    other_port = asked(f"{site.base}/admin/v1/status", {"Origin": other, "Access-Control-Request-Method": "POST",
                                                        "Access-Control-Request-Headers": "x-doubloon-console,x-doubloon-csrf"}, "OPTIONS")
    allowed = (other_port.headers.get("access-control-allow-headers") or "").lower()
    own = [name for name in ("x-doubloon-console", "x-doubloon-csrf") if name in allowed]
    checks.check("no other origin may add the page's headers", allowed and not own, allowed)


def roles_are_kept(site, checks):
    """Each role by its cookie: what the server refuses, and what the pages say."""
    for role in ROLES:
        tab = site.tab()
        tab.open(site.address("overview"))
        signs_in(tab, access_token(site, role))
        checks.check(f"a service account for {role} signs in", tab.until(lambda: heading(tab) == "Overview") and is_ready(tab), tab.text[:300])
        checks.check("the page says who that is", tab.shows(f"admin:the-{role}") and tab.shows(role), tab.text[:400])
        cookie = cookie_of(tab, site)
        csrf = csrf_of(site, cookie)
        site.secrets += [cookie["value"], csrf]
        every_route(site, checks, role, with_cookie(site, cookie, csrf))
        controls(site, checks, role, tab)
        checks.check(f"no window of {role} complains", *complaints(site))


def complaints(site):
    found = site.end_check()
    return not found, found[:4]


def patient(ask):
    """Asks again where the server wants a pause."""
    while (answer := ask()).status == 429:
        time.sleep(float(answer.headers.get("retry-after") or 1))
    return answer


# What would end the session that asks, or answers for as long as one listens.
APART = (("POST", "/admin/v1/session"), ("DELETE", "/admin/v1/session"), ("GET", "/admin/v1/live"))


def every_route(site, checks, role, ask):
    """Each route of the surface is refused to who has not its role, for that reason, and to nobody else."""
    rank = ROLES.index(role)
    wrong, refused, admitted = [], 0, 0
    for route in site.ask("GET", "/admin/v1").json:
        if route.get("role") not in ROLES or (route["method"], route["path"]) in APART:
            continue
        path = re.sub(r"\{[^}]*\}", "1", route["path"].removeprefix("/admin/v1/").removeprefix("/admin/v1"))
        # An order that says nothing is none: what may be asked for is refused by what is missing.
        answer = patient(lambda: ask(route["method"], path, {} if route["method"] != "GET" else None))
        is_refused = answer.status == 403 and b"role_needed" in answer.body
        if is_refused != (ROLES.index(route["role"]) > rank) or answer.status == 401 or answer.status >= 500 and answer.status != 501:
            wrong.append(f"{route['method']} {route['path']}: {answer.status} {answer.body[:80]}")
        refused, admitted = refused + is_refused, admitted + (not is_refused)
    checks.check(f"of {refused + admitted} routes the server refuses {role} the {refused} of higher roles, and no other", not wrong
                 and admitted > 40 and (refused > 10 or role == "admin"), wrong)


def nobody_gets_nothing(site, checks):
    wrong = []
    for route in site.ask("GET", "/admin/v1").json:
        if route.get("role") in ROLES:
            path = re.sub(r"\{[^}]*\}", "1", route["path"])
            status = patient(lambda: asked(site.base + path, {**PAGE, "Content-Type": "application/json"}, route["method"],
                                           None if route["method"] == "GET" else "{}")).status
            if status != 401:
                wrong.append(f"{route['method']} {route['path']}: {status}")
    checks.check("who shows neither cookie nor key gets none of them", not wrong, wrong)


def controls(site, checks, role, tab):
    """Pages with a control that takes support, and one that takes admin."""
    for page, name, needed in (("rewards/entry/1", r"^Reverse", "support"), ("rewards/u/bob", r"^Pay", "admin"), ("data", r"^Add", "admin"),
                               ("functions", r"^Pause", "support"), ("replays/new", r"^(Replay|Nothing to replay)", "support"), ("rules", r"^Save", "admin")):
        site.go(tab, page)
        found = tab.until(lambda: tab.named(re.compile(name), "button"))
        allowed = ROLES.index(role) >= ROLES.index(needed)
        if not found:
            checks.check(f"{page} has its control for {role}", False, f"no {name}: {tab.text[-300:]}")
        elif not allowed:
            checks.check(f"{role} finds \"{found[0]['name']}\" disabled, and why", found[0].get("disabled") and f"takes {needed}" in found[0]["name"], found[0])
        else:
            checks.check(f"{role} finds \"{found[0]['name']}\" without such words", f"takes {needed}" not in found[0]["name"], found[0])


def a_session_ends_with_its_credential(site, checks):
    tab = site.tab()
    tab.open(site.address("overview"))
    signs_in(tab, TOKEN)
    tab.until(lambda: heading(tab) == "Overview")
    is_ready(tab)
    sessions = site.admin("GET", "sessions")["sessions"]
    own = next(one for one in sessions if one["actor"] == "admin:ops")
    site.provoke(r"network: .* 401 ")
    # A window that is not live hears of it by the next thing that somebody does.
    pauses(tab)
    site.admin("DELETE", f"sessions/{own['id']}")
    tab.click("Audit", "link")
    checks.check("a session that was ended by another administrator asks for a key, over the page", bool(is_key_entry(tab)), tab.text[:300])
    signs_in(tab, TOKEN)
    checks.check("and goes on where it was", tab.until(lambda: heading(tab) == "Audit") and tab.shows("sessions.end"), tab.text[:500])


def nothing_secret_is_written_down(site, checks):
    text = "\n".join(site.lines) + json.dumps(site.admin("GET", "audit", limit=500))
    found = [secret[:6] + "…" for secret in site.secrets if secret in text]
    checks.check(f"log and audit hold none of {len(site.secrets)} keys, cookies and tokens", not found and len(site.secrets) > 8, found)
    actions = [one["action"] for one in site.admin("GET", "audit", limit=500)["actions"]]
    checks.check("signing in and out are recorded, failed attempts too", "session.open" in actions and "session.close" in actions, sorted(set(actions)))
    checks.check("the server logged something", len(site.lines) > 1, site.lines)


CHECKS = [signing_in_wants_a_key, roles_are_kept, nobody_gets_nothing, a_session_ends_with_its_credential, nothing_secret_is_written_down]
