"""Production from outside: `doubloon serve` over TLS, and its mail to a real mail server (aiosmtpd), read by Python's parser.

Runs in an environment that holds the package (Tests/Stages/mail_requirements.txt); Scripts/test makes one.
"""

import argparse
import email
import email.policy
import json
import os
import signal
import socket
import ssl
import subprocess
import tempfile

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from server import Checks
from serving import Serve, certificates, free_port, issue, until

TOKEN = "0123456789abcdef0123456789abcdef"


class Box:
    """What the mail server was given."""

    def __init__(self):
        self.mails = []
        self.busy = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 no such user"
        if address.startswith("busy@") and self.busy < 2:
            self.busy += 1
            return "451 4.3.0 try later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((session.ssl is not None, envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 taken"


class MailController(Controller):
    def __init__(self, handler, context):
        self.context = context
        super().__init__(handler, hostname="127.0.0.1", port=free_port())

    def factory(self):
        def authenticate(server, session, envelope, mechanism, data):
            good = isinstance(data, LoginPassword) and data.login == b"hunt" and data.password == b"p w"
            return AuthResult(success=good)
        return SMTP(
            self.handler, tls_context=self.context, require_starttls=True, auth_required=True, authenticator=authenticate,
            hostname="mx.test")


def configuration(folder, smtp_port):
    rules = {"rules": {"open": {".read": True, ".write": True}}}
    settings = {
        "project": "stage", "data": "data", "rules": "rules.json",
        "listen": {"host": "127.0.0.1", "port": 0},
        "tls": [{"certificate": "server.pem", "key": "server.key"}],
        "admins": [{"name": "ops", "token": {"file": "ops.token"}}],
        "mail": {
            "from": "Hunt <noreply@hunt.example>",
            "smtp": {"host": "localhost", "port": smtp_port, "security": "starttls", "user": "hunt",
                     "password": {"env": "SMTP_PASSWORD"}, "ca": "ca.pem"},
        },
        "alerts": {"mail": ["Ops <ops@hunt.example>"], "diskFree": 0, "certificateLeft": "1s"},
    }
    for name, text in (("rules.json", json.dumps(rules)), ("ops.token", TOKEN + "\n"),
                       ("doubloon.jsonc", "// The stage's.\n" + json.dumps(settings, indent=1))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return os.path.join(folder, "doubloon.jsonc")


def curl(folder, *arguments):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "120", "--cacert", os.path.join(folder, "ca.pem"), *arguments],
        capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"curl ended with {done.returncode}: {done.stderr}"


def over_tls(checks, folder, serve, program):
    base = f"https://localhost:{serve.port}"
    admin = ("-H", f"Authorization: Bearer {TOKEN}")
    checks.check("curl talks to it over TLS", curl(folder, base + "/healthz") == '{"status":"ok"}')
    for version in ("1.2", "1.3"):
        text = curl(folder, f"--tlsv{version}", "--tls-max", version, base + "/healthz")
        checks.check(f"TLS {version} is spoken", text == '{"status":"ok"}', text)
    refused = curl(folder, "--tls-max", "1.1", "--tlsv1.0", base + "/healthz")
    checks.check("TLS 1.1 is not", refused.startswith("curl ended with"), refused)
    text = curl(folder, *admin, "-X", "PUT", base + "/users/bob.json", "-d", '{"level":4}')
    checks.check("an administrator writes", text == '{"level":4}', text)
    text = curl(folder, base + "/users/bob.json")
    checks.check("a client without credentials does not read", "Permission denied" in text or "error" in text, text)
    large = os.path.join(folder, "large.json")
    with open(large, "w") as file:
        json.dump({f"k{number:05}": "x" * 100 for number in range(5000)}, file)
    curl(folder, *admin, "-X", "PUT", base + "/large.json?print=silent", "-d", "@" + large)
    text = curl(folder, *admin, base + "/large.json")
    checks.check("half a megabyte there and back", len(text) > 500_000 and text.endswith('"}'), text[:200])
    with subprocess.Popen(
            ["curl", "--silent", "--no-buffer", "--max-time", "120", "--cacert", os.path.join(folder, "ca.pem"), *admin, "-H",
             "Accept: text/event-stream", base + "/users/bob.json"], stdout=subprocess.PIPE, text=True) as stream:
        first = stream.stdout.readline()
        stream.kill()
    checks.check("a stream begins", first == "event: put\n", first)
    done = subprocess.run(
        [program, "status", "--server", base, "--ca", os.path.join(folder, "ca.pem"), "--key", os.path.join(folder, "ops.token")],
        capture_output=True, text=True)
    checks.check("the program's own commands talk to it", done.returncode == 0 and "production" in done.stdout, done.stderr)
    checks.check("a WebSocket opens, and the realtime server greets", greeted(folder, serve.port))


def connected(folder, port):
    context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=120), server_hostname="localhost")


