#!/usr/bin/env python3
"""Takes the alerts that a Doubloon server posts, and shows those that are really the server's. Standard library only.

    ALERT_SECRET=... ./receiver.py --port 8470

Tell the server in its configuration: "alerts": {"webhook": {"url": "http://127.0.0.1:8470/", "secret": {"env": "ALERT_SECRET"}}}.
What this program prints, yours sends to a pager, a chat or a ticket. An alert may come twice under the same "id": once is enough.
"""

import argparse
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

# An alert that is older was kept back by somebody, or the clocks differ.
AGE_MAX_SECONDS = 300
BODY_BYTES_MAX = 64 << 10


def is_genuine(secret, timestamp, body, signature, now=None):
    """Whether who signed the body knows the secret, and did it lately."""
    if not timestamp.isascii() or not timestamp.isdigit():
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > AGE_MAX_SECONDS:
        return False
    code = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest("v1=" + code, signature)


class Receiver(http.server.BaseHTTPRequestHandler):
    secret = ""
    seen = []
    timeout = 20

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            return self.answer(413)
        body = self.rfile.read(int(length))
        timestamp = self.headers.get("X-Doubloon-Timestamp", "")
        if not is_genuine(self.secret, timestamp, body, self.headers.get("X-Doubloon-Signature", "")):
            return self.answer(401)
        alert = json.loads(body)
        # A repetition is answered as the first one was, so that it ends.
        if alert["id"] not in self.seen:
            self.seen.append(alert["id"])
            del self.seen[:-1000]
            print(f'{alert["time"]} {alert["project"]} {alert["state"]} {alert["kind"]}: {alert["summary"]}', flush=True)
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Nothing: alerts are what is printed."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8470)
    options = parser.parse_args()
    Receiver.secret = os.environ.get("ALERT_SECRET", "")
    if len(Receiver.secret) < 16:
        sys.exit("Set ALERT_SECRET to the secret of the server's alerts.webhook: 16 characters at least.")
    with http.server.ThreadingHTTPServer((options.host, options.port), Receiver) as server:
        print(f"Receiving at http://{options.host}:{server.server_address[1]}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
