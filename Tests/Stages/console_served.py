"""The files of the program are those of the repository, unpacked and packed; and over TLS browsers are told to stay with it."""

import gzip
import http.client
import json
import os
import re
import ssl
import tempfile

from console_files import console_pack
from console_hostile import asked
from production import RULES, TOKEN
from serving import Serve, certificates

STAYS = "max-age=31536000"


def files_are_those_of_the_repository(site, checks):
    shell = asked(site.address("overview")).body
    build = re.search(rb"/console/~([0-9a-f]+)/", shell).group(1).decode()
    wrong, packed = [], 0
    files = console_pack.written()
    names = sorted(files)
    for name in names:
        wanted = console_pack.short(name, files[name]).encode()
        if name == "index.html":
            wrong += [name] if shell != wanted.replace(b"~build", b"~" + build.encode()) else []
            continue
        address = f"{site.base}/console/~{build}/{name}"
        plain, small = asked(address), asked(address, {"Accept-Encoding": "gzip, deflate"})
        if plain.status != 200 or plain.body != wanted or "content-encoding" in plain.headers:
            wrong.append((name, plain.status, len(plain.body), len(wanted)))
        if small.headers.get("content-encoding") == "gzip":
            packed += 1
            wrong += [f"{name}, packed"] if gzip.decompress(small.body) != wanted else []
        elif small.body != wanted or len(wanted) > 1_000:
            wrong.append(f"{name} is not packed")
    checks.check(f"{len(names)} files of the program are those of the repository, without comments and indentation; {packed} of them packed, too", not wrong and packed > 30, wrong[:5])
    named = set(re.findall(r"/console/~\w+/([\w.-]+)", shell.decode()))
    checks.check("the page names files that there are", named and named <= set(names), named - set(names))
    for name in ("index.html", "nothing.js", "..%2findex.html", "console_assets.h"):
        found = asked(f"{site.base}/console/~{build}/{name}")
        checks.check(f"{name} is no file of it", found.status in (400, 404), found.status)


class Secure:
    """`doubloon serve` that speaks TLS itself."""

    def __init__(self, program, folder):
        certificates(folder)
        settings = {
            "project": "stage", "data": "data", "rules": "rules.json", "admins": [{"name": "ops", "token": {"file": "ops.token"}}],
            "listen": {"host": "127.0.0.1", "port": 0}, "tls": [{"certificate": "server.pem", "key": "server.key"}],
            "accounts": {"publicURL": "https://localhost"},
        }
        for name, text in (("rules.json", json.dumps(RULES)), ("ops.token", TOKEN + "\n"), ("doubloon.jsonc", json.dumps(settings))):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        os.chmod(os.path.join(folder, "ops.token"), 0o600)
        self.context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
        self.serve = Serve(program, os.path.join(folder, "doubloon.jsonc"))

    def ask(self, path):
        line = http.client.HTTPSConnection("localhost", self.serve.port, timeout=60, context=self.context)
        try:
            line.request("GET", path)
            answer = line.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            line.close()


def over_tls_browsers_stay_with_it(site, checks):
    with tempfile.TemporaryDirectory() as folder:
        server = Secure(site.program, folder)
        try:
            status, headers, shell = server.ask("/console/n/stage-default-rtdb/overview")
            script = re.search(r"/console/~[0-9a-f]+/app\.js", shell.decode()).group(0)
            checks.check("over TLS the shell says so", status == 200 and headers.get("strict-transport-security") == STAYS, headers)
            for name, path, wanted in (("a script", script, 200), ("a file that is not there", "/console/~0/x.js", 404)):
                status, headers, _ = server.ask(path)
                checks.check(f"and {name}", status == wanted and headers.get("strict-transport-security") == STAYS, (status, headers))
        finally:
            code = server.serve.stop()
        checks.check("that server ends orderly", code == 0, code)


CHECKS = [files_are_those_of_the_repository, over_tls_browsers_stay_with_it]
