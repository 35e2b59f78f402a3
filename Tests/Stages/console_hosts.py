"""Where the console is, and where it is not: the names that the configuration gives it, a server that has none; and its files from a
folder, which only people who work on it have.
"""

import json
import os
import shutil
import subprocess
import tempfile

from console import NAMESPACE, heading
from console_access import PAGE
from console_files import FOLDER
from console_hostile import asked
from production import TOKEN, Production
from server import Server
from serving import free_port

PORT = free_port()
OWN, LINKS, FOREIGN = "console.acme.test", "go.acme.test", "elsewhere.acme.test"
SETTINGS = {
    "listen": {"host": "127.0.0.1", "port": PORT, "behindProxy": True},
    "accounts": {"publicURL": f"https://{OWN}"},
    "console": {"hosts": [OWN]},
}


def signing_in(base, host):
    """How the server answers the console's sign-in with the right key under a name."""
    return asked(f"{base}/admin/v1/session", {"Host": host, "Content-Type": "application/json", "X-Forwarded-Proto": "https", **PAGE},
                 "POST", json.dumps({"key": TOKEN}))


def other_names_have_no_console(site, checks):
    site.admin("PUT", "links/settings", {"domains": [f"https://{LINKS}/r"], "hosts": ["acme.test"]})
    site.admin("POST", "links", {"prefix": f"https://{LINKS}/r", "option": "CUSTOM", "suffix": "poster",
                                 "parameters": {"link": "https://acme.test/play"}})
    page = lambda host, path="/console/": asked(site.base + path, {"Host": host})
    for host in (OWN, f"{OWN}:8080", OWN.upper(), f"localhost:{PORT}", "127.0.0.1"):
        checks.check(f"{host} has the console", page(host).status == 200, page(host).status)
    link = page(LINKS, "/r/poster")
    checks.check(f"{LINKS} has its links", link.status in (200, 302, 307), link.status)
    for host in (LINKS, FOREIGN, f"{OWN}.evil.test", "evil." + OWN):
        for path in ("/console/", "/console/n/stage-default-rtdb/overview", "/console/~x/app.js"):
            found = page(host, path)
            checks.check(f"{host}{path} is not there", found.status == 404 and b"<script" not in found.body, found.status)
        found = signing_in(site.base, host)
        checks.check(f"nobody signs in at {host}", found.status == 404 and "set-cookie" not in found.headers, (found.status, found.body[:200]))
    found = signing_in(site.base, OWN)
    cookie = (found.headers.get("set-cookie") or "").split(";")[0]
    checks.check(f"at {OWN} one does", found.status == 200 and cookie, (found.status, found.body[:200]))
    site.secrets.append(cookie)
    status = lambda host: asked(f"{site.base}/admin/v1/status?ns={site.namespace}", {"Host": host, "Cookie": cookie, **PAGE}).status
    checks.check("whose cookie counts there, and under no other name", [status(host) for host in (OWN, LINKS, FOREIGN)] == [200, 404, 404],
                 [status(host) for host in (OWN, LINKS, FOREIGN)])
    for host in (LINKS, FOREIGN):
        for path in ("/admin/v1/session", "/admin/v1", f"/admin/v1/status?ns={site.namespace}"):
            found = page(host, path)
            checks.check(f"{host}{path} is not there for who brings no key", found.status == 404, (found.status, found.body[:200]))
        # Programs reach the server by whatever it is called in their network; no browser adds a key by itself.
        found = asked(f"{site.base}/admin/v1/status?ns={site.namespace}", {"Host": host, "Authorization": f"Bearer {TOKEN}"})
        checks.check(f"a key is believed by the name {host}", found.status == 200, (found.status, found.body[:200]))


def a_server_without_a_console(site, checks):
    with tempfile.TemporaryDirectory() as folder:
        other = Production(site.program, folder, {"console": {"enabled": False}})
        base = f"http://localhost:{other.port}"
        try:
            for path in ("/console/", "/console/n/stage-default-rtdb/data"):
                found = asked(base + path)
                checks.check(f"with \"enabled\": false {path} is not there", found.status == 404 and b"<script" not in found.body, found.status)
            found = signing_in(base, f"localhost:{other.port}")
            checks.check("nobody signs in there", found.status == 404 and "set-cookie" not in found.headers, (found.status, found.body[:200]))
            key = asked(f"{base}/admin/v1/status?ns=stage-default-rtdb", {"Authorization": f"Bearer {TOKEN}"})
            checks.check("the key is believed all the same", key.status == 200, (key.status, key.body[:200]))
        finally:
            code = other.serve.stop()
        checks.check("it ends orderly", code == 0, code)


def a_folder_is_read_at_each_request(site, checks):
    """`doubloon dev --console DIR`: what is written there is on the page after it is loaded again."""
    with tempfile.TemporaryDirectory() as folder:
        files = os.path.join(folder, "files")
        shutil.copytree(FOLDER, files)
        server = Server(site.program, "--in-memory", "--console", files)
        try:
            port = server.await_address()
            tab = site.tab()
            tab.hosts = {f"localhost:{port}"}
            tab.open(f"http://localhost:{port}/console/n/{NAMESPACE}/audit")
            checks.check("the page is there", tab.until(lambda: heading(tab) == "Audit"), tab.text[:300])
            path = os.path.join(files, "audit.js")
            with open(path, encoding="utf-8") as file:
                script = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(script.replace("heading('Audit'", "heading('Changed on the disk'"))
            tab.reload()
            checks.check("what was written shows without a new start", tab.until(lambda: heading(tab) == "Changed on the disk"), tab.text[:300])
            for name, place in (("..%2Fsecret.js", os.path.join(folder, "secret.js")), (".secret.js", os.path.join(files, ".secret.js"))):
                with open(place, "w", encoding="utf-8") as file:
                    file.write("secret")
                found = asked(f"http://localhost:{port}/console/~folder/{name}")
                checks.check(f"{name} is no file of it", found.status in (400, 404) and b"secret" not in found.body, found.status)
            # Who still looked would miss the server.
            tab.open("about:blank")
        finally:
            server.stop()
    refused = subprocess.run([site.program, "serve", "--config", os.path.join(site.folder, "doubloon.jsonc"), "--console", FOLDER],
                             capture_output=True, text=True, timeout=300)
    checks.check("production has no such option", refused.returncode != 0 and "Unknown option '--console'" in refused.stderr,
                 (refused.returncode, refused.stderr[:300]))


CHECKS = [other_names_have_no_console, a_server_without_a_console, a_folder_is_read_at_each_request]
