"""Clients on a studio's own https address, without names that lead elsewhere: the shims of Examples/clients against `doubloon serve`
over TLS, whose certificate bears the server's own name and no other.

The Firebase admin SDK for Python is the real one. Node's and the web's come from a registry that the tests do not use: there the
shims are real, and the requests are those of the SDKs' sources. The C# file is compiled and run by Mono. Runs in an environment that
holds firebase-admin (Tests/Stages/requirements.txt); needs node, chromium, mcs, mono, curl and openssl.
"""

import argparse
import base64
import http.server
import json
import os
import queue
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import traceback
import urllib.error
import urllib.request

from browser import Browser
from server import Checks
from serving import Serve, certificates, until

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIENTS = os.path.join(ROOT, "Examples", "clients")
TOKEN = "0123456789abcdef0123456789abcdef"
PROJECT = "stage"
TREE = "stage-default-rtdb"
RULES = {"rules": {"users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}}}
LINKS = {"domains": ["https://go.example.com/r"], "hosts": ["example.com"], "apiKeys": ["web-key-1"], "apps": {
    "android": [{"packageName": "com.example.game"}], "ios": [{"bundleId": "com.example.game", "appStoreId": "900100200"}]}}


def configuration(folder):
    settings = {
        "project": PROJECT, "data": "data", "rules": "rules.json", "listen": {"host": "127.0.0.1", "port": 0},
        "tls": [{"certificate": "server.pem", "key": "server.key"}],
        "admins": [{"name": "ops", "token": {"file": "ops.token"}}], "links": LINKS,
        "accounts": {"publicURL": "https://game.example.com", "authorizedDomains": ["game.example.com"]},
    }
    for name, text in (("rules.json", json.dumps(RULES)), ("ops.token", TOKEN + "\n"), ("doubloon.jsonc", json.dumps(settings))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    for name in ("ops.token", "server.key"):
        os.chmod(os.path.join(folder, name), 0o600)
    return os.path.join(folder, "doubloon.jsonc")


class Platforms:
    """The server's address and files, and the checks."""

    def __init__(self, checks, folder, program, port):
        self.checks, self.folder = checks, folder
        self.server = f"https://localhost:{port}"
        self.port = port
        self.authority = os.path.join(folder, "ca.pem")
        self.key = os.path.join(folder, "game-server.json")
        subprocess.run(
            [program, "service-account", "create", "game-server", "--role", "admin", "--out", self.key, "--server", self.server,
             "--ca", self.authority, "--key", os.path.join(folder, "ops.token")], check=True, capture_output=True)

    def ask(self, path, body):
        request = urllib.request.Request(self.server + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120, context=ssl.create_default_context(cafile=self.authority)) as answer:
            return json.loads(answer.read())

    def play(self, name, *command, **variables):
        """Runs a program whose lines are checks, and counts them."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
        count = 0
        for line in done.stdout.splitlines():
            holds, said = line[:8].strip(), line[8:]
            if holds in ("ok", "FAILED"):
                count += 1
                self.checks.check(said, holds == "ok")
        self.checks.check(f"{name} ends well, having tried something", done.returncode == 0 and count > 5, done.stderr[-1500:])


def admin_of_python(platforms):
    """The cases for the real SDK, in order: name and function."""
    sys.path.insert(0, CLIENTS)
    import doubloon_admin
    from firebase_admin import auth, db
    app = doubloon_admin.initialize(platforms.key, platforms.server)
    made = {}

    def database():
        db.reference("/proof").set({"by": "python"})
        assert db.reference("/proof").get() == {"by": "python"}
        assert db.reference("/proof").order_by_key().limit_to_last(1).get() == {"by": "python"}

    def listening():
        events = queue.Queue()
        heard = db.reference("/heard").listen(events.put)
        assert events.get(timeout=120).data is None
        db.reference("/heard/a").set(1)
        event = events.get(timeout=120)
        assert (event.path, event.data) == ("/a", 1), (event.path, event.data)
        # The SDK's thread looks up when something comes.
        closing = threading.Thread(target=heard.close)
        closing.start()
        for number in range(1200):
            if not closing.is_alive():
                return
            db.reference("/heard/last").set(number)
            closing.join(0.1)
        raise AssertionError("close() did not come back")

    def users():
        assert auth.create_user(uid="ann", email="ann@example.com", password="secret-1").uid == "ann"
        assert auth.get_user_by_email("ann@example.com").uid == "ann"
        auth.set_custom_user_claims("ann", {"guild": "pirates"})
        assert [user.uid for user in auth.list_users().iterate_all()] == ["ann"]
        assert len(auth.get_users([auth.UidIdentifier("ann"), auth.UidIdentifier("x")]).not_found) == 1

    def tokens():
        made["ann"] = platforms.ask("/v1/accounts:signInWithPassword?key=k", {
            "email": "ann@example.com", "password": "secret-1", "returnSecureToken": True})
        claims = auth.verify_id_token(made["ann"]["idToken"], check_revoked=True)
        assert claims["uid"] == "ann" and claims["guild"] == "pirates", claims

    def forged():
        try:
            auth.verify_id_token(made["ann"]["idToken"][:-4] + "AAAA")
        except auth.InvalidIdTokenError:
            return
        raise AssertionError("a forged token was verified")

    def custom():
        token = auth.create_custom_token("jim").decode()
        jim = platforms.ask("/v1/accounts:signInWithCustomToken?key=k", {"token": token, "returnSecureToken": True})
        assert auth.verify_id_token(jim["idToken"])["uid"] == "jim"

    def cookies():
        import datetime
        cookie = auth.create_session_cookie(made["ann"]["idToken"], datetime.timedelta(hours=1))
        assert auth.verify_session_cookie(cookie, check_revoked=True)["uid"] == "ann"

    def links():
        assert auth.generate_password_reset_link("ann@example.com").startswith("https://game.example.com/")

    def imported():
        key = base64.b64decode("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")
        stored = base64.b64decode("V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==")
        scrypt = auth.UserImportHash.scrypt(key=key, salt_separator=base64.b64decode("Bw=="), rounds=8, memory_cost=14)
        user = auth.ImportUserRecord("old", email="old@example.com", password_hash=stored, password_salt=b"NaCl")
        assert auth.import_users([user], hash_alg=scrypt).success_count == 1
        assert platforms.ask("/v1/accounts:signInWithPassword?key=k", {
            "email": "old@example.com", "password": "password"})["localId"] == "old"

    def revoked():
        auth.revoke_refresh_tokens("ann")
        auth.delete_user("jim")
        assert auth.get_user("ann").tokens_valid_after_timestamp > 0 and app.project_id == PROJECT

    return [
        ("the database", database), ("a listener", listening), ("users", users), ("ID tokens are verified", tokens),
        ("forged ones are not", forged), ("custom tokens", custom), ("session cookies", cookies), ("links for mails", links),
        ("an import with Firebase's hashes", imported), ("sessions are ended, users deleted", revoked)]


def python(platforms):
    # Before the SDK is loaded: its HTTP library reads it.
    os.environ["REQUESTS_CA_BUNDLE"] = platforms.authority
    for name in ("FIREBASE_DATABASE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST", "GOOGLE_CLOUD_PROJECT"):
        os.environ.pop(name, None)
    for name, case in admin_of_python(platforms):
        try:
            case()
            platforms.checks.check(f"Python, admin: {name}", True)
        except Exception:
            detail = traceback.format_exc(limit=-2).strip().replace("\n", " | ")
            platforms.checks.check(f"Python, admin: {name}", False, detail)


def tree_by_host(platforms):
    """A database has a name of its own, whose first label is the tree: what SDKs that know no `ns` rely on."""
    token = platforms.ask("/v1/accounts:signUp?key=k", {"returnSecureToken": True})
    path = f"/users/{token['localId']}/host.json?auth={token['idToken']}"

    def status(host, method, body=None):
        request = urllib.request.Request(platforms.server + path, body, {"Host": host}, method=method)
        try:
            context = ssl.create_default_context(cafile=platforms.authority)
            with urllib.request.urlopen(request, timeout=120, context=context) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    wrote = status(f"{TREE}.example.com", "PUT", b'"by host"')
    platforms.checks.check("REST: the first label of a host is the tree", wrote == (200, b'"by host"'), wrote)
    read = status("localhost", "GET")
    platforms.checks.check("REST: of localhost it is the project's own", read == (200, b'"by host"'), read)
    other = status("game.example.com", "GET")
    platforms.checks.check("REST: a label that is no tree of the server's reads nothing of it", other[0] >= 400, other)


def socket_greets(platforms):
    """The web SDK's database speaks over a WebSocket at its URL's host."""
    context = ssl.create_default_context(cafile=platforms.authority)
    with context.wrap_socket(socket.create_connection(("127.0.0.1", platforms.port), 120), server_hostname="localhost") as tls:
        tls.sendall(
            f"GET /.ws?v=5&ns={TREE} HTTP/1.1\r\nHost: localhost:{platforms.port}\r\nOrigin: https://play.example.com\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
        heard = b""
        while b'"t":"c"' not in heard:
            more = tls.recv(4096)
            if not more:
                break
            heard += more
    platforms.checks.check("web: the database's socket opens, and is greeted", heard.startswith(b"HTTP/1.1 101 ") and b'"h":"localhost' in heard, heard[-300:])


def trust(platforms):
    """Has Mono trust the stage's authority, in the store of a user who has the stage's folder as home."""
    store = os.path.join(platforms.folder, ".config", ".mono", "new-certs", "Trust")
    os.makedirs(store)
    name = subprocess.run(
        ["openssl", "x509", "-in", platforms.authority, "-noout", "-subject_hash"], check=True, capture_output=True, text=True)
    shutil.copy(platforms.authority, os.path.join(store, name.stdout.strip() + ".0"))


# What a page of a game does, on a site of its own: the shim, then the requests of the SDK's source with its headers.
WEB_PAGE = """<!doctype html><title>game</title><script type="module">
import { connect } from "./doubloon-web.mjs";
const found = {};
try {
  const auth = { getAuth: () => ({}), connectAuthEmulator: (players, url) => (players.url = url) };
  const game = connect({}, { server: "SERVER", project: "PROJECT" }, auth, { getDatabase: (_, url) => url });
  const sdk = { "X-Client-Version": "Chrome/JsCore/12.18.0/FirebaseCore-web", "X-Firebase-gmpid": "1:1:web:1", "X-Firebase-Locale": "en" };
  const post = (path, type, body) =>
    fetch(game.auth.url + path, { method: "POST", headers: { "Content-Type": type, ...sdk }, body }).then((answer) => answer.json());
  const ann = await post("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", "application/json", '{"returnSecureToken":true}');
  const form = "grant_type=refresh_token&refresh_token=" + ann.refreshToken;
  found.refreshed = (await post("/securetoken.googleapis.com/v1/token?key=k", "application/x-www-form-urlencoded", form)).user_id === ann.localId;
  const at = new URL(game.database);
  const place = `${at.origin}/users/${ann.localId}.json${at.search}&auth=${ann.idToken}`;
  found.written = (await (await fetch(place, { method: "PUT", body: '{"name":"Ann"}' })).json()).name;
  found.streamed = await new Promise((heard) => {
    const stream = new EventSource(place);
    stream.addEventListener("put", (event) => { stream.close(); heard(JSON.parse(event.data).data.name); });
    stream.onerror = () => heard("an error");
  });
  found.greeted = await new Promise((heard) => {
    const socket = new WebSocket(`wss://${at.host}/.ws?v=5&ns=${at.searchParams.get("ns")}`);
    socket.onmessage = (event) => { socket.close(); heard(JSON.parse(event.data).t); };
    socket.onerror = () => heard("an error");
  });
} catch (error) { found.error = String(error); }
window.found = found;
</script>"""


def browser(platforms):
    """A page of another origin, in Chromium: what CORS lets through. The authority is private, so the browser is told to trust it."""
    folder = os.path.join(platforms.folder, "site")
    os.makedirs(folder)
    shutil.copy(os.path.join(CLIENTS, "doubloon-web.mjs"), folder)
    with open(os.path.join(folder, "index.html"), "w") as file:
        file.write(WEB_PAGE.replace("SERVER", platforms.server).replace("PROJECT", PROJECT))

    class Site(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *_):
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    found = {}

    def is_done():
        found.update(json.loads(chromium.value("JSON.stringify(window.found ?? {})") or "{}"))
        return bool(found)

    try:
        with Browser("--ignore-certificate-errors") as chromium:
            chromium.open(f"http://127.0.0.1:{site.server_port}/")
            until(is_done)
    finally:
        site.shutdown()
    for name, key, expected in (
            ("a page of another site signs a player in and refreshes the token", "refreshed", True),
            ("it writes to the database", "written", "Ann"), ("it hears a stream", "streamed", "Ann"),
            ("its socket is greeted", "greeted", "c")):
        platforms.checks.check(f"Chromium: {name}", found.get(key) == expected, found)


def csharp(platforms):
    program = os.path.join(platforms.folder, "client.exe")
    done = subprocess.run(
        ["mcs", "-langversion:7", "-warnaserror", f"-out:{program}", "-r:System.Net.Http", os.path.join(CLIENTS, "DoubloonClient.cs"),
         os.path.join(ROOT, "Tests", "Stages", "platforms_client.cs")], capture_output=True, text=True)
    platforms.checks.check("C#: the file compiles, without warnings", done.returncode == 0, done.stdout + done.stderr)
    if done.returncode == 0:
        trust(platforms)
        platforms.play("C#", "mono", program, platforms.server, TREE, HOME=platforms.folder)


def shell(platforms):
    """Examples/clients/invitation.sh, with a code."""
    player = platforms.ask("/v1/accounts:signUp?key=k", {"returnSecureToken": True})
    request = urllib.request.Request(
        platforms.server + "/v1/shortLinks?key=web-key-1",
        json.dumps({"longDynamicLink": "https://go.example.com/r/?link=https://example.com/play"}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + player["idToken"]})
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=platforms.authority)) as answer:
        code = json.loads(answer.read())["code"]
    done = subprocess.run(
        ["bash", os.path.join(CLIENTS, "invitation.sh"), code], capture_output=True, text=True,
        env={**os.environ, "SERVER": platforms.server, "KEY": "web-key-1", "CURL_CA_BUNDLE": platforms.authority})
    platforms.checks.check(
        "curl: a new player signs in and says who invited", f'"referredBy":"{player["localId"]}"' in done.stdout, done.stdout + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the doubloon to start")
    program = os.path.abspath(parser.parse_args().program)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        serve = Serve(program, configuration(folder))
        try:
            platforms = Platforms(checks, folder, program, serve.port)
            python(platforms)
            platforms.play(
                "Node", "node", os.path.join(ROOT, "Tests", "Stages", "platforms_node.mjs"), platforms.server, platforms.key, TREE,
                NODE_EXTRA_CA_CERTS=platforms.authority)
            tree_by_host(platforms)
            socket_greets(platforms)
            browser(platforms)
            csharp(platforms)
            shell(platforms)
        finally:
            code = serve.stop()
        checks.check("SIGTERM ends it in order", code == 0 and serve.said("Stopped."), code)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
