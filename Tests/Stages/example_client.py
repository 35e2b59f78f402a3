"""Examples/GameClient against a server: two players in two processes; one invites, both earn, and each sees the purse move."""

import json
import os
import queue
import re
import subprocess
import threading
import time

from server import Connection, Server

SETTINGS = {
    "domains": ["https://go.example.com/r", "https://example.page.link"], "hosts": ["example.com"],
    "apps": {"ios": [{"bundleId": "com.example.game", "appStoreId": "900100200"}], "android": [{"packageName": "com.example.game"}]},
    "apiKeys": ["game-key"], "limits": {"createPerSecond": 100},
}

# Shown by the library when a reward arrives: the game has no line of code about it.
CAMPAIGN = {
    "id": "earned", "name": "You earned", "layout": "modal", "triggers": [{"server": "reward"}], "frequency": {"lifetime": 10},
    "content": {"defaultLanguage": "en", "texts": {"en": {"title": "You earned {{amount}} {{currency|coins}}!", "primary": "Invite more"}},
                "primaryAction": "https://example.com/invite"},
}


class Player:
    """A terminal with the game in it."""

    def __init__(self, program, folder, name, address):
        config = os.path.join(folder, f"{name}.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"server": address, "apiKey": "game-key", "bundleID": "com.example.game",
                       "dynamicLinkDomains": ["https://go.example.com/r"], "storageFolder": os.path.join(folder, name)}, file)
        self._game = subprocess.Popen(
            [program], env=dict(os.environ, DOUBLOON_CONFIG=config), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, bufsize=1)
        self._lines = queue.Queue()
        self.said = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._game.stdout:
            self._lines.put(line.rstrip("\n"))

    def type(self, line):
        self._game.stdin.write(line + "\n")
        self._game.stdin.flush()

    def hear(self, pattern, seconds=120):
        """The first group of the next line that fits, or the line; None if none comes in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                line = self._lines.get(timeout=0.2)
            except queue.Empty:
                continue
            self.said.append(line)
            if found := re.search(pattern, line):
                return found.group(found.lastindex or 0)
        return None

    def kill(self):
        self._game.kill()

    def quit(self):
        if self._game.poll() is None:
            self.type("quit")
        return self._game.wait(timeout=120)


def check_game(checks, program, game, folder):
    """The story from the invitation to the rewards."""
    server = Server(program, "--in-memory")
    players = []
    try:
        port = server.await_address()
        address = f"http://127.0.0.1:{port}"
        studio = Connection(port)
        put = studio.ask("PUT", "/admin/v1/links/settings", SETTINGS)
        checks.check("the links' settings are taken", put.status == 200, str(put.status))
        made = studio.ask("POST", "/admin/v1/messages", CAMPAIGN)
        published = studio.ask("POST", f"/admin/v1/messages/{CAMPAIGN['id']}/publish", {})
        checks.check("a campaign waits for rewards", published.status == 200, f"{made.text[:300]} {published.text[:300]}")
        alice = Player(game, folder, "alice", address)
        players.append(alice)
        alice.type("start")
        uid = alice.hear(r"You are (\w+)\.")
        checks.check("a player is somebody", uid is not None, str(alice.said))
        alice.type("invite")
        link = alice.hear(r"Invitation: (https://go\.example\.com/r/\S+)")
        code = alice.hear(r"Code: (\S+)")
        checks.check("and has a link and a code for a friend", bool(link and code), str(alice.said))
        checks.check("also a short one", alice.hear(r"Also: https://go\.example\.com/r/\w{4,8}$") is not None, str(alice.said))
        alice.type("ways")
        checks.check("which goes by mail, copied, and shared", alice.hear(r"shares 2 things") is not None, str(alice.said))

        bob = Player(game, folder, "bob", address)
        players.append(bob)
        bob.type(f"join {code}")
        his = bob.hear(r"You are (\w+)\.")
        checks.check("the friend is invited by the code", bob.hear(rf"{uid} invited you") is not None, str(bob.said))
        bob.type("keep bob@example.com password1")
        checks.check("keeps the uid with an address", bob.hear(rf"You are still {his}, and bob") is not None, str(bob.said))
        checks.check("and sees 50 come", bob.hear(r"Purse: 50") is not None, str(bob.said))
        for level in range(2, 6):
            bob.type("dig")
            checks.check(f"digs to level {level}", bob.hear(rf"level {level}\b") is not None, str(bob.said), quiet=True)
        heard = {alice.hear(r"(Purse: 50|Message: You earned 50)") for _ in range(2)}
        checks.check("at the fifth the inviter sees 50 come, and a message that says so", heard == {"Purse: 50", "Message: You earned 50"}, str(alice.said))
        alice.type("follow")
        checks.check("which leads to the next invitation", alice.hear(r"It leads to https://example.com/invite") is not None, str(alice.said))

        carol = Player(game, folder, "carol", address)
        players.append(carol)
        carol.type(f"open {link}")
        checks.check("a link opens the game", carol.hear(rf"{uid} invited you") is not None, str(carol.said))
        carol.type("open treasure://google/link/?deep_link_id=https%3A%2F%2Fexample.com%2F&match_type=weak")
        checks.check("a weak one is only perhaps", carol.hear(r"perhaps") is not None, str(carol.said))
        carol.type("open https://elsewhere.example/a")
        checks.check("another one is none", carol.hear(r"none of our links") is not None, str(carol.said))
        alice.type(f"open {link}")
        alice.type("purse")
        checks.check("who plays already opens an invitation, and plays on as before",
                     alice.hear(r"The link leads to") is not None and alice.hear(r"You have 50") is not None
                     and studio.ask("GET", f"/users/{uid}/referred_by.json").json is None, str(alice.said))
        checks.check("the games end when told", all(player.quit() == 0 for player in players), str([p.said[-3:] for p in players]))
        again = Player(game, folder, "alice", address)
        players.append(again)
        again.type("start")
        checks.check("and the next start is the same player", again.hear(r"You are (\w+)\.") == uid, str(again.said))
        again.quit()
    finally:
        for player in players:
            player.kill()
        server.stop()
