#!/usr/bin/env python3
"""Redirects a second with many links, beside nginx with the same links in a map.

Both run on this machine with the same number of workers, one after the other, under the same load: wrk opening random links
as a desktop browser. Needs wrk and nginx; the program is the release build.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "Stages"))
from server import Connection, Server  # noqa: E402

HOST = "go.acme.test"

LOAD = """
local count = {count}
function init(args) math.randomseed(os.time()) end
function request()
  return wrk.format("GET", "/r/k" .. math.random(0, count - 1), {{["Host"] = "{host}", ["User-Agent"] = "{agent}"}})
end
"""
AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"


def wrk(port, script, seconds, connections):
    text = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{port}"],
        capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text:
        raise SystemExit("some answers were no redirects:\n" + text)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))


def cpu(pid):
    """Seconds of CPU that a process and its children have used."""
    total = 0.0
    for number in [pid] + [int(n) for n in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()]:
        with open(f"/proc/{number}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) // 1024


def measured(name, pid, port, script, options):
    wrk(port, script, 2, options.connections)
    before = cpu(pid)
    rate = wrk(port, script, options.seconds, options.connections)
    used = (cpu(pid) - before) / (rate * options.seconds) * 1e6
    print(f"{name}: {rate:,.0f} redirects a second, {used:.1f} µs of CPU each", flush=True)
    return rate


def nginx(folder, count, workers):
    with open(os.path.join(folder, "links.map"), "w") as file:
        for number in range(count):
            file.write(f"/r/k{number} https://acme.test/play/{number}?invitedby=u{number};\n")
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w") as file:
        file.write(f"""
worker_processes {workers};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
daemon off;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  keepalive_requests 1000000;
  map_hash_max_size 1048576;
  map_hash_bucket_size 128;
  map $uri $target {{ include {folder}/links.map; }}
  server {{
    listen 127.0.0.1:28181;
    location / {{ if ($target) {{ return 302 $target; }} return 404; }}
  }}
}}
""")
    process = subprocess.Popen(["nginx", "-c", configuration, "-p", folder, "-e", f"{folder}/error.log"])
    for _ in range(100):
        time.sleep(0.1)
        if os.path.exists(f"{folder}/nginx.pid"):
            return process
    raise SystemExit("nginx did not start")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=".build/release/doubloon")
    parser.add_argument("--links", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--connections", type=int, default=32)
    options = parser.parse_args()
    for tool in ("wrk", "nginx"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is missing: apt-get install wrk nginx-light")
    workers = os.cpu_count() or 1
    folder = tempfile.mkdtemp(prefix="doubloon-redirects-")
    script = os.path.join(folder, "load.lua")
    with open(script, "w") as file:
        file.write(LOAD.format(count=options.links, host=HOST, agent=AGENT))
    server = Server(options.program, "--data", os.path.join(folder, "data"))
    peer = None
    try:
        port = server.await_address()
        put = Connection(port).ask("PUT", "/admin/v1/links/settings", {"domains": [f"https://{HOST}/r"]})
        assert put.status == 200, put.text
        table = os.path.join(folder, "links.csv")
        with open(table, "w") as file:
            file.write("short link,long link\r\n")
            for number in range(options.links):
                file.write(f"https://{HOST}/r/k{number},https://acme.test/play/{number}?invitedby=u{number}\r\n")
        begin = time.monotonic()
        subprocess.run(
            [options.program, "links", "import", table, "--server", f"http://127.0.0.1:{port}", "--key", "owner"], check=True)
        print(f"{options.links:,} links imported in {time.monotonic() - begin:.0f} s, {memory(server.process.pid)} MB", flush=True)
        own = measured("doubloon", server.process.pid, port, script, options)
        print(f"memory: {memory(server.process.pid)} MB", flush=True)
        server.stop()
        peer = nginx(folder, options.links, workers)
        other = measured("nginx   ", peer.pid, 28181, script, options)
        print(f"ratio: {own / other:.2f}")
    finally:
        server.kill()
        if peer:
            peer.terminate()
            peer.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
