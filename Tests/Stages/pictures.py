"""Makes the pictures of the console that README and the pages show: the same scenario each time, in windows of 1280 × 800.

Who changes a page looks at them; nothing compares them.
"""

import argparse
import os
import re

from browser import Browser
from console import Site, dies, refers

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


def takes(site, into, suffix, scheme):
    event = scenario(site)

    def picture(name, tab):
        tab.quiet()
        tab.value("scrollTo(0, 0)")
        tab.value("document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))")
        path = os.path.join(into, f"console-{name}{suffix}.png")
        tab.picture(path)
        print(f"{path}: {os.path.getsize(path):,} bytes", flush=True)
        problems.extend(tab.take_complaints())

    problems = []
    tab = site.open("overview", scheme=scheme)
    for number in range(9):
        refers(site, "erin", f"friend{number}")
        tab.until(lambda: False, 0.2 + 0.3 * (number % 4))
    tab.shows("✕ 1", 15)
    picture("overview", tab)
    site.go(tab, "data/users?at=r7&sel=bob/level")
    picture("data", tab)
    site.go(tab, f"event/{event}")
    picture("event", tab)
    site.go(tab, "rewards/u/alice")
    picture("why", tab)
    site.write("users/yara/inventory/pieces_of_eight", 0)
    site.go(tab, "replays/new?mode=failed")
    tab.shows(re.compile(r"Would run\s+1\b"))
    picture("replay", tab)
    site.go(tab, "rules?tab=try&op=set&path=/users/bob/level&as=bob&value=5")
    tab.shows(re.compile("denied", re.I))
    picture("rules", tab)
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
            takes(site, options.into, "-dark" if options.dark else "", "dark" if options.dark else "light")
        finally:
            site.start_again()
            site.stop()


if __name__ == "__main__":
    main()
