"""Every page that a mail leads to, in a real browser: a production server mails a player, Chromium follows the link and presses
the button, and the account says whether anything came of it.

Runs in the environment of the stage `mail` (Tests/Stages/mail_requirements.txt) and needs chromium; Scripts/test sees to both.
"""

import argparse
import email
import email.policy
import http.server
import os
import re
import tempfile
import threading
import urllib.parse

from aiosmtpd.controller import Controller

from browser import Browser
from production import Production
from server import Checks
from serving import free_port, until

LINK_HOST = "go.acme.test"
LINKS = {
    "domains": [f"https://{LINK_HOST}/r"], "hosts": ["acme.test"],
    "apps": {
        "ios": [{"bundleId": "test.acme.ios", "appStoreId": "900100200", "appIdPrefix": "TEAM12345A", "name": "Treasure Hunt"}],
        "android": [],
    },
    "apiKeys": ["web-key-1"],
}
INVITES = {"appName": "Acme", "campaigns": {"default": {"link": f"https://{LINK_HOST}/r/?link=https://acme.test/play"}}}


class Box:
    """What the mail server was given, by recipient."""

    def __init__(self):
        self.mails = []

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        self.mails.append((envelope.rcpt_tos[0], mail))
        return "250 taken"

    def next(self, to, seen):
        """The first mail to somebody behind the `seen` that were there before."""
        found = lambda: next((mail for address, mail in self.mails[seen:] if address == to), None)
        until(found)
        mail = found()
        if mail is None:
            raise RuntimeError(f"no mail came to {to}")
        return mail


def links_in(mail):
    text = mail.get_body(("plain",)).get_content()
    return re.findall(r"https?://\S+", text)


