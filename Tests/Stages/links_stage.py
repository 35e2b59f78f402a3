"""Links over HTTP, judged by programs that know nothing of Doubloon: zbar reads the codes, Python's HTML parser the pages,
Chromium opens the invitation page in a phone's viewport.

Needs zbarimg and chromium; Scripts/test installs them.
"""

import argparse
import base64
import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.parse

from server import Checks, Connection, Server

HOST = "go.acme.test"
PREFIX = f"https://{HOST}/r"
KEY = "web-key-1"
IPHONE = ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
          "Version/17.5 Mobile/15E148 Safari/604.1")
ANDROID = ("Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
           "Mobile Safari/537.36")
DESKTOP = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
CRAWLER = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"

SETTINGS = {
    "domains": [PREFIX],
    "hosts": ["acme.test"],
    "apps": {
        "ios": [{"bundleId": "test.acme.ios", "appStoreId": "900100200", "appIdPrefix": "TEAM12345A", "name": "Treasure Hunt"}],
        "android": [{"packageName": "test.acme.app", "sha256Fingerprints": [":".join(["AB"] * 32)]}],
    },
    "apiKeys": [KEY],
    "limits": {"createPerSecond": 1000},
}


class Tags(html.parser.HTMLParser):
    """The meta tags, links and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.meta, self.links, self.words, self.tags = {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        if tag == "meta" and "content" in values:
            self.meta[values.get("property") or values.get("name")] = values["content"]
        if tag == "a":
            self.links.append(values)

    def handle_data(self, data):
        self.words.append(data.strip())


class Links:
    """A server with link settings, and a connection to it."""

    def __init__(self, server):
        self.port = server.port
        self.connection = Connection(server.port)

    def ask(self, method, path, body=None, agent=None, admin=True, host=HOST):
        headers = {"Host": host}
        if agent:
            headers["User-Agent"] = agent
        if not admin:
            headers["Authorization"] = ""
        return self.connection.ask(method, path, body, headers)

    def create(self, **parameters):
        long = PREFIX + "/?" + urllib.parse.urlencode(parameters, quote_via=urllib.parse.quote)
        answer = self.ask("POST", f"/v1/shortLinks?key={KEY}", {"longDynamicLink": long})
        assert answer.status == 200, answer.text
        return answer.json["shortLink"], answer.json.get("code")

    def open(self, link, agent):
        return self.ask("GET", link[len(f"https://{HOST}"):], agent=agent)


def token(uid):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return f'{part({"alg": "none"})}.{part({"sub": uid, "user_id": uid})}.'


def decode(path):
    return subprocess.run(
        ["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", path], capture_output=True, text=True).stdout.rstrip("\n")


def codes(program, checks, folder):
    texts = ["https://go.acme.test/r/aB3x", "https://a.test/" + "x" * 90, "https://a.test/?" + "y=1&" * 150,
             "https://a.test/" + "Zz9" * 330]
    for text in texts:
        path = os.path.join(folder, "code.png")
        subprocess.run([program, "links", "qr", text, "--out", path, "--scale", "4"], check=True)
        checks.check(f"zbar reads a PNG of {len(text)} characters", decode(path) == text, decode(path)[:80])
    svg = os.path.join(folder, "code.svg")
    subprocess.run([program, "links", "qr", texts[1], "--out", svg], check=True)
    shot = os.path.join(folder, "svg.png")
    chromium("file://" + svg, shot, 600, 600)
    checks.check("zbar reads the SVG as Chromium draws it", decode(shot) == texts[1], decode(shot)[:80])


def chromium(address, shot, width, height, *more):
    subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}",
         f"--screenshot={shot}", "--force-device-scale-factor=2", f"--user-agent={IPHONE}", *more, address],
        check=True, capture_output=True, timeout=120)


def reaching(port):
    """Chromium's way to the server under the link's own name, which counts as safe enough for the clipboard."""
    return [f"--host-resolver-rules=MAP {HOST}:80 127.0.0.1:{port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--unsafely-treat-insecure-origin-as-secure=http://{HOST}"]


def files_for_phones(links, checks):
    bodies = []
    for path in ("/.well-known/apple-app-site-association", "/apple-app-site-association"):
        answer = links.ask("GET", path, admin=False)
        checks.check(f"{path} is JSON", answer.status == 200 and answer.headers["content-type"] == "application/json")
        bodies.append(answer.text)
    details = json.loads(bodies[0])["applinks"]["details"]
    checks.check("both association files are the same", bodies[0] == bodies[1])
    checks.check("it names the app and the prefix", details[0]["appID"] == "TEAM12345A.test.acme.ios" and "/r/*" in details[0]["paths"])
    assets = links.ask("GET", "/.well-known/assetlinks.json", admin=False).json
    checks.check("the asset links name the package", assets[0]["target"]["package_name"] == "test.acme.app")


def pages(links, checks, folder, keep):
    title = 'Alice wants you aboard <the "Treasure" & more>'
    link, code = links.create(
        link="https://acme.test/play?gameid=7&invitedby=alice", apn="test.acme.app", ibi="test.acme.ios", st=title,
        sd="Sail with Alice and both of you get 50 pieces of eight for your first voyage.", si=IMAGE)
    card = Tags(links.open(link, CRAWLER).text)
    checks.check("a crawler reads the title as it was written", card.meta.get("og:title") == title, card.meta)
    checks.check("the card has image and address", card.meta.get("og:image") == IMAGE and card.meta.get("og:url") == link)
    page = links.open(link, IPHONE)
    tags = Tags(page.text)
    button = next((a for a in tags.links if "data-copy" in a), {})
    checks.check("the page's button leads to the App Store", "apps.apple.com/app/id900100200" in button.get("href", ""))
    checks.check("what is copied proves a click", re.fullmatch(
        re.escape(link) + r"\?cid=[A-Za-z0-9_-]+&_icp=1", button.get("data-copy", "")) is not None, button)
    checks.check("the code is on the page", f"{code[:4]}-{code[4:]}" in tags.words)
    shot = os.path.join(keep or folder, "invitation.png")
    dom = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--enable-logging=stderr", f"--user-agent={IPHONE}",
         *reaching(links.port), link.replace("https:", "http:")],
        capture_output=True, text=True, timeout=120)
    checks.check("Chromium shows the page", "Save my place" in dom.stdout, dom.stdout[:200])
    checks.check("nothing on it breaks its own policy", "Content Security Policy" not in dom.stderr, dom.stderr[-400:])
    chromium(
        link.replace("https:", "http:"), shot, 390, 844, *reaching(links.port))
    checks.check("the screenshot is there", os.path.getsize(shot) > 20_000)
    for name, texts in LOOKS.items():
        other, _ = links.create(link="https://acme.test/play?invitedby=alice", ibi="test.acme.ios", **texts)
        for scheme, dark in (("light", []), ("dark", ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"])):
            shot = os.path.join(keep or folder, f"invitation-{name}-{scheme}.png")
            chromium(other.replace("https:", "http:"), shot, 390, 844, *reaching(links.port), *dark)
            checks.check(f"the page {name} is drawn, {scheme}", os.path.getsize(shot) > 20_000)
    return button.get("data-copy", ""), code


def claims(links, checks, copied, code):
    def claim(body, uid):
        return links.connection.ask("POST", "/v1/referrals:claim", body, {"Authorization": f"Bearer {token(uid)}", "Host": HOST})

    attributed = links.ask("POST", f"/v1/installAttribution?key={KEY}", {
        "bundleId": "test.acme.ios", "uniqueMatchLinkToCheck": copied, "retrievalMethod": 1})
    checks.check("the installation is UNIQUE", attributed.json.get("attributionConfidence") == "UNIQUE", attributed.text)
    checks.check("and the app learns where to go", attributed.json.get("deepLink") == "https://acme.test/play?gameid=7&invitedby=alice")
    answer = claim({"link": copied}, "bob")
    checks.check("bob was invited by alice", answer.json.get("referredBy") == "alice", answer.text)
    checks.check("nobody else by that click", claim({"link": copied}, "carol").status == 409)
    checks.check("carol types the code", claim({"code": code.lower()}, "carol").json.get("referredBy") == "alice")
    for uid in ("bob", "carol"):
        sign_in = links.connection.ask(
            "PUT", f"/users/{uid}/last_signin_at.json", {".sv": "timestamp"}, {"X-Doubloon-Wait": "effects"})
        balance = links.connection.ask("GET", f"/users/{uid}/inventory/pieces_of_eight.json").json
        checks.check(f"check 56: {uid}'s sign-up is paid", sign_in.status == 200 and balance == 50, balance)
    checks.check("and alice's not", links.connection.ask("GET", "/users/alice/inventory/pieces_of_eight.json").json is None)
    for level in (4, 5):
        links.connection.ask("PUT", "/users/bob/level.json", level, {"X-Doubloon-Wait": "effects"})
    checks.check(
        "check 57: level 5 pays alice", links.connection.ask("GET", "/users/alice/inventory/pieces_of_eight.json").json == 50)
    for account in ("user:bob", "user:alice"):
        statement = links.ask("GET", f"/admin/v1/ledger/statement?account={account}").json
        referral = statement["entries"][0].get("referral", {})
        checks.check(
            f"the statement of {account} shows the click", referral.get("how") == "click" and referral.get("player") == "bob",
            statement)


def counts(program, links, server, data, checks):
    """Opens links, ends the server in order, and looks whether anything was lost."""
    link, _ = links.create(link="https://acme.test/counted")
    threads = [threading.Thread(target=lambda: [
        Connection(links.port).ask("GET", link[len(f"https://{HOST}"):], None, {"Host": HOST, "User-Agent": DESKTOP})
        for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checks.check("the server ends in order", server.stop() == 0)
    again = Server(program, "--data", data)
    again.await_address()
    answer = Links(again).ask("GET", f"/v1/{link}/linkStats?durationDays=7")
    checks.check(
        "an orderly stop loses no count", answer.json == {
            "linkEventStats": [{"platform": "DESKTOP", "event": "CLICK", "count": "200"}]}, answer.text)
    return again


def tables(program, server, checks, folder):
    source = os.path.join(folder, "fdl.csv")
    with open(source, "w", newline="") as file:
        file.write("Link name,Short link,Long link\r\n")
        for number in range(1200):
            file.write(f'poster {number},https://acme.page.link/Old{number},https://acme.page.link/?link=https://acme.test/p/{number}\r\n')
    command = [program, "links", "--help"]
    subprocess.run(command, check=True, capture_output=True)
    where = ["--server", f"http://127.0.0.1:{server.port}", "--key", "owner"]
    done = subprocess.run([program, "links", "import", source, "--prefix", PREFIX, *where], capture_output=True, text=True)
    checks.check("1,200 links are imported", "1,200 created" in done.stdout, done.stdout + done.stderr)
    answer = Links(server).open(f"{PREFIX}/Old777", DESKTOP)
    checks.check("an old suffix opens", answer.headers.get("location") == "https://acme.test/p/777", answer.text)
    target = os.path.join(folder, "export.csv")
    subprocess.run([program, "links", "export", "--out", target, *where], check=True)
    again = subprocess.run([program, "links", "import", target, *where, "--json"], capture_output=True, text=True)
    report = json.loads(again.stdout)
    checks.check("what was exported is there already", report["unchanged"] >= 1200 and report["created"] == 0, again.stdout[:300])
    shown = subprocess.run([program, "links", "show", f"{PREFIX}/Old5", *where], capture_output=True, text=True)
    changes(program, server, where, checks)
    checks.check("links show", "poster 5" in shown.stdout and "https://acme.test/p/5" in shown.stdout, shown.stdout)


def changes(program, server, where, checks):
    """An administrator edits, switches off, switches on and deletes a link by the commands."""
    link = f"{PREFIX}/Old8"

    def run(*words):
        done = subprocess.run([program, "links", *words, *where], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def opened():
        answer = Links(server).open(link, DESKTOP)
        return answer.status, answer.headers.get("location")

    status, text = run("edit", link, "--to", "https://acme.test/new", "--set", "st=Come aboard", "--name", "Autumn")
    checks.check("links edit shows what the link says now", status == 0 and "https://acme.test/new" in text and "Autumn" in text, text)
    checks.check("and the link opens it", opened() == (302, "https://acme.test/new"), opened())
    checks.check("links edit without a change is misuse", run("edit", link)[0] == 2)
    status, text = run("edit", link, "--to", "https://evil.test/")
    checks.check("a foreign host is refused with what to do", status == 1 and "hosts" in text, text)
    checks.check("links disable", run("disable", link) == (0, f"{link} is disabled.\n"))
    page = Links(server).ask("GET", "/r/Old8", agent=IPHONE)
    checks.check("the page says so", page.status == 404 and "switched off" in page.text, page.text[:300])
    checks.check("links list says so", "Old8 (disabled)" in run("list", "--after", f"{HOST}/r/Old799", "--limit", "5")[1])
    checks.check("links enable", run("enable", link) == (0, f"{link} is enabled.\n"))
    checks.check("and it opens again", opened() == (302, "https://acme.test/new"), opened())
    checks.check("links delete", run("delete", link) == (0, f"{link} is deleted.\n"))
    page = Links(server).open(link, IPHONE)
    checks.check("the page says that it is gone", page.status == 410 and "gone" in page.text, page.text[:300])
    status, text = run("disable", link)
    checks.check("what is gone cannot be disabled", status == 1 and "no short link" in text, text)
    audit = subprocess.run([program, "audit", "list", "--json", *where], capture_output=True, text=True).stdout
    checks.check("all of it is on record", all(word in audit for word in ("links.edit", "links.delete")), audit[:300])


# Texts that a page must look right with.
LOOKS = {
    "bare": {},
    "long": {"st": "Captain Alice Rackham-Bonaventura of the Seven Seas and her merry crew of privateers have been looking for "
                   "somebody exactly like you for donaudampfschifffahrtsgesellschaftskapitaen weeks", "sd": "Sail with Alice. " * 20},
    "rtl": {"st": "أليس تدعوك للعب معها", "sd": "أبحر مع أليس وسيحصل كل منكما على 50 قطعة من ثمانية لرحلتك الأولى."},
}

# Chromium asks for it in vain: the address is nobody's. The page must look right without it.
IMAGE = "https://cdn.acme.test/banner.png"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--keep", help="a folder for the screenshot")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="doubloon-links-")
    data = os.path.join(folder, "data")
    server = Server(program, "--data", data)
    try:
        server.await_address()
        links = Links(server)
        put = links.ask("PUT", "/admin/v1/links/settings", SETTINGS)
        checks.check("the settings are taken", put.status == 200, put.text)
        codes(program, checks, folder)
        files_for_phones(links, checks)
        copied, code = pages(links, checks, folder, options.keep)
        claims(links, checks, copied, code)
        server = counts(program, links, server, data, checks)
        tables(program, server, checks, folder)
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
    raise SystemExit(checks.finish())


if __name__ == "__main__":
    main()
