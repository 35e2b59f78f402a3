"""A server with its console, and the windows in which people look at it: what the modules of the stage `console` are given."""

import json
import re
import subprocess
import tempfile
import urllib.parse

from browser import Tab
from production import TOKEN, Production
from server import Connection, Server
from serving import until

NAMESPACE = "demo-default-rtdb"
# Pages of one module that may be asked for twice.
AGAIN_MAX = 3
EFFECTS = {"X-Doubloon-Wait": "effects"}


class Site:
    """The server of one module. `settings` beside those of production.Production make it `doubloon serve`; without it is
    `doubloon dev`."""

    def __init__(self, program, browser, settings=None, rules=None):
        self.program = program
        self.browser = browser
        self.provoked = []
        self.tabs = []
        self.again = 0
        self.shown = None
        self._context = None
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        if settings is None:
            self.server = Server(program, "--in-memory")
            self.port = self.server.await_address()
            self.key, self.namespace, self.lines = "owner", NAMESPACE, self.server.lines
        else:
            self.production = Production(program, self.folder, settings, rules)
            self.server, self.port = self.production.serve, self.production.port
            self.key, self.namespace, self.lines = TOKEN, "stage-default-rtdb", self.server.lines
        self.base = f"http://localhost:{self.port}"
        self.secrets = [TOKEN] if settings is not None else []

    # As an administrator with a key, and as a player: without a browser.

    def ask(self, method, path, body=None, headers=None, key=None):
        connection = Connection(self.port, token=key or self.key)
        try:
            return connection.ask(method, path, body, headers)
        finally:
            connection.close()

    def admin(self, method, path, body=None, **query):
        """A route of the administrators' surface; raises what it refuses."""
        words = urllib.parse.urlencode({"ns": self.namespace, **query})
        answer = self.ask(method, f"/admin/v1/{path}?{words}", body)
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text[:300]}")
        return answer.json

    def write(self, path, value, method="PUT", key=None, namespace=None):
        """Writes into the tree as the administrator, and returns when the functions are done with it."""
        address = "/" + urllib.parse.quote(path.strip("/"), safe="/") + f".json?ns={namespace or self.namespace}"
        answer = self.ask(method, address, value, EFFECTS, key)
        if answer.status != 200:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.text[:300]}")
        return answer.json

    def read(self, path, namespace=None):
        return self.ask("GET", f"/{path.strip('/')}.json?ns={namespace or self.namespace}").json

    def coins(self, uid):
        return self.admin("GET", "ledger/balance", account=f"user:{uid}", unit="pieces_of_eight")["balance"]

    def command(self, *words):
        """A command of the program, as the administrator; what it printed."""
        return subprocess.run(
            [self.program, *words, "--server", f"http://127.0.0.1:{self.port}", "--key", self.key], check=True, capture_output=True,
            text=True).stdout

    def is_well(self):
        try:
            return self.ask("GET", "/healthz").status == 200
        except Exception:  # whatever it is, it is not well
            return False

    # In the browser.

    def address(self, page, namespace=None):
        return f"{self.base}/console/n/{namespace or self.namespace}/{page}"

    def tab(self, size=(1280, 800), scheme="light", still=True, language="en"):
        """A window of the person of this check: all of a check's windows share cookies and caches."""
        self._context = self._context or self.browser.stranger()
        tab = Tab(self.browser.chromium, self._context, language)
        tab.hosts = {f"localhost:{self.port}"}
        tab.emulate(scheme, size, still)
        self.tabs.append(tab)
        return tab

    def open(self, page, namespace=None, **how):
        """A page of the console in a new window, once it shows what it has."""
        tab = self.tab(**how)
        self.go(tab, page, namespace)
        return tab

    def go(self, tab, page, namespace=None):
        tab.open(self.address(page, namespace))
        # A busy machine may lose a moment: a page is asked for twice, is named then, and no more than three of a module may need it.
        if not is_ready(tab) and self.again < AGAIN_MAX:
            self.again += 1
            print(f"        {page} was loaded again: {list(tab._open_requests.values())[:3]} {tab.text[-200:]!r}", flush=True)
            tab.open(self.address(page, namespace))
        if not is_ready(tab):
            raise RuntimeError(f"{page} is not ready: {tab.address} {tab.text[:400]} {tab.complaints[:5]}")

    def provoke(self, *patterns):
        """Complaints that this check means to cause."""
        self.provoked += patterns

    def end_check(self):
        """Closes the windows of a check; what was wrong with them."""
        found = []
        for tab in self.tabs:
            found += [f"{one} ({urllib.parse.urlsplit(tab.address or '').path})" for one in tab.take_complaints(*self.provoked)]
        self.start_again()
        return found

    def start_again(self):
        """Closes every window, and forgets who looked through it."""
        for tab in self.tabs:
            tab.chromium.listeners.pop(tab.session, None)
        if self._context:
            self.browser.forget(self._context)
        self.tabs, self.provoked, self._context = [], [], None

    def stop(self):
        """Ends the server. Returns its exit code."""
        code = self.server.stop()
        self._folder.cleanup()
        return code



