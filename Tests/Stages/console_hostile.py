"""What strangers write into the tree is shown as text and does nothing; what somebody manages to put into a page is stopped.

Markup, addresses, control characters and large texts are in keys, values, names and reasons of every page. What must not happen
sets `window.pwned`, opens a dialog, or asks another host; the stage watches for the latter two by itself.
"""

import http.client
import http.server
import json
import re
import threading
import urllib.parse

from console import heading

MARKUP = '<img src=x onerror="window.pwned=1">'
VALUES = {
    "markup": MARKUP, "image": '<img src="https://evil.example/x.png">', "script": "</script><script>window.pwned=1</script>",
    "address": "javascript:window.pwned=1", "link": "https://evil.example/?a=<b>", "template": "{{7*7}}${7*7}<%= 7*7 %>",
    "bidi": "abc\u202etxt.exe\u2066\u200b\u0000\u001b[31m", "formula": "=cmd|' /C calc'!A0", "quotes": "'\"`\\", "large": "<b>" + "x" * 1_000_000,
    "deep": {"a": {"b": {"c": MARKUP}}}, "emoji": "\U0001f3f4\u200d\u2620\ufe0f", "style": '<style>*{display:none}</style>',
}
KEYS = ["__proto__", "constructor", "toString", "<img src=x onerror=pwned=1>", "<script>pwned=1", "javascript:pwned=1",
        "{{7*7}}", "a\u202egnp", "'\"`", "-5", "10", "&lt;b&gt;", "%2e%2e", "\U0001f3f4\u200d\u2620\ufe0f", "k" * 700]
UID = "<img src=x onerror=pwned=1>"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
HEADERS = {
    "content-security-policy": POLICY, "x-frame-options": "DENY", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
}


def quoted(text):
    return urllib.parse.quote(text, safe="")


def fill(site):
    site.write("hostile/values", VALUES)
    for number, key in enumerate(KEYS):
        site.write(f"hostile/keys/{key}", {"polluted": True} if key == "__proto__" else number)
    # An escape that stands for half a character is refused, or kept: it must not break a page.
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    connection.request("PUT", f"/hostile/half.json?ns={site.namespace}", b'"a\\ud800b"', {"Authorization": "Bearer owner"})
    connection.getresponse().read()
    site.write(f"users/{UID}", {"name": MARKUP, "referred_by": "__proto__", "level": 4})
    site.write("users/__proto__", {"name": "constructor"})
    site.write(f"users/{UID}", {"last_signin_at": 1767225600000}, "PATCH")
    site.write(f"users/{UID}/level", 5)
    signed = site.ask("POST", "/v1/accounts:signUp?key=k", {"email": "a@example.com", "password": "secret-1", "displayName": MARKUP}).json
    site.admin("POST", "replays", {"mode": "failed", "reason": MARKUP + "\u202e"})
    return signed["localId"]


