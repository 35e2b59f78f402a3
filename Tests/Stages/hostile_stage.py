"""Attacks on a server in production, each with the bound that it must keep.

Every file `hostile_<subject>.py` beside this one is a module of checks. To add one, write a docstring that says which attack it
is about, and a list `CHECKS` of functions. Each takes `(server, checks)`:

- `server`, a `production.Production`: `server.client(address)` is somebody without credentials, `server.player(address)`
  somebody signed in, `server.admin()` the administrator; `server.resident()` is its memory. Addresses are what their
  `X-Forwarded-For` says, so a check has as many clients of one address, or of many, as it wants.
- `checks.check(name, holds, detail)` notes what held. A mark is a ratio of two measurements of one run (quiet, then attacked),
  for machines differ. Attacks that run while others are measured belong into `production.Attack`.

The functions of a module share one server, in their order; every module has a server of its own. It runs with the rules
`production.RULES` and the limits and rates of the default configuration. A module that needs others says so in `SETTINGS` (members
of the configuration file) or `RULES`. After each function it is checked that the server is well. Keep a module under 40 seconds.

`--only SUBJECT` runs one module.
"""

import argparse
import glob
import importlib
import os
import sys
import tempfile
import time
import traceback

from production import Production
from server import Checks


def subjects():
    here = os.path.dirname(os.path.abspath(__file__))
    names = (os.path.splitext(os.path.basename(path))[0] for path in glob.glob(os.path.join(here, "hostile_*.py")))
    return sorted(name for name in names if name != "hostile_stage")


def run(name, program, checks):
    module = importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        server = Production(program, folder, getattr(module, "SETTINGS", None), getattr(module, "RULES", None))
        try:
            for function in module.CHECKS:
                begin = time.monotonic()
                try:
                    function(server, checks)
                except Exception as error:  # one that fails must not hide what the others show
                    traceback.print_exc()
                    checks.check(f"{name}.{function.__name__} runs to its end", False, f"{type(error).__name__}: {error}")
                checks.check(f"the server is well after {name}.{function.__name__}", server.is_well(), quiet=True)
                print(f"        {function.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        finally:
            code = server.stop()
        checks.check(f"the server of {name} ends orderly", code == 0, f"exit code {code}: " + "\n".join(server.serve.lines[-5:]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", help="one module: writes, memory, …")
    options = parser.parse_args()
    checks = Checks()
    for name in subjects():
        if options.only in (None, name.removeprefix("hostile_")):
            print(f"-- {name}", flush=True)
            run(name, os.path.abspath(options.program), checks)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