def is_ready(tab, seconds=30):
    """Waits until a page of the console shows its heading and has all it asked for."""
    shown = ("(() => { const h = [...document.querySelectorAll('main h1')].filter((e) => e.checkVisibility());"
             " return h.length > 0 && performance.getEntriesByName('ready').length > 0"
             " && !document.querySelector('main .loading') })()")
    return bool(tab.until(shown, seconds) and tab.quiet(seconds) and tab.until(shown, seconds))


def pauses(tab):
    """Ends a window's live updates: from now on it asks for what somebody does there, and for nothing else."""
    tab.value("document.querySelector('main').focus()")
    tab.key("p")
    if not tab.until("document.getElementById('light').innerText.includes('paused')"):
        raise RuntimeError(f"the window does not pause: {tab.text[:200]}")


def heading(tab):
    return tab.value("[...document.querySelectorAll('h1')].filter((e) => e.checkVisibility()).map((e) => e.innerText).join(' | ')")


def refers(site, referrer="alice", player="bob", namespace=None):
    """The README's scenario: both have 50 at its end."""
    site.write(f"users/{referrer}", {"name": referrer.capitalize()}, "PATCH", namespace=namespace)
    site.write(f"users/{player}", {"name": player.capitalize(), "referred_by": referrer, "level": 4}, "PATCH", namespace=namespace)
    site.write(f"users/{player}", {"last_signin_at": 1767225600000}, "PATCH", namespace=namespace)
    site.write(f"users/{player}/level", 5, namespace=namespace)


def dies(site, player="zed", referrer="yara"):
    """A dead letter: the referrer's balance is a text, the function gives up on it. Its event's id."""
    site.write(f"users/{referrer}", {"name": referrer.capitalize(), "inventory": {"pieces_of_eight": "none"}})
    site.write(f"users/{player}", {"name": player.capitalize(), "referred_by": referrer, "level": 4})
    site.ask("PUT", f"/users/{player}/level.json?ns={site.namespace}", 5)
    found = lambda: site.admin("GET", "dead-letters")
    if not until(lambda: json.dumps(found()).count(f"/users/{player}/level")):
        raise RuntimeError(f"no dead letter of {player}: {found()}")
    return re.search(rf'"([^"]*:/users/{player}/level)"', json.dumps(found())).group(1)


