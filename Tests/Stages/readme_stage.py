"""The README, as a reader would follow it: its scenario is pasted into a shell, and must say what the README says. So is that of
the referral game.

The commands are taken from these documents, with another port; a server is started as `Scripts/run` starts it, killed in
the middle with SIGKILL, and everything must be there afterwards.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from server import Checks, Connection, Server


def blocks(readme, heading):
    """The fenced blocks below a heading, in order, as (language, text)."""
    section = re.split(r"^## ", readme, flags=re.M)
    text = next(part for part in section if part.startswith(heading))
    return re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S)


def in_production(commands):
    """The README's commands for a server that takes signed tokens only: Alice's fetch is explained instead of made."""
    *others, fetch = commands.rstrip("\n").split("\n")
    if "eligibleCampaigns:fetch" not in fetch:
        raise ValueError(f"The README's last command is no fetch any more: {fetch}")
    return "\n".join([*others, ".build/debug/doubloon messages explain earned50 --player alice"]) + "\n"


def shell(commands, port, program):
    """Runs a block as a paste into a terminal would, against the server on `port`."""
    environment = dict(os.environ, DOUBLOON_SERVER=f"http://127.0.0.1:{port}")
    commands = re.sub(r"\.build/(debug|release)/doubloon", program, commands.replace("127.0.0.1:9000", f"127.0.0.1:{port}"))
    return subprocess.run(
        ["bash", "-euc", commands.replace("curl ", "curl -sS ")], env=environment, text=True, capture_output=True,
        timeout=300)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    documents = {}
    for name in ("README.md", "Examples/ReferralGame/README.md"):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            documents[name] = file.read()
    scenario, said, look = blocks(documents["README.md"], "Alice refers Bob")[:3]
    anonymous = blocks(documents["Examples/ReferralGame/README.md"], "Carol starts anonymous")[0]
    checks = Checks()
    data = tempfile.mkdtemp(prefix="doubloon-readme-")
    try:
        server = Server(program, "--data", data)
        port = server.await_address()
        pasted = shell(scenario[1], port, program)
        checks.check("the scenario runs", pasted.returncode == 0, pasted.stderr)
        checks.check("every answer is what the README says", pasted.stdout == said[1], pasted.stdout)
        pasted = shell(scenario[1], port, program)
        checks.check("so it is when it is pasted again", pasted.stdout == said[1], pasted.stdout)

        server.kill()
        server = Server(program, "--data", data)
        port = server.await_address()
        tree = Connection(port).ask("GET", "/users.json").json or {}
        for player in ("alice", "bob"):
            coins = tree.get(player, {}).get("inventory", {}).get("pieces_of_eight")
            checks.check(f"after a kill -9 {player} still has 50", coins == 50, str(tree))

        looked = shell(look[1], port, program)
        checks.check("the commands that look at it run", looked.returncode == 0, looked.stderr)
        for word in ("grantSignupReward", "rewardReferrals", "level5", "sound", "pieces_of_eight", "publish earned50"):
            checks.check(f"they show {word}", word in looked.stdout, looked.stdout)
        shown = looked.stdout.splitlines()[-1:]
        checks.check("the last one is what alice's game shows", shown == ["You earned 50 pieces of eight!"], looked.stdout[-600:])
        linked = shell(anonymous[1], port, program)
        said = re.findall(r'"localId": *"([^"]+)"', linked.stdout)
        checks.check("an anonymous player is linked and signs in", linked.returncode == 0, linked.stderr + linked.stdout)
        checks.check("the uid stays the same", len(said) == 2 and said[0] == said[1], linked.stdout)
        checks.check("and so do the 50", linked.stdout.split()[-1:] == ["50"], linked.stdout)
        checks.check("the server stops when it is asked to", server.stop() == 0)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
