#!/usr/bin/env python3
"""Redirects a second and their latency with many links, beside nginx with the same links in a map, and beside PocketBase.

All run on this machine at the same time, each asked in its turn, several rounds: wrk opens random links over connections that
stay open. Needs wrk and nginx; PocketBase takes part if its program is named. The Doubloon is the release build.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from server import Connection, Server  # noqa: E402

HOST = "go.acme.test"
AGENTS = {
    "desktop": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "android": ("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
                "Mobile Safari/537.36"),
}

# The requests are written out before the first is sent: what wrk does for each is small.
LOAD = """
local requests = {{}}
function init(args)
  math.randomseed(os.time())
  local headers = {{["Host"] = "{host}", ["User-Agent"] = "{agent}"}}
  for number = 0, {count} - 1 do requests[number] = wrk.format("GET", "/r/k" .. number, headers) end
end
function request() return requests[math.random(0, {count} - 1)] end
"""

NGINX = """
worker_processes {workers};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
daemon off;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 100000000;
  map_hash_max_size 1048576;
  map_hash_bucket_size 128;
  map $uri $target {{ include {folder}/links.map; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ if ($target) {{ return 302 $target; }} return 404; }}
  }}
}}
"""

POCKETBASE_ROUTE = """
routerAdd("GET", "/r/{code}", (e) => {
  const found = $app.findFirstRecordByData("links", "code", e.request.pathValue("code"))
  return e.redirect(302, found.getString("target"))
})
"""

POCKETBASE_LINKS = """
migrate((app) => {
  app.save(new Collection({
    type: "base", name: "links",
    fields: [{ type: "text", name: "code" }, { type: "text", name: "target" }],
    indexes: ["CREATE UNIQUE INDEX links_by_code ON links (code)"],
  }))
  app.db().newQuery(
    "INSERT INTO links (id, code, target) WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < COUNT - 1) " +
    "SELECT printf('l%014d', i), 'k' || i, 'https://acme.test/play/' || i || '?invitedby=u' || i FROM n").execute()
}, (app) => app.delete(app.findCollectionByNameOrId("links")))
"""


def target(number):
    return f"https://acme.test/play/{number}?invitedby=u{number}"


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def cpu(pid):
    """Seconds of CPU that a process and its children have used."""
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    total = 0.0
    for number in [str(pid), *children]:
        with open(f"/proc/{number}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) // 1024


class Peer:
    """A server with the links, and what was measured of it."""

    def __init__(self, name, pid, port):
        self.name, self.pid, self.port = name, pid, port
        self.rates, self.medians, self.tails, self.costs = [], [], [], []

    def load(self, script, seconds, connections):
        before = cpu(self.pid)
        text = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", script, f"http://127.0.0.1:{self.port}"],
            capture_output=True, text=True, check=True).stdout
        used = cpu(self.pid) - before
        if "Non-2xx" in text:
            raise SystemExit(f"some answers of {self.name} were no redirects:\n{text}")
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
        requests = int(re.search(r"(\d+) requests in", text).group(1))
        latency = dict(re.findall(r"(50|99)%\s+([\d.]+\w+)", text))
        return rate, milliseconds(latency["50"]), milliseconds(latency["99"]), used / requests * 1e6

    def measure(self, script, options):
        rate, median, tail, cost = self.load(script, options.seconds, options.connections)
        for figures, figure in zip((self.rates, self.medians, self.tails, self.costs), (rate, median, tail, cost)):
            figures.append(figure)
        print(f"  {self.name:10} {rate:9,.0f} a second, {median:6.2f} ms median, {tail:6.2f} ms at 99 %, {cost:5.1f} µs of CPU each",
              flush=True)

    def summary(self):
        return {"name": self.name, "perSecond": round(statistics.median(self.rates)), "p50": statistics.median(self.medians),
                "p99": statistics.median(self.tails), "cpuMicroseconds": round(statistics.median(self.costs), 1),
                "megabytes": memory(self.pid)}


def fill(server, program, folder, count):
    """Gives Doubloon its links, once: a folder that is kept has them already."""
    done = os.path.join(folder, "links.csv")
    if os.path.exists(done):
        return
    settings = {"domains": [f"https://{HOST}/r"], "hosts": ["acme.test"],
                "apps": {"android": [{"packageName": "test.acme.app", "sha256Fingerprints": []}]}}
    put = Connection(server.port).ask("PUT", "/admin/v1/links/settings", settings)
    assert put.status == 200, put.text
    table = os.path.join(folder, "links.csv.part")
    with open(table, "w") as file:
        file.write("short link,long link\r\n")
        for number in range(count):
            file.write(f"https://{HOST}/r/k{number},{target(number)}\r\n")
    begin = time.monotonic()
    subprocess.run(
        [program, "links", "import", table, "--server", f"http://127.0.0.1:{server.port}", "--key", "owner"], check=True,
        stdout=subprocess.DEVNULL)
    os.rename(table, done)
    print(f"{count:,} links imported in {time.monotonic() - begin:.0f} s", flush=True)


def start_nginx(folder, count, port):
    with open(os.path.join(folder, "links.map"), "w") as file:
        for number in range(count):
            file.write(f"/r/k{number} {target(number)};\n")
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w") as file:
        file.write(NGINX.format(workers=os.cpu_count() or 1, folder=folder, port=port))
    return subprocess.Popen(["nginx", "-c", configuration, "-p", folder, "-e", f"{folder}/error.log"])


def start_pocketbase(program, folder, count, port):
    for name, text in (("hooks/links.pb.js", POCKETBASE_ROUTE),
                       ("migrations/1700000000_links.js", POCKETBASE_LINKS.replace("COUNT", str(count)))):
        path = os.path.join(folder, "pocketbase", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    home = os.path.join(folder, "pocketbase")
    with open(os.path.join(folder, "pocketbase.log"), "w") as log:
        return subprocess.Popen(
            [program, "serve", "--http", f"127.0.0.1:{port}", "--dir", f"{home}/data", "--hooksDir", f"{home}/hooks",
             "--migrationsDir", f"{home}/migrations", "--hooksWatch=false", "--automigrate=false"],
            stdout=log, stderr=subprocess.STDOUT)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def await_redirect(name, process, port, number, seconds=120):
    """Waits until a server sends the last link on to where it leads."""
    opener = urllib.request.build_opener(NoRedirect)
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/r/k{number}", headers={"Host": HOST, "User-Agent": AGENTS["desktop"]})
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            opener.open(request, timeout=5)
        except urllib.error.HTTPError as answer:
            if answer.code == 302 and answer.headers["Location"] == target(number):
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"{name} does not redirect; look at its log.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/doubloon", help="the release build (%(default)s)")
    parser.add_argument("--pocketbase", metavar="PROGRAM", help="PocketBase's program, to measure it too")
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="for one server in one round (%(default)s)")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--visitors", choices=sorted(AGENTS), default="desktop", help="whose browser asks (%(default)s)")
    parser.add_argument("--folder", help="where the links are kept for the next run; else new ones are made")
    parser.add_argument("--prepare", action="store_true", help="only make the links in --folder")
    parser.add_argument("--json", action="store_true", help="the last line is the result as JSON")
    options = parser.parse_args()
    missing = [package for tool, package in (("wrk", "wrk"), ("nginx", "nginx-light")) if not shutil.which(tool)]
    if missing:
        raise SystemExit(f"Missing; on Debian and Ubuntu: sudo apt-get install {' '.join(missing)}")
    if not os.path.exists(options.program):
        raise SystemExit(f"{options.program} is missing: Scripts/test release")
    folder = os.path.abspath(options.folder) if options.folder else tempfile.mkdtemp(prefix="doubloon-redirects-")
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(folder, "load.lua")
    with open(script, "w") as file:
        file.write(LOAD.format(count=options.links, host=HOST, agent=AGENTS[options.visitors]))
    server = Server(options.program, "--data", os.path.join(folder, "data"))
    others = []
    try:
        server.await_address()
        fill(server, options.program, folder, options.links)
        if options.prepare:
            return
        peers = [Peer("doubloon", server.process.pid, server.port)]
        await_redirect("doubloon", server.process, server.port, options.links - 1)
        others.append(start_nginx(folder, options.links, 28181))
        peers.append(Peer("nginx", others[-1].pid, 28181))
        await_redirect("nginx", others[-1], 28181, options.links - 1)
        if options.pocketbase:
            others.append(start_pocketbase(options.pocketbase, folder, options.links, 28182))
            peers.append(Peer("pocketbase", others[-1].pid, 28182))
            await_redirect("pocketbase", others[-1], 28182, options.links - 1)
        for peer in peers:
            peer.load(script, 3 if peer.name == "doubloon" else 1, options.connections)
        for number in range(1, options.rounds + 1):
            print(f"round {number}", flush=True)
            for peer in peers:
                peer.measure(script, options)
        results = [peer.summary() for peer in peers]
        for result in results:
            print("median  {name}: {perSecond:,} a second, {p50:.2f} ms, {p99:.2f} ms at 99 %, {cpuMicroseconds} µs of CPU each, "
                  "{megabytes} MB".format(**result))
        for peer in peers[1:]:
            ratio = statistics.median(own / other for own, other in zip(peers[0].rates, peer.rates))
            print(f"doubloon to {peer.name}: {ratio:.2f}")
        if options.json:
            print(json.dumps({"visitors": options.visitors, "links": options.links, "peers": results}))
    finally:
        server.stop()
        for other in others:
            other.terminate()
            other.wait()
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