def every_page(site):
    """Writes something for every page to show. The addresses, each with the title, heading and text that it shows."""
    if site.shown:
        return site.shown
    refers(site)
    site.write("users/carol", {"name": "Carol", "level": 2})
    account = site.ask("POST", "/v1/accounts:signUp?key=k", {"email": "carol@example.com", "password": "secret-1"}).json["localId"]
    level = next(one for one in site.admin("GET", "events", limit=50)["events"] if one["path"] == "/users/bob/level")
    event, commit = level["id"], level["revision"]
    order = {"mode": "failed", "reason": "a trial"}
    site.admin("PUT", "links/settings", {"domains": ["https://go.acme.test/r"], "hosts": ["acme.test"]})
    site.admin("POST", "links", {"prefix": "https://go.acme.test/r", "option": "CUSTOM", "suffix": "poster", "inviter": "alice",
                                 "parameters": {"link": "https://acme.test/play"}})
    replay = site.admin("POST", "replays", order)["id"]
    at = urllib.parse.quote(event, safe=":/")
    site.shown = {
        "overview": ("Overview", "Overview", "/users/bob/level"),
        "start": ("Start", "Start", "Do all six"),
        "data": ("/ · Data", "/", "users"),
        "data/users": ("users · Data", "users", "carol"),
        "data/users/bob?sel=level": ("bob · Data", "bob", "referred_by"),
        "data/users/bob?at=r1": ("bob · Data", "bob", "r1"),
        "data/users/bob?tab=history": ("bob · Data", "bob", "r2"),
        "data/users/bob?tab=json": ("bob · Data", "bob", "alice"),
        "data/users/bob/level?tab=diff&at=r2&to=r6": ("level · Data", "level", "5"),
        "data/users?order=child:level": ("users · Data", "users", "carol"),
        "data/users?from=bob": ("users · Data", "users", "carol"),
        "data/users?tab=table": ("users · Data", "users", "CSV"),
        "data/users?order=child:level&ge=4": ("users · Data", "users", "bob"),
        "commits": ("Commits", "Commits", "/users/bob/level"),
        "commits?path=/users/alice": ("Commits", "Commits", "pieces_of_eight"),
        f"commits/{commit}": (f"r{commit}", f"r{commit}", "What it changed"),
        "events": ("Events", "Events", "/users/bob/level"),
        "events?outcome=done&uid=bob": ("Events", "Events", "/users/bob/level"),
        "events?outcome=dead": ("Events", "Events", ""),
        f"event/{at}": (event, None, "rewardReferrals"),
        "replays": ("Replays", "Replays", "a trial"),
        "replays/new?function=rewardReferrals&mode=all&dry=divergences": ("New replay", "New replay", "compared with today"),
        f"replays/{replay}": (f"Replay {replay}", f"Replay {replay}", "a trial"),
        "rewards": ("Rewards", "Rewards", "alice"),
        "rewards/u/bob": ("bob · Rewards", "bob", "grantSignupReward"),
        "rewards/u/bob?tab=statement": ("bob · Rewards", "bob", "+50"),
        "rewards/u/alice?tab=tree": ("alice · Rewards", "alice", "bob"),
        "rewards/entries": ("Entries", "Entries", "level5"),
        "rewards/entries?key=level5/bob": ("Entries", "Entries", "level5"),
        "rewards/entries?since=1d": ("Entries", "Entries", "level5"),
        "rewards/entry/2": ("Entry 2", "Entry 2", "level5/bob"),
        "rewards/review?reason=limit": ("Review", "Review", "Nothing waits"),
        "rewards/compensation": ("Compensation", "Compensation", "Preview"),
        "accounts": ("Accounts", "Accounts", "carol@example.com"),
        f"accounts/{account}": (None, None, "carol@example.com"),
        f"accounts/{account}?tab=record": (None, None, "no record"),
        f"accounts/{account}?tab=rewards": (None, None, "No coins moved"),
        f"accounts/{account}?tab=history": (None, None, "No commit"),
        "rules": ("Rules", "Rules", ""),
        "rules?tab=try&op=set&path=/users/bob/level&as=bob&value=5": ("Rules", "Rules", ""),
        "rules?tab=tests": ("Rules", "Rules", "Run"),
        "rules?tab=history": ("Rules", "Rules", ""),
        "functions": ("Functions", "Functions", "rewardReferrals"),
        "functions/rewardReferrals": ("rewardReferrals", "rewardReferrals", "rewardReferrals"),
        "functions/rewardReferrals?window=1h": ("rewardReferrals", "rewardReferrals", "1 done"),
        "functions/rewardReferrals?tab=invoke": ("rewardReferrals", "rewardReferrals", "Run…"),
        "links": ("Links", "Links", "go.acme.test/r/"),
        "links/new": ("New link", "New link", "Goes to"),
        "links/show?link=go.acme.test/r/poster&device=android": ("Link", "go.acme.test/r/poster", "What came of it"),
        "links/settings": ("Links", "Links", "Domains"),
        "invites": ("Invitations", "Links", "No invitation"),
        "audit": ("Audit", "Audit", "replays"),
        "settings": ("Settings", "Settings", ""),
        "settings?tab=configuration": ("Settings", "Settings", "listen.port"),
        "settings?tab=access": ("Settings", "Settings", "Tokens of the configuration"),
        "settings?tab=indexes": ("Settings", "Settings", "There are none"),
        "settings?tab=backups": ("Settings", "Settings", "No copies are scheduled"),
        "settings?tab=log": ("Settings", "Settings", "The chain of commits"),
        "overview?w=6h": ("Overview", "Overview", "last 6 hours"),
    }
    return site.shown
