"""Pages of another port and of another site, in the browser of somebody who is signed in: they read nothing of the console's surface and
change nothing there, whatever they send."""

import http.server
import json
import threading

from console import heading, refers
from console_access import csrf_of, cookie_of, signs_in
from production import TOKEN
from serving import free_port

PORT = free_port()
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"http://localhost:{PORT}"},
}
# How a page looks at an answer: its status, or that the browser keeps it from the page.
TOLD = """const told = (path, options = {}) => fetch(at + path, {credentials: 'include', ...options}).then(async (answer) =>
  `${answer.status || answer.type} ${(await answer.text()).slice(0, 80)}`.trim(), () => 'kept from it');"""
LOOKS = {
    "asks": "told(`/admin/v1/status?ns=${ns}`)",
    "asks without wanting to know": "told(`/admin/v1/status?ns=${ns}`, {mode: 'no-cors'})",
    "asks as the console does": "told(`/admin/v1/status?ns=${ns}`, {headers: {'X-Doubloon-Console': '1'}})",
    "asks who is signed in": "told('/admin/v1/session', {headers: {'X-Doubloon-Console': '1'}})",
    "asks as the owner of a development server": "told(`/admin/v1/status?ns=${ns}`, {headers: {Authorization: 'Bearer owner'}})",
    "reads the tree": "told(`/users.json?ns=${ns}`)",
    "listens": "new Promise((done) => { const s = new EventSource(`${at}/admin/v1/live?ns=${ns}`, {withCredentials: true});"
               " s.onmessage = s.onopen = () => done('it hears'); s.onerror = () => { s.close(); done('kept from it') } })",
    "takes it for a script": "new Promise((done) => { const s = document.createElement('script'); s.src = `${at}/admin/v1/status?ns=${ns}`;"
                             " s.onload = () => done('it runs'); s.onerror = () => done('kept from it'); document.head.append(s) })",
    "comes over a socket as owner": "new Promise((done) => { const s = new WebSocket(`${at.replace('http', 'ws')}/.ws?v=5&ns=${ns}`);"
                                    " s.onerror = () => done('kept from it'); s.onmessage = ({data}) => { const {t, d} = JSON.parse(data);"
                                    " if (t === 'c') s.send('{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"gauth\",\"b\":{\"cred\":\"owner\"}}}');"
                                    " else if (d.r === 1) done(d.b.s === 'ok' ? 'it is in' : `kept from it: ${d.b.s}`) } })",
}
DEEDS = {
    "by a form": "told(`/admin/v1/functions/rewardReferrals/pause?ns=${ns}`, {method: 'POST', mode: 'no-cors', body: '{\"reason\": \"x\"}'})",
    "by what a form may send, to be read": "told(`/admin/v1/ledger/reverse?ns=${ns}`, {method: 'POST', body: '{\"sequence\": 1, \"reason\": \"x\"}'})",
    "as the console does, which is asked for before": "told(`/admin/v1/ledger/reverse?ns=${ns}`, {method: 'POST', headers: {'Content-Type': 'application/json',"
                                                      " 'X-Doubloon-Console': '1', 'X-Doubloon-CSRF': csrf}, body: '{\"sequence\": 1, \"reason\": \"x\"}'})",
    "in the tree": "told(`/admin/v1/data?ns=${ns}`, {method: 'PUT', headers: {'Content-Type': 'application/json'}, body: '{\"path\": \"/users/eve\", \"value\": 1, \"reason\": \"x\"}'})",
    "by a value as owner": "told(`/users/eve.json?ns=${ns}`, {method: 'PUT', headers: {Authorization: 'Bearer owner'}, body: '1'})",
    "by ending the session": "told('/admin/v1/session', {method: 'DELETE'})",
}
# What is read of the console's surface would hold one of these.
SECRETS = ("version", "admin:", "alice", "csrf")


class Stranger:
    """A web site with an empty page, on a port of its own."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = b"<!doctype html><title>Stranger</title><link rel=icon href='data:,'><p>A page"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def state(site):
    """What a stranger might change."""
    functions = [(one["name"], one["paused"]) for one in site.admin("GET", "functions")["functions"]]
    done = [one["id"] for one in site.admin("GET", "audits", result="ok", limit=200)["actions"]]
    return site.admin("GET", "namespaces")["namespaces"], site.admin("GET", "ledger/entries", limit=100)["entries"], functions, done, site.read("users/eve")


def strangers_get_nowhere(site, checks):
    refers(site)
    own = site.tab()
    own.open(site.address("overview"))
    signs_in(own, TOKEN)
    own.until(lambda: heading(own) == "Overview")
    own.quiet()
    csrf = csrf_of(site, cookie_of(own, site))
    site.provoke(".*")
    stranger = Stranger()
    before = state(site)
    try:
        asks = lambda tab, expression: tab.value(f"(() => {{ const at = {json.dumps(site.base)}, ns = {json.dumps(site.namespace)}, csrf = {json.dumps(csrf)}; {TOLD} return {expression} }})()")
        checks.check("the console's own page is answered", asks(own, LOOKS["asks as the console does"]).startswith("200 {"), asks(own, LOOKS["asks as the console does"]))
        for host, what in (("localhost", "another port"), ("127.0.0.1", "another site")):
            tab = site.tab()
            tab.hosts = set()
            tab.open(f"http://{host}:{stranger.port}/")
            for name, expression in LOOKS.items():
                found = asks(tab, expression)
                checks.check(f"a page of {what} that {name} learns nothing", isinstance(found, str) and not found.startswith("200") and not found.startswith("it ")
                             and not any(secret in found for secret in SECRETS), found)
            for name, expression in DEEDS.items():
                found = asks(tab, expression)
                checks.check(f"nor does it change anything {name}", isinstance(found, str) and not found.startswith("200"), found)
        checks.check("nothing has changed: no commit, no entry, no function, no deed on record", state(site) == before, (state(site)[1:], before[1:]))
        checks.check("and who was signed in is", asks(own, LOOKS["asks as the console does"]).startswith("200 {"))
    finally:
        stranger.server.shutdown()


CHECKS = [strangers_get_nowhere]