class Application:
    """The game's own page, where a sign-in by mail ends."""

    def __init__(self):
        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<!doctype html><title>Game</title><p>Welcome back")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.address = f"http://localhost:{self.server.server_port}/in"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Game:
    """A player's client, the mailbox, and the browser in which mails are read."""

    def __init__(self, server, box, browser, checks):
        self.server, self.box, self.browser, self.checks = server, box, browser, checks
        self.client = server.client()

    def call(self, method, body, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.ask("POST", f"/v1/accounts:{method}?key=k", {"returnSecureToken": True, **body}, headers)

    def sign_up(self, address, password="secret-1"):
        answer = self.call("signUp", {"email": address, "password": password})
        assert answer.status == 200, answer.text
        return answer.json["idToken"]

    def signs_in(self, address, password="secret-1"):
        return self.call("signInWithPassword", {"email": address, "password": password}).status == 200

    def mailed(self, method, body, to, **headers):
        """Does what sends a mail; the mail and the link in it."""
        seen = len(self.box.mails)
        answer = self.call(method, body, **headers)
        assert answer.status == 200, answer.text
        mail = self.box.next(to, seen)
        link = links_in(mail)[0]
        self.checks.check(f"{link.split('mode=')[1].split('&')[0]}: the link names no emulator", "/emulator/" not in link, link)
        return mail, link

    def follows(self, link, language, heading, outcome):
        """Opens a link, presses its button, and looks what the pages say."""
        mode = link.split("mode=")[1].split("&")[0]
        self.browser.open(link)
        self.checks.check(
            f"{mode}: the page is in {language}", self.browser.language == language and heading in self.browser.text,
            self.browser.text)
        self.browser.press()
        self.checks.check(f"{mode}: its button does what it says", outcome in self.browser.text, self.browser.text)


def confirms(game):
    token = game.sign_up("ann@example.com")
    mail, link = game.mailed("sendOobCode", {"requestType": "VERIFY_EMAIL", "idToken": token}, "ann@example.com")
    game.checks.check("a client without a language gets the configured one", mail["Subject"].startswith("Confirm"), mail["Subject"])
    # Nobody named a language: the reader's counts.
    game.follows(link, "de", "Adresse bestätigen", "Die Adresse ann@example.com ist bestätigt.")
    user = game.call("lookup", {"idToken": token}).json["users"][0]
    game.checks.check("the address is confirmed", user.get("emailVerified") is True, user)
    game.browser.open(link)
    game.browser.press()
    game.checks.check("the link is good once", "Dieser Link gilt nicht mehr" in game.browser.text, game.browser.text)


def resets(game):
    game.sign_up("ben@example.com")
    mail, link = game.mailed(
        "sendOobCode", {"requestType": "PASSWORD_RESET", "email": "ben@example.com"}, "ben@example.com", Accept_Language="ja")
    game.checks.check("the mail is in the client's language", "パスワード" in mail["Subject"], mail["Subject"])
    game.browser.open(link)
    game.checks.check("the page is in the mail's language", game.browser.language == "ja", game.browser.text)
    game.browser.write("input", "fresh & new+1")
    game.browser.press()
    game.checks.check("the page says that it is done", "ben@example.com" in game.browser.text, game.browser.text)
    game.checks.check("the new password is the password", game.signs_in("ben@example.com", "fresh & new+1"))
    game.checks.check("the old one is not", not game.signs_in("ben@example.com"))


def changes(game):
    token = game.sign_up("cleo@example.com")
    _, link = game.mailed(
        "sendOobCode", {"requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "cleopatra@example.com"},
        "cleopatra@example.com", X_Firebase_Locale="fr")
    game.follows(link, "fr", "Confirmer votre nouvelle adresse", "cleopatra@example.com")
    game.checks.check("the account has the new address", game.signs_in("cleopatra@example.com"))


def takes_back(game):
    token = game.sign_up("dan@example.com")
    _, link = game.mailed(
        "update", {"idToken": token, "email": "thief@example.com"}, "dan@example.com", X_Firebase_Locale="es")
    game.checks.check("the address was changed", game.signs_in("thief@example.com"))
    game.follows(link, "es", "Deshacer el cambio de dirección", "vuelve a ser dan@example.com")
    game.checks.check("the account has its address again", game.signs_in("dan@example.com"))


def signs_in_by_mail(game, application):
    _, link = game.mailed(
        "sendOobCode", {"requestType": "EMAIL_SIGNIN", "email": "eve@example.com", "continueUrl": application.address},
        "eve@example.com")
    game.browser.open(link)
    game.checks.check(
        "the link to sign in leads to the game", game.browser.until(lambda: game.browser.address.startswith(application.address)), game.browser.address)
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(game.browser.address).query).get("oobCode", [""])[0]
    answer = game.call("signInWithEmailLink", {"email": "eve@example.com", "oobCode": code})
    game.checks.check("with the code that signs in", answer.status == 200, answer.text)


def leaves_the_list(game):
    admin = game.server.admin()
    for path, settings in (("links", LINKS), ("invites", INVITES)):
        answer = admin.ask("PUT", f"/admin/v1/{path}/settings", settings)
        assert answer.status == 200, answer.text
    token = game.call("signInWithPassword", {"email": "ann@example.com", "password": "secret-1"}).json["idToken"]

    def invites(address):
        return game.client.ask(
            "POST", "/v1/invites:send", {"channel": "email", "to": address, "inviter": "Your Bank", "message": "Come and play"},
            {"Authorization": f"Bearer {token}", "X-Firebase-Locale": "fr"})

    seen = len(game.box.mails)
    answer = invites("fred+games@example.com")
    game.checks.check("a player with a confirmed address invites", answer.status == 200, answer.text)
    mail = game.box.next("fred+games@example.com", seen)
    game.checks.check("the mail comes from the game", str(mail["From"]) == "Acme <noreply@acme.test>", mail["From"])
    game.checks.check("in the player's language", "vous invite" in mail["Subject"], mail["Subject"])
    link = links_in(mail)[-1]
    game.checks.check("the link off the list is to be seen", "/unsubscribe" in link, link)
    game.browser.open(link.replace(f"https://{LINK_HOST}", f"http://localhost:{game.server.port}"))
    game.checks.check("unsubscribe: the page is in the mail's language", game.browser.language == "fr", game.browser.text)
    game.browser.press()
    game.checks.check("unsubscribe: its button does what it says", "ne recevra plus" in game.browser.text, game.browser.text)
    answer = invites("fred@example.com")
    game.checks.check("the mailbox gets no more of them", answer.status == 400 and "suppressed" in answer.text, answer.text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    checks = Checks()
    box = Box()
    controller = Controller(box, hostname="127.0.0.1", port=free_port())
    controller.start()
    application = Application()
    port = free_port()
    settings = {
        "listen": {"host": "127.0.0.1", "port": port, "behindProxy": True},
        "accounts": {"publicURL": f"http://localhost:{port}", "authorizedDomains": ["localhost"]},
        "mail": {
            "from": "Acme <noreply@acme.test>", "appName": "Acme",
            "smtp": {"host": "127.0.0.1", "port": controller.port, "security": "none"},
        },
    }
    try:
        with tempfile.TemporaryDirectory() as folder:
            server = Production(program, folder, settings)
            try:
                with Browser(language="de-AT,de;q=0.9") as browser:
                    game = Game(server, box, browser, checks)
                    confirms(game)
                    resets(game)
                    changes(game)
                    takes_back(game)
                    signs_in_by_mail(game, application)
                    leaves_the_list(game)
            finally:
                code = server.stop()
            checks.check("the server ends in order", code == 0, code)
    finally:
        controller.stop()
        application.server.shutdown()
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
