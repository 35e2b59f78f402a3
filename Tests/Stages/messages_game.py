"""A game's site whose pages show in-app messages, and beside it a server of messages that a check plays: it answers what the check
says, and notes what it is told. The site may stand before a real server instead. Standard library only.
"""

import html
import http.client
import http.server
import json
import os
import queue
import threading
import time

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Sources", "CConsoleAssets", "messages")
TYPES = {"js": "application/javascript", "css": "text/css", "html": "text/html; charset=utf-8"}
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src https:; connect-src 'self'"
STYLE = "body { margin: 1rem; font: 1rem system-ui; background: Canvas; color: CanvasText; color-scheme: light dark }"
SCRIPT = """
import { start } from "/messages/client.js";
const options = JSON.parse(document.querySelector("meta[name=options]").content);
window.heard = [];
window.messages = start({ ...options, server: options.server ?? location.origin });
for (const name of ["impression", "click", "dismiss", "error"]) {
  messages.on(name, (one) => {
    one.event?.preventDefault();
    heard.push([name, one.campaign, one.role ?? one.type ?? null, one.url ?? null, one.data ?? null]);
  });
}
window.ready = true;
"""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A game</title><link rel="stylesheet" href="/page.css"><meta name="options" content="%s">
<main><h1>Dig for treasure</h1><p>Somewhere on this island a chest is buried.</p><button id="dig">Dig</button></main>
<script type="module" src="/page.js"></script></html>"""


def message(campaign, layout, content, *triggers, own=None, **more):
    """A message as a fetch brings it; a trigger is `ON_FOREGROUND`, `APP_LAUNCH`, or an event's name."""
    asked = [{"fiamTrigger": one} if one.isupper() else {"event": {"name": one}} for one in triggers]
    return {"vanillaPayload": {"campaignId": campaign, "campaignName": campaign, "campaignStartTimeMillis": "0",
                               "campaignEndTimeMillis": "9223372036854775807"},
            "content": {layout: content}, "priority": {"value": 5}, "triggeringConditions": asked,
            "doubloon": {"language": "en", "direction": "ltr", **(own or {})}, **more}


class Game:
    """The site on a port of its own. `messages`, `pending` and `settings` are what a fetch brings next; `broken` is a status that it
    answers instead, `retry_after` what it says with that, `ahead` by how many seconds its clock is. `proxied` is the port of a server to which everything but the page goes."""

    def __init__(self, proxied=None):
        self.messages, self.pending = [], []
        self.settings = {"impressionSeconds": 3, "bannerSeconds": 12, "minInterval": 0, "foregroundInterval": 0}
        self.broken = self.retry_after = None
        self.ahead = 0
        self.proxied = proxied
        self.options = {"key": "k", "app": "1:77:web:ab", "consent": True}
        self.requests, self.lines, self.conversions, self._streams = [], [], [], []
        game = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def date_time_string(self, timestamp=None):
                return super().date_time_string(timestamp or time.time() + game.ahead)

            def do_GET(self):
                game._answer(self)

            do_POST = do_DELETE = do_GET

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _answer(self, request):
        path = request.path.split("?")[0]
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        name = path.rsplit("/", 1)[-1]
        if path == "/":
            return self._send(request, 200, "html", PAGE % html.escape(json.dumps(self.options)))
        if path in ("/page.js", "/page.css"):
            return self._send(request, 200, name.split(".")[1], SCRIPT if name == "page.js" else STYLE)
        if path.startswith("/messages/") and name in os.listdir(FILES) and not self.proxied:
            with open(os.path.join(FILES, name), encoding="utf-8") as file:
                return self._send(request, 200, name.split(".")[1], file.read())
        if path == "/favicon.ico":
            return self._send(request, 204, "html", "")
        self.requests.append(f"{request.command} {path}")
        if self.proxied:
            return self._pass(request, body)
        if path == "/v1/messages/events":
            return self._stream(request)
        status, answer = self._play(path, json.loads(body or b"{}"))
        return self._send(request, status, "json", json.dumps(answer))

    def _play(self, path, body):
        if self.broken and "/installations" not in path:
            return self.broken, {}
        if path.endswith("eligibleCampaigns:fetch"):
            expires = str(int(time.time() * 1000) + 3_600_000)
            own = {"pendingEvents": self.pending, "settings": self.settings}
            return 200, {"messages": self.messages, "expirationEpochTimestampMillis": expires, "doubloon": own}
        if path == "/v1/messages/log":
            self.lines += [json.loads(one["source_extension_json"]) for one in body["log_event"]]
            return 200, {"next_request_wait_millis": "300000"}
        if path == "/v1/messages/conversions":
            self.conversions += body["events"]
            return 200, {}
        if path.endswith("/installations"):
            return 200, {"fid": body["fid"], "refreshToken": "r", "authToken": {"token": "t", "expiresIn": "604800s"}}
        return (200, {}) if "/installations/" in path else (404, {"error": {"code": 404, "message": path, "status": "NOT_FOUND"}})

    def _send(self, request, status, kind, text):
        body = text.encode()
        request.send_response(status)
        request.send_header("Content-Type", TYPES.get(kind, "application/json"))
        request.send_header("Content-Length", str(len(body)))
        if self.retry_after and status == self.broken:
            request.send_header("Retry-After", str(self.retry_after))
        if kind == "html":
            request.send_header("Content-Security-Policy", POLICY)
        request.end_headers()
        request.wfile.write(body)

    def _pass(self, request, body):
        """Hands a request to the real server, and its answer back as it comes: a stream has no end."""
        line = http.client.HTTPConnection("127.0.0.1", self.proxied, timeout=600)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host", "connection")}
        line.request(request.command, request.path, body or None, headers)
        answer = line.getresponse()
        request.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                request.send_header(name, value)
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        try:
            while part := answer.read1(65536):
                request.wfile.write(part)
                request.wfile.flush()
        except OSError:
            pass
        line.close()

    def _stream(self, request):
        events = queue.Queue()
        self._streams.append(events)
        request.send_response(200)
        request.send_header("Content-Type", "text/event-stream")
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        try:
            while name := events.get():
                request.wfile.write(f"event: {name}\ndata: null\n\n".encode())
                request.wfile.flush()
        except OSError:
            pass

    @property
    def is_listened_to(self):
        """Whether a page hears what is said."""
        return bool(self._streams)

    def say(self, name):
        """An event on every stream."""
        for events in self._streams:
            events.put(name)

    def logged(self, *names):
        """The values of these members in each line of the log, in order."""
        return [tuple(line.get(name) for name in names) for line in self.lines]

    def close(self):
        self.say(None)
        self._server.shutdown()