def greeted(folder, port):
    with connected(folder, port) as tls:
        tls.sendall(
            b"GET /.ws?v=5 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        heard = b""
        while b'"t":"c"' not in heard:
            more = tls.recv(4096)
            if not more:
                return False
            heard += more
        return heard.startswith(b"HTTP/1.1 101 ")


def serial(folder, port):
    with connected(folder, port) as tls:
        return tls.getpeercert()["serialNumber"]


def renewal(checks, folder, serve):
    before = serial(folder, serve.port)
    issue(folder, "renewed")
    for suffix in ("pem", "key"):
        os.replace(os.path.join(folder, f"renewed.{suffix}"), os.path.join(folder, f"server.{suffix}"))
    serve.process.send_signal(signal.SIGHUP)
    checks.check("SIGHUP reads the certificates again", serve.said("certificates loaded again"))
    checks.check("the next connection has the renewed one", serial(folder, serve.port) != before)


def order(folder, serve, payload):
    """Has the server send a mail, as an administrator's function would."""
    return curl(folder, "-H", f"Authorization: Bearer {TOKEN}", "-X", "POST",
                f"https://localhost:{serve.port}/admin/v1/mail/test", "-d", json.dumps(payload))


def fate(folder, serve, sent):
    """What became of a mail that was ordered."""
    key = json.loads(sent)["key"]
    return json.loads(curl(folder, "-H", f"Authorization: Bearer {TOKEN}",
                           f"https://localhost:{serve.port}/admin/v1/mail/orders/{key}"))


def errors(checks, folder, serve, box):
    sent = order(folder, serve, {"to": "nobody@example.com"})
    checks.check("a recipient that does not exist is given up", until(lambda: fate(folder, serve, sent)["state"] == "dead"))
    end = fate(folder, serve, sent)
    checks.check("at the first attempt, with the server's words", end["attempts"] == 1 and "no such user" in end["lastError"], end)
    sent = order(folder, serve, {"to": "busy@example.com"})
    checks.check("one that is busy is tried again", until(lambda: "try later" in fate(folder, serve, sent).get("lastError", "")))
    checks.check("until it is delivered", until(lambda: fate(folder, serve, sent)["state"] == "delivered"), fate(folder, serve, sent))
    checks.check("once", sum("busy@example.com" in mail[2] for mail in box.mails) == 1)


def alerts(checks, folder, serve, box):
    """A paused function is mailed to who is to look after it, not through the outbox."""
    url = f"https://localhost:{serve.port}/admin/v1/functions/rewardReferrals"
    key = ("-H", f"Authorization: Bearer {TOKEN}", "-X", "POST")
    found = lambda words: [email.message_from_bytes(mail[3], policy=email.policy.default) for mail in box.mails
                           if mail[2] == ["ops@hunt.example"] and words.encode() in mail[3]]
    curl(folder, *key, url + "/pause", "-d", json.dumps({"reason": "the price is wrong"}))
    checks.check("a paused function is mailed to the operators", until(lambda: found("Alert: function paused"), 300))
    if not found("Alert: function paused"):
        return
    mail = found("Alert: function paused")[0]
    text = " ".join(mail.get_body(("plain",)).get_content().split())
    checks.check("the mail says which, why, and what to do",
                 "rewardReferrals (the price is wrong)" in text and "doubloon functions resume" in text, text)
    curl(folder, *key, url + "/resume", "-d", "{}")
    checks.check("and another one that it is over", until(lambda: found("Over: function paused"), 300))
    checks.check("each once", len(found("Alert: function paused")) == 1 and len(found("Over: function paused")) == 1)


def mails(checks, folder, serve, box):
    subject = "Gr\u00fc\u00dfe \U0001f600 und ein Betreff, der l\u00e4nger als eine Zeile ist"
    text = "Erste Zeile = gut\n.ein Punkt\n" + "lang " * 60 + "\n\u20ac"
    sent = order(folder, serve, {"to": "Zo\u00eb <zoe@example.com>", "subject": subject, "text": text, "html": "<p>\u20ac</p>"})
    checks.check("a test mail is ordered", '"status":"ok"' in sent, sent)
    checks.check("the mail server has it", until(lambda: box.mails))
    if not box.mails:
        return
    private, sender, recipients, content = box.mails[0]
    mail = email.message_from_bytes(content, policy=email.policy.default)
    checks.check("over TLS, signed in", private)
    checks.check("the envelope", sender == "noreply@hunt.example" and recipients == ["zoe@example.com"], (sender, recipients))
    checks.check("the subject is read as it was written", mail["Subject"] == subject, mail["Subject"])
    checks.check("the names are", mail["From"] == "Hunt <noreply@hunt.example>" and "Zo\u00eb" in mail["To"], mail["To"])
    plain = mail.get_body(("plain",)).get_content().replace("\r\n", "\n").rstrip("\n")
    checks.check("the text is", plain == text, plain)
    checks.check("the HTML is", mail.get_body(("html",)).get_content().strip() == "<p>\u20ac</p>")
    checks.check("no parser complains", not mail.defects, mail.defects)
    checks.check("it has an id and a date", mail["Message-ID"].endswith("@hunt.example>") and mail["Date"].datetime is not None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
        box = Box()
        controller = MailController(box, context)
        controller.start()
        config = configuration(folder, controller.port)
        done = subprocess.run(
            [program, "config", "check", config], capture_output=True, text=True, env={**os.environ, "SMTP_PASSWORD": "p w"})
        checks.check("the configuration is well", done.returncode == 0, done.stderr)
        checks.check("no secret is shown", TOKEN not in done.stdout + done.stderr and "p w" not in done.stdout)
        serve = Serve(program, config, SMTP_PASSWORD="p w")
        try:
            over_tls(checks, folder, serve, program)
            mails(checks, folder, serve, box)
            errors(checks, folder, serve, box)
            alerts(checks, folder, serve, box)
            renewal(checks, folder, serve)
        finally:
            code = serve.stop()
            controller.stop()
        checks.check("SIGTERM ends it in order", code == 0 and serve.said("Stopped."), code)
        checks.check("no secret is in the log", not any(TOKEN in line or "p w" in line for line in serve.lines))
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