def hostile_values_are_text(site, checks):
    account = fill(site)
    events = site.admin("GET", "events", limit=50)["events"]
    event = next(one["id"] for one in events if one["path"].endswith("/level"))
    pages = [
        "overview", "data", "data/hostile/values", "data/hostile/keys", "data/hostile/keys/__proto__", "data/hostile/values?tab=json",
        "data/hostile?tab=history", "data/hostile/values?tab=diff", f"data/users/{quoted(UID)}", "events", f"event/{urllib.parse.quote(event)}",
        f"events?uid={quoted(UID)}&path={quoted(MARKUP)}", "replays", f"replays/1?x={quoted(MARKUP)}", "rewards", f"rewards/u/{quoted(UID)}",
        f"rewards/u/{quoted(UID)}?tab=statement", "rewards/u/__proto__?tab=tree", "rewards/entries", f"rewards/entries?key={quoted(MARKUP)}",
        "rewards/entry/1", "accounts", f"accounts/{account}", f"accounts/{quoted(UID)}", "rules", "functions", "links", "audit", "settings",
        f"functions/{quoted(MARKUP)}", f"rules?tab=try&op=set&path=/x&value={quoted(MARKUP)}",
    ] + [f"data/hostile/values?sel={name}" for name in VALUES] + [f"data/hostile/keys?sel={quoted(key)}" for key in KEYS[:10]]
    # What names something that is not there is answered with 404, and a rule that is no rule with 400.
    site.provoke(r"network: .* 40[04] ")
    tab = site.tab()
    shown = {}
    for page in pages:
        try:
            site.go(tab, page)
        except RuntimeError as error:
            checks.check(f"{page[:60]} is shown", False, str(error)[:400])
            continue
        state = tab.value(
            "({pwned: window.pwned, polluted: ({}).polluted, made: document.querySelectorAll('main :is(img, script, iframe, object, style, "
            "form[action], a[href^=\"javascript:\" i], [onerror], [onclick])').length, frame: !!document.querySelector('#rail a')})")
        checks.check(f"nothing is done by what is on {page[:60]}", state == {"made": 0, "frame": True}, state, quiet=True)
        checks.check(f"{page[:60]} is no error", "cannot be shown" not in heading(tab), tab.text[-300:], quiet=True)
        shown[page] = tab.text
    checks.check(f"{len(pages)} pages were opened with hostile values", True)
    values = shown.get("data/hostile/values", "")
    for name in ("markup", "script", "address", "template", "quotes", "formula"):
        literal = VALUES[name]
        written = json.dumps(literal)[1:-1]
        checks.check(f"{name} is shown literally", literal in values or written in values, values[-900:], quiet=True)
    checks.check("direction marks are made visible", "⟨U+202E⟩" in values and "\u202e" not in values, values[-600:])
    keys = shown.get("data/hostile/keys", "")
    checks.check("keys are shown literally", all(key in keys for key in KEYS if key.isascii() and len(key) < 60), keys[-900:])
    checks.check("a large text is cut", len(values) < 40_000, len(values))
    tab.key("k", "ctrl")
    tab.find(re.compile("player|path", re.I), ("combobox", "textbox"))
    tab.type(UID)
    tab.quiet()
    checks.check("search shows what was typed as text", tab.value("window.pwned === undefined && !document.querySelector('dialog img')"))


PROBES = {
    "innerHTML": "document.body.insertAdjacentElement('beforeend', document.createElement('div')).innerHTML = '<b class=probe>x</b>'",
    "a script's text": "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.head.append(s); })()",
    "a script as a child": "(() => { const s = document.createElement('script'); s.append('window.ran = 1'); document.head.append(s); })()",
    "a listener as an attribute": "(() => { const b = document.createElement('button'); b.setAttribute('onclick', 'window.ran = 1'); "
                                  "document.body.append(b); b.click(); b.remove(); })()",
    "eval": "eval('window.ran = 1')",
    "a function of a text": "new Function('window.ran = 1')()",
    "a timer of a text": "new Promise((done) => { setTimeout('window.ran = 1'); setTimeout(done, 20); })",
    "an address of script": "(() => { const a = document.createElement('a'); a.href = 'javascript:window.ran=1'; document.body.append(a); "
                            "a.click(); a.remove(); return new Promise((done) => setTimeout(done, 20)); })()",
    "a script from a blob": "new Promise((done) => { const s = document.createElement('script'); s.onload = s.onerror = done; "
                            "s.src = URL.createObjectURL(new Blob(['window.ran = 1'])); document.head.append(s); })",
}


def ran(tab, seconds):
    """Which of the probes did something in this time."""
    found = []
    for name, probe in PROBES.items():
        tab.value("delete window.ran; document.querySelectorAll('.probe').forEach((e) => e.remove())")
        tab.raises(probe)
        if tab.until("window.ran === 1 || !!document.querySelector('.probe')", seconds):
            found.append(name)
    return found


