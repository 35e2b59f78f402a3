"""The web console in a real browser: what people do there is done with mouse and keyboard, and the server is asked what came of it.

Every file `console_<subject>.py` beside this one is a module of checks. To add one, write a docstring that says what it is about,
and a list `CHECKS` of functions. Each takes `(site, checks)`:

- `site`, a `console.Site`: `site.open("data/users")` is a window with that page, `site.admin(...)`, `site.write(...)` and
  `site.command(...)` are people who do not use the console.
- `checks.check(name, holds, detail)` notes what held.

The functions of a module share one server, in their order; every module has a server of its own, `doubloon dev` unless it has
`SETTINGS` for `doubloon serve`; one that says `ALONE = True` has none, and no browser. Each function begins with a browser that has never been here. After each it is checked that no
window had an error or a warning in its console, an uncaught exception, a violation of its policy, a request to another host, a
dialog of a script, or an answer from 500 on; what a function means to cause it says by `site.provoke(pattern)`.

A browser on a busy machine loses a moment now and then, and a check with it. A module with a check that did not hold is run again
from its start, with a new server, and what the second run finds counts; the first one is told as `missed`. No more than
AGAIN_MAX modules of a whole run may need that: beyond it what did not hold counts at once.

`--only SUBJECT` runs one module, `--check NAME` one function of it. axe-core comes with the environment of this stage
(Tests/Stages/console_requirements.txt); Scripts/test makes it.
"""

import argparse
import glob
import importlib
import os
import sys
import time
import traceback

from browser import Browser
from console import Site
from server import Checks

# In this order: what is quick and fundamental first.
FIRST = ["files", "start", "reading", "addresses", "hostile", "access"]
APART = ("console_stage",)
# Modules of a whole run that may be run again.
AGAIN_MAX = 2


def subjects():
    here = os.path.dirname(os.path.abspath(__file__))
    names = (os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(here, "console_*.py")))
    found = sorted(name.removeprefix("console_") for name in names if name not in APART)
    return sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def tried(function, name, site, checks):
    """Runs one function; what is wrong with its windows is wrong with it."""
    begin = time.monotonic()
    try:
        function(site, checks)
    except Exception as error:  # one that fails must not hide what the others show
        traceback.print_exc()
        checks.check(f"{name}.{function.__name__} runs to its end", False, f"{type(error).__name__}: {error}")
    complaints = site.end_check()
    checks.check(f"nothing is wrong with the windows of {name}.{function.__name__}", not complaints, "\n        ".join(complaints[:8]),
                 quiet=True)
    checks.check(f"the server is well after {name}.{function.__name__}", site.is_well(), quiet=True)
    print(f"        {function.__name__}: {time.monotonic() - begin:.1f} s", flush=True)


def run(name, program, browser, checks, only=None):
    module = importlib.import_module(f"console_{name}")
    if getattr(module, "ALONE", False):
        for function in module.CHECKS:
            function(None, checks)
        return
    site = Site(program, browser, getattr(module, "SETTINGS", None), getattr(module, "RULES", None))
    try:
        for function in module.CHECKS:
            if only in (None, function.__name__):
                tried(function, name, site, checks)
    finally:
        lines = list(site.lines)
        code = site.stop()
    checks.check(f"the server of {name} ends orderly", code == 0, f"exit code {code}: " + "\n".join(lines[-5:]))


def run_all(program, browser, options, checks):
    """Runs the modules in their order; what did not hold in one of the first AGAIN_MAX such modules is tried once more."""
    again = 0
    for name in subjects():
        if options.only not in (None, name):
            continue
        print(f"-- {name}", flush=True)
        found = Checks("missed" if again < AGAIN_MAX else "FAILED")
        run(name, program, browser, found, options.check)
        if found.failed and again < AGAIN_MAX:
            again += 1
            print(f"-- {name}, again: {found.failed} did not hold", flush=True)
            found = Checks()
            run(name, program, browser, found, options.check)
        checks.add(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", help="one module: start, reading, …")
    parser.add_argument("--check", help="one function of it")
    options = parser.parse_args()
    checks = Checks()
    begin = time.monotonic()
    with Browser() as browser:
        run_all(os.path.abspath(options.program), browser, options, checks)
    print(f"        in all: {time.monotonic() - begin:.0f} s", flush=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
