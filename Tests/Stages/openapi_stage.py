"""The administrators' surface against its own OpenAPI document: schemathesis makes requests of it, good and bad ones, from a
fixed seed, and every answer must be what the document says. A server error, a status or a body that is not described, a bad
request that is taken, a route that forgets to ask for credentials: each is a failure.

`POST /admin/v1/backup` and `POST /admin/v1/replays/rebuild` are left out: they write files wherever the request says. So is
`POST /admin/v1/drain`, which answers 504 where something is not settled in time, and that is no failure. Whether every request that fits the document
is taken is not checked, because the document cannot say all there is to say: that an account must not pay itself, or that a
text is an event's id.
"""

import argparse
import os
import re
import subprocess
import sys

from server import Checks, Connection, Server

SEED = 20260730
# What a support person would find after a day: payments, a skip, a dead letter, a paused function, a second namespace.
DAY = [
    ("PUT", "/users/alice.json", {"name": "Alice"}),
    ("PUT", "/users/bob.json", {"name": "Bob", "referred_by": "alice", "level": 4}),
    ("PUT", "/users/bob/last_signin_at.json", 1),
    ("PUT", "/users/bob/level.json", 5),
    ("PUT", "/users/eve.json", {"referred_by": "joe", "level": 3}),
    ("PUT", "/users/eve/level.json", 6),
    ("PUT", "/users/joe/inventory/pieces_of_eight.json", "much"),
    ("PATCH", "/users/eve.json", {"level": 4}),
    ("PATCH", "/users/eve.json", {"level": 5}),
    ("PUT", "/things.json?ns=other", {"a": 1}),
    ("POST", "/admin/v1/drain", {}),
]
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,negative_data_rejection,missing_required_header,unsupported_method,"
    "allow_header_conformance,ignored_auth,use_after_free"
)


def seed(port, checks):
    """Writes the day; returns the document."""
    connection = Connection(port)
    for method, path, body in DAY:
        answer = connection.ask(method, path, body)
        checks.check(f"{method} {path}", answer.status == 200, answer.text)
    document = connection.ask("GET", "/admin/v1/openapi")
    checks.check("the document is there", document.status == 200 and document.json["openapi"] == "3.1.0", document.text[:200])
    connection.close()
    return document.json


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--schemathesis", required=True, help="the command")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--examples", type=int, default=25, help="for each operation")
    options = parser.parse_args()
    checks = Checks()
    server = Server(options.program, "--in-memory")
    try:
        port = server.await_address()
        document = seed(port, checks)
        operations = sum(len(methods) for methods in document["paths"].values())
        command = [
            os.path.abspath(options.schemathesis), "run", f"http://127.0.0.1:{port}/admin/v1/openapi",
            "--header", "Authorization: Bearer owner", "--seed", str(SEED), "--generation-deterministic",
            "--max-examples", str(options.examples), "--phases", "examples,coverage,fuzzing", "--checks", CHECKS,
            "--exclude-path", "/admin/v1/backup", "--exclude-path", "/admin/v1/replays/rebuild", "--exclude-path", "/admin/v1/drain",
            # A stream does not end.
            "--exclude-path", "/admin/v1/live",
            "--continue-on-failure", "--request-timeout", "120", "--workers", "1",
            "--suppress-health-check", "all", "--no-color", "--warnings", "off",
        ]
        run = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=options.seconds * 20, cwd=os.environ.get("TMPDIR", "/tmp"))
        print(run.stdout, flush=True)
        tested = re.search(r"Operations:\s+(\d+) selected", run.stdout)
        checks.check("schemathesis finds nothing", run.returncode == 0, f"exit code {run.returncode}")
        checks.check(
            # All but the four, and the document itself, which is read.
            "every other route was tried", tested is not None and int(tested.group(1)) >= operations - 5,
            run.stdout[-400:])
        ready = Connection(port).ask("GET", "/readyz")
        checks.check("the server works on", ready.status == 200, ready.text)
        checks.check("the server stops when it is asked to", server.stop() == 0)
    finally:
        server.kill()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