def what_is_put_into_a_page_is_stopped(site, checks):
    tab = site.open("overview")
    found = ran(tab, 0.1)
    checks.check("scripts that are put into a page do not run", not found, found)
    reported = lambda *words: tab.until(lambda: all(word in "\n".join(tab.complaints) for word in words))
    checks.check("and the browser reports them", reported("policy: require-trusted-types-for", "policy: script-src"), tab.take_complaints())
    tab.take_complaints()
    reached = tab.value("fetch('https://evil.example/').then(() => 'reached', () => 'stopped')")
    image = tab.value("new Promise((done) => { const i = new Image(); i.onload = i.onerror = (e) => done(e.type); i.src = 'https://evil.example/x.png'; })")
    style = tab.value("(() => { const p = document.createElement('p'); p.setAttribute('style', 'color: rgb(1, 2, 3)'); document.body.append(p); "
                      "const c = getComputedStyle(p).color; p.remove(); return c; })()")
    checks.check("a style attribute is ignored", style != "rgb(1, 2, 3)", style)
    checks.check("that is reported, too", reported("connect-src", "img-src", "style-src"), tab.complaints)
    # What the policy stops is told as a request first, and as stopped then.
    checks.check("nothing is sent to another host", tab.until(lambda: "request to another host" not in "\n".join(tab.complaints))
                 and reached == "stopped" and image == "error", (reached, image, tab.complaints))
    tab.take_complaints()
    # The same probes without the policy: if they did nothing there, they would prove nothing here.
    site.provoke(".*")
    free = site.tab()
    free.ask("Page.setBypassCSP", enabled=True)
    site.go(free, "overview")
    did = ran(free, 20)
    missing = [name for name in PROBES if name not in did]
    checks.check("without the policy they would run", not missing, missing)


def the_headers_are_there(site, checks):
    tab = site.open("overview")
    assets = [one["url"] for one in tab.requests if re.search(r"/console/~[^/]+/[\w.-]+$", one["url"])]
    checks.check("files of the console have addresses of their own", len(assets) > 5, assets)
    script = next(one for one in assets if one.endswith("/app.js"))
    style = next(one for one in assets if one.endswith(".css"))
    shell = site.address("overview")
    for name, address, status in (("the shell", shell, 200), ("a script", script, 200), ("the style sheet", style, 200),
                                  ("an unknown file", re.sub(r"~[^/]+", "~" + "0" * 12, script), 404)):
        found = asked(address)
        checks.check(f"{name} is answered with {status}", found.status == status, found.status)
        wrong = {key: found.headers.get(key) for key, value in HEADERS.items() if found.headers.get(key) != value}
        checks.check(f"{name} has the headers that protect it", not wrong, wrong)
        checks.check(f"{name} says nothing of other origins", found.headers.get("access-control-allow-origin") is None, found.headers)
    off = {one.strip() for one in (asked(shell).headers.get("permissions-policy") or "").split(",")}
    checks.check("camera, microphone, place and payments are off", off == {"camera=()", "microphone=()", "geolocation=()", "payment=()"}, off)
    checks.check("without TLS nothing is said about it", asked(shell).headers.get("strict-transport-security") is None)
    checks.check("the shell is asked for again each time", "no-cache" in (asked(shell).headers.get("cache-control") or ""),
                 asked(shell).headers.get("cache-control"))
    tag = asked(shell).headers.get("etag")
    checks.check("and need not be sent again", tag and asked(shell, {"If-None-Match": tag}).status == 304, tag)
    checks.check("files are kept for ever", "immutable" in (asked(script).headers.get("cache-control") or ""), asked(script).headers.get("cache-control"))
    checks.check("HEAD is answered like GET", asked(script, method="HEAD").status == 200)
    checks.check("other methods are refused", asked(script, method="POST").status == 405 and asked(shell, method="DELETE").status == 405)


class Found:
    def __init__(self, response, body):
        self.status, self.body = response.status, body
        self.headers = {key.lower(): value for key, value in response.getheaders()}


def asked(address, headers=None, method="GET", body=None):
    parts = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=30)
    try:
        connection.request(method, urllib.parse.urlunsplit(("", "", parts.path, parts.query, "")), body, {"Host": parts.netloc, **(headers or {})})
        response = connection.getresponse()
        return Found(response, response.read())
    finally:
        connection.close()


def other_pages_do_not_frame_it(site, checks):
    page = f"<!doctype html><title>Frame</title><iframe src='{site.address('overview')}'></iframe>".encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        site.provoke("fram", "favicon", r"refused|X-Frame", "policy: frame-ancestors", "policy: ")
        tab = site.tab()
        tab.hosts |= {f"localhost:{server.server_port}"}
        tab.open(f"http://localhost:{server.server_port}/")
        framed = lambda: [child["frame"]["url"] for child in tab.ask("Page.getFrameTree")["frameTree"].get("childFrames", [])]
        checks.check("a page of another port does not frame the console", tab.until(lambda: framed() and framed()[0].startswith("chrome-error:")), framed())
    finally:
        server.shutdown()


CHECKS = [hostile_values_are_text, what_is_put_into_a_page_is_stopped, the_headers_are_there, other_pages_do_not_frame_it]
