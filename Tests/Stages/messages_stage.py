"""In-app messages in a real browser, on a game's page with a strict policy, by the client that the server hands out.

The modules `messages_looks` and `messages_acts` hold checks of the client alone, whose server is played: functions of `(stage, checks)`,
each with a site of its own. `messages_server` is the same in front of a server, and a client like Firebase's; `messages_kill` kills the
server, and restores it. After each no window may have had an error, a violation of its policy, or an answer from 500 on that was not provoked.

`--pictures FOLDER` keeps a picture of every layout; `--check NAME` runs one function. axe-core comes with the environment of the
stage `console`; Scripts/test makes it.
"""

import argparse
import gzip
import os
import sys
import time
import traceback

import messages_acts
import messages_kill
import messages_looks
import messages_server
from browser import PATIENCE, Browser, Tab
from messages_game import FILES, Game
from server import Checks

# What all files of the client may weigh on their way, in bytes.
WEIGHT_MAX = 12_288
# Functions of a run that may be tried once more.
AGAIN_MAX = 2


class Stage:
    """A game's site, and windows on it."""

    def __init__(self, browser, pictures=None):
        self._browser, self._pictures = browser, pictures
        self.game = Game()
        self.complaints = []

    def open(self, scheme="light", size=(800, 600), still=True, **options):
        """A window of somebody who was never here; what is left over goes to the page's `start`."""
        self.game.requests, self.game.lines, self.game.conversions = [], [], []
        self.game.options = {"key": "k", "app": "1:77:web:ab", "consent": True, **options}
        tab = Tab(self._browser.chromium, self._browser.stranger())
        tab.emulate(scheme, size, still)
        tab.tells(r"cdn\.acme\.test/chest", 200, messages_looks.CHEST, Content_Type="image/svg+xml")
        tab.open(self.game.address)
        tab.until("window.ready")
        return tab

    def see(self, tab, title=None, seconds=PATIENCE):
        """Waits until a message is shown; one with this title, if it is given."""
        shown = f"{messages_looks.SHOWN}?.querySelector('.frame')"
        asks = f"!!{shown}" if title is None else f"{shown}?.querySelector('h2')?.textContent === {title!r}"
        return tab.until(asks, seconds)

    def picture(self, tab, name):
        if self._pictures:
            os.makedirs(self._pictures, exist_ok=True)
            tab.picture(os.path.join(self._pictures, f"{name}.png"))

    def leave(self, tab, *provoked):
        self.complaints += tab.take_complaints(*provoked)
        tab.leave()

    def end(self):
        self.game.close()


def weighs(checks):
    files = {name: os.path.getsize(os.path.join(FILES, name)) for name in os.listdir(FILES)}
    checks.check("no file of the client has more than 12 KiB", max(files.values()) <= 12_288, files)
    total = 0
    for name in files:
        with open(os.path.join(FILES, name), "rb") as file:
            total += len(gzip.compress(file.read()))
    checks.check(f"all of them, compressed, are {total:,} bytes", total <= WEIGHT_MAX, total)


def tried(checks, check, run):
    """Runs one function; one that fails must not hide what the others show."""
    begin = time.monotonic()
    try:
        run()
    except Exception as error:
        traceback.print_exc()
        checks.check(f"{check.__name__} runs to its end", False, f"{type(error).__name__}: {error}")
    print(f"        {check.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


def looked_at(check, run, browser, checks, pictures):
    """One function in a window of its own, which must be in order afterwards."""
    stage = Stage(browser, pictures)
    tried(checks, check, lambda: run(stage, checks))
    checks.check(f"nothing is wrong with the windows of {check.__name__}", not stage.complaints, "\n        ".join(stage.complaints[:6]), quiet=True)
    stage.end()


def look_at_all(browser, studio, options, checks):
    """What happens in a browser. A function that needs no server's state is tried once more where something in it did not hold: a
    browser on a busy machine loses a moment now and then. No more than AGAIN_MAX of a run may need that."""
    again = 0
    for check in (messages_server.a_page_shows_it, messages_server.a_reward_says_so_by_itself):
        if options.check in (None, check.__name__):
            looked_at(check, lambda stage, found, check=check: check(studio, found, stage), browser, checks, options.pictures)
    for check in messages_acts.CHECKS + messages_looks.CHECKS:
        if options.check not in (None, check.__name__):
            continue
        found = Checks("missed" if again < AGAIN_MAX else "FAILED")
        looked_at(check, check, browser, found, options.pictures)
        if found.failed and again < AGAIN_MAX:
            again += 1
            found = Checks()
            looked_at(check, check, browser, found, options.pictures)
        checks.add(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--pictures")
    parser.add_argument("--check")
    options = parser.parse_args()
    checks = Checks()
    weighs(checks)
    if options.check in (None, "messages_outlive_the_program"):
        outlive = messages_kill.messages_outlive_the_program
        tried(checks, outlive, lambda: outlive(options.program, checks))
    studio = messages_server.Studio(options.program)
    if options.check in (None, "a_client_like_firebases_reads_it"):
        tried(checks, messages_server.a_client_like_firebases_reads_it, lambda: messages_server.a_client_like_firebases_reads_it(studio, checks))
    with Browser() as browser:
        look_at_all(browser, studio, options, checks)
    studio.stop()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
