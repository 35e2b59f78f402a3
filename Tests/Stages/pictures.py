"""Makes the pictures of the console that README and the pages show: the same scenario each time.

Who changes a page looks at them. The stage `console` compares their sizes, and whether the pages say what is to be read in them
(console_pictures.py); nothing compares their pixels.
"""

import argparse
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from browser import Browser
from console import Site, dies, refers
from console_links import opened
from links_stage import PREFIX, SETTINGS as LINK_SETTINGS, Tags, token

RULES = """{
  "rules": {
    "users": {
      "$uid": {
        // A player sees and writes the own record.
        ".read": "auth.uid === $uid",
        ".write": "auth.uid === $uid",
        "level": {".validate": "newData.isNumber() && newData.val() <= data.val() + 1"}
      }
    }
  }
}
"""
LINK = f"{PREFIX}/harbour".removeprefix("https://")
# What is to be read in the window as it is, without scrolling.
IN_SIGHT = """(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange(), found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility()) continue;
    range.selectNodeContents(node);
    const { width, top, bottom, left, right } = range.getBoundingClientRect();
    if (width > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth) found.push(node.data);
  }
  return found.join(' ').replace(/\\s+/g, ' ');
})()"""


def stirs(site, tab):
    """Something happens, so that the charts have a shape."""
    for number in range(9):
        refers(site, "erin", f"friend{number}")
        tab.until(lambda: False, 0.2 + 0.3 * (number % 4))


def mends(site, _):
    site.write("users/yara/inventory/pieces_of_eight", 0)


def links_lead_to_coins(site, _):
    """Alice's link: five open it, three claim it, two sign up, one reaches the level that pays."""
    site.admin("PUT", "links/settings", LINK_SETTINGS)
    link = site.admin("POST", "links", {"prefix": PREFIX, "option": "CUSTOM", "suffix": "harbour", "name": "Harbour poster", "inviter": "alice",
                                        "parameters": {"link": "https://acme.test/invite?by=alice", "ibi": "test.acme.ios"}})["link"]["shortLink"]
    for number, player in enumerate(("hana", "ivo", "jon", None, None)):
        copied = next(one["data-copy"] for one in Tags(opened(site, link).text).links if "data-copy" in one)
        if player:
            site.ask("POST", "/v1/referrals:claim", {"link": copied}, {"Authorization": f"Bearer {token(player)}"})
            site.write(f"users/{player}", {"level": 4, **({"last_signin_at": 1767225600000} if number < 2 else {})}, "PATCH")
    site.write("users/hana/level", 5)


class Shot(NamedTuple):
    """One picture: its page, what is to be read in it, what comes before, and the size of its window."""

    name: str
    page: str
    words: tuple[str, ...]
    before: Callable | None = None
    size: tuple[int, int] = (1280, 800)


SHOTS = (
    Shot("overview", "overview", ("Needs a look", "✕ 1", "rewardReferrals", "Commits", "Last events"), stirs),
    Shot("data", "data/users?at=r7&sel=bob/level", ("As of", r"\br7\b", "alice", "bob", "level")),
    Shot("event", "event/EVENT", ("/users/bob/level", "rewardReferrals", "done", r"\+50", "Timeline")),
    Shot("why", "rewards/u/alice", ("alice", "On the account", r"\+50", "rewardReferrals")),
    Shot("replay", "replays/new?mode=failed", (r"Would run 1\b", "Reason", "Replay 1…"), mends),
    Shot("rules", "rules?tab=try&op=set&path=/users/bob/level&as=bob&value=5", ("denied", "/users/bob/level")),
    Shot("link", f"links/show?link={LINK}", (re.escape(LINK), "QR code", "Click 5", "Claim 3", "Sign-up 2", r"\+50"), links_lead_to_coins),
    Shot("data-phone", "data/users", ("users", "alice", "bob", "carol"), None, (390, 844)),
)


def scenario(site):
    """The README's, five more players, and a reward that could not be paid. The event that paid Alice."""
    refers(site)
    for player in ("carol", "dora", "erin", "fay", "gus"):
        refers(site, "alice" if player < "e" else "bob", player)
    dies(site)
    site.write("users/bob/level", 3)
    path = os.path.join(site.folder, "rules.json")
    with open(path, "w") as file:
        file.write(RULES)
    site.command("rules", "put", path, "--reason", "one level at a time")
    events = site.admin("GET", "events", uid="bob", limit=50)["events"]
    return next(one["id"] for one in events if one["path"] == "/users/bob/level" and any(
        run["outcome"] == "done" for run in one["executions"]))


def looks(site, tab, shot, event, scheme):
    """Opens a picture's page as it is taken. Those of its words that are not to be read there."""
    tab.emulate(scheme, shot.size, True)
    if shot.before:
        shot.before(site, tab)
    site.go(tab, shot.page.replace("EVENT", event))
    missing = lambda: [word for word in shot.words if not re.search(word, tab.value(IN_SIGHT) or "", re.I)]
    is_there = tab.until(lambda: not missing())
    tab.quiet()
    tab.value("scrollTo(0, 0)")
    tab.value("document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))")
    return [] if is_there else missing()


def path_of(shot, into, scheme):
    return os.path.join(into, f"console-{shot.name}{'-dark' if scheme == 'dark' else ''}.png")


def takes(site, into, scheme):
    event = scenario(site)
    tab = site.open("overview", scheme=scheme)
    problems = []
    for shot in SHOTS:
        problems += [f"{shot.name} does not say {word}" for word in looks(site, tab, shot, event, scheme)]
        path = path_of(shot, into, scheme)
        tab.picture(path)
        print(f"{path}: {os.path.getsize(path):,} bytes", flush=True)
        problems += tab.take_complaints()
    if problems:
        raise RuntimeError(f"something is wrong with the pages: {problems}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--into", required=True, help="the folder for the pictures")
    parser.add_argument("--dark", action="store_true", help="of dark pages, named so")
    options = parser.parse_args()
    os.makedirs(options.into, exist_ok=True)
    with Browser("--hide-scrollbars") as browser:
        site = Site(os.path.abspath(options.program), browser)
        try:
            takes(site, options.into, "dark" if options.dark else "light")
        finally:
            site.start_again()
            site.stop()


if __name__ == "__main__":
    main()
