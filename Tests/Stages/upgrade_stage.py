"""Upgrades, as somebody who operates a server meets them: a store that an older version wrote is opened by the program, verified and
played on; a store of a newer version is refused with what to do; the way back is the copy, or an export.

`--program` is the program. `--next` is one whose schema is two steps beyond it (Tests/UpgradeFixture): it upgrades what the program
wrote, and is killed while it does.
"""

import argparse
import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from readme_stage import blocks, shell
from server import Checks, Connection, Server
from store_fixture import facts

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STORES = os.path.join(ROOT, "Tests/Fixtures/stores")


def versions():
    """The versions of which a store is kept, oldest first by name."""
    return sorted(name for name in os.listdir(STORES) if os.path.isfile(os.path.join(STORES, name, "doubloon.db")))


def run(program, *words):
    return subprocess.run([program, *words], text=True, capture_output=True, timeout=600)


def copied(version, folder, name):
    """A copy of a version's store, as a data folder, and what is in it."""
    data = os.path.join(folder, name)
    shutil.copytree(os.path.join(STORES, version), data)
    with open(os.path.join(data, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    os.unlink(os.path.join(data, "expected.json"))
    # A checkout does not keep who may read a key.
    keys = os.path.join(data, "keys")
    os.chmod(keys, 0o700)
    for name in os.listdir(keys):
        os.chmod(os.path.join(keys, name), 0o600)
    return data, expected


def kept(facts, expected):
    """The facts that are not as they were."""
    return {name: value for name, value in facts.items() if value != expected[name]}


def sign_in(client, expected, email):
    answer = client.ask(
        "POST", "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k",
        {"email": email, "password": expected["password"]}, {"Authorization": ""})
    return (answer.json or {}).get("localId")


def opened(checks, program, version, folder):
    """Every version's store, by this program: what is there, and the README's scenario on top."""
    data, expected = copied(version, folder, f"opened-{version}")
    begin = time.monotonic()
    server = Server(program, "--data", data)
    client = Connection(server.await_address())
    print(f"        {version}: ready after {time.monotonic() - begin:.2f} s", flush=True)
    checks.check(f"{version}: everything is there", not kept(facts(client), expected), str(kept(facts(client), expected)))
    email = "ann@example.com"
    checks.check(f"{version}: players sign in", sign_in(client, expected, email) == expected["accounts"][email])
    link = expected["link"].split("go.acme.test")[1]
    answer = client.ask("GET", link, headers={"Host": "go.acme.test", "Authorization": ""})
    checks.check(f"{version}: a link leads on", answer.status in (200, 302), f"{answer.status} {answer.text[:200]}")
    # It was paused when the fixture was made. Alice has coins by then: the README's own Alice starts without.
    client.ask("POST", "/admin/v1/functions/rewardReferrals/resume", {})
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        scenario, said = blocks(file.read(), "Alice refers Bob")[:2]
    commands = scenario[1].replace("alice", "anne").replace("curl ", "curl -H 'Authorization: Bearer owner' ")
    pasted = shell(commands, server.port, program)
    checks.check(f"{version}: the README's scenario goes on", pasted.stdout == said[1].replace("alice", "anne"), pasted.stdout)
    checks.check(f"{version}: it stops", server.stop() == 0)
    verified = run(program, "verify", "--data", data)
    checks.check(f"{version}: it is sound", verified.returncode == 0, verified.stdout + verified.stderr)


def upgraded(checks, program, following, folder):
    """What this program wrote, by one with a later schema; then back by the copy."""
    data, expected = copied(versions()[-1], folder, "upgraded")
    # As this program has it: a fixture may be older.
    run(program, "upgrade", "--data", data)
    for copy in glob.glob(os.path.join(data, "*.copy")):
        os.unlink(copy)
    planned = run(following, "upgrade", "--data", data, "--dry-run")
    checks.check("the plan is said, and nothing is done", planned.returncode == 0 and "is copied to" in planned.stdout
                 and not glob.glob(os.path.join(data, "*.copy")), planned.stdout + planned.stderr)
    server = Server(following, "--data", data)
    client = Connection(server.await_address())
    said = [line for line in server.lines if "Upgrade: " in line]
    checks.check("a start does it, and says so in four lines", len(said) == 4, "\n".join(server.lines))
    checks.check("all is there afterwards", not kept(facts(client), expected), str(facts(client)))
    client.ask("PUT", "/late.json", True)
    server.stop()
    verified = run(following, "verify", "--data", data)
    checks.check("and sound", verified.returncode == 0, verified.stdout + verified.stderr)

    refused = run(program, "dev", "--data", data, "--port", "0")
    checks.check("the version before refuses it, with exit code 2", refused.returncode == 2, refused.stderr)
    for words in ("a newer version of Doubloon wrote it", "Nothing was changed", "doubloon data export", "doubloon restore", ".copy"):
        checks.check(f"and says: {words}", words in refused.stderr, refused.stderr)
    copies = glob.glob(os.path.join(data, "doubloon.db.schema-*.copy"))
    checks.check("there is one copy", len(copies) == 1, str(copies))
    back = os.path.join(folder, "back")
    restored = run(program, "restore", copies[0], "--data", back)
    checks.check("the version before restores it", restored.returncode == 0, restored.stdout + restored.stderr)
    server = Server(program, "--data", back)
    client = Connection(server.await_address())
    checks.check("with all that was there", not kept(facts(client), expected), str(facts(client)))
    checks.check("and nothing of what came later", client.ask("GET", "/late.json").json is None)
    server.stop()


def killed(checks, program, following, folder):
    """The upgrade is killed again and again, a little later each time, until one comes through."""
    data, expected = copied(versions()[-1], folder, "killed")
    run(program, "upgrade", "--data", data)
    kills, seconds = 0, 0.02
    while True:
        process = subprocess.Popen([following, "upgrade", "--data", data, "--no-copy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            process.communicate(timeout=seconds)
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        kills += 1
        seconds *= 1.25
        looked = run(program, "verify", "--data", data)
        # 2: killed between the commit and the end; the next round finds nothing to do.
        if looked.returncode == 2:
            continue
        if looked.returncode != 0 or "NOT SOUND" in looked.stdout:
            checks.check("what a kill leaves is sound", False, looked.stdout + looked.stderr)
            return
    checks.check(f"{kills} kills later it comes through, and never was anything lost", kills >= 5 and process.returncode == 0, str(kills))
    server = Server(following, "--data", data)
    client = Connection(server.await_address())
    checks.check("all is there", not kept(facts(client), expected), str(facts(client)))
    server.stop()
    verified = run(following, "verify", "--data", data)
    checks.check("and sound", verified.returncode == 0, verified.stdout + verified.stderr)


def exported(checks, program, folder):
    """The way back for good: trees and accounts, exported by one program and imported by another into a new folder."""
    data, expected = copied(versions()[-1], folder, "exported")
    # Commands that look do not bring an older store up to date.
    run(program, "upgrade", "--data", data)
    files = {name: os.path.join(folder, name) for name in ("tree.json", "accounts.json", "links.csv")}
    for words in (["data", "export", "/", files["tree.json"]], ["accounts", "export", files["accounts.json"]],
                  ["links", "export", "--out", files["links.csv"]]):
        done = run(program, *words, "--data", data)
        checks.check(f"doubloon {words[0]} export", done.returncode == 0, done.stdout + done.stderr)
    for name, words in (("rules.json", ["rules", "get"]), ("settings.json", ["links", "settings"])):
        files[name] = os.path.join(folder, name)
        with open(files[name], "w", encoding="utf-8") as file:
            file.write(run(program, *words, "--data", data).stdout)
    server = Server(program, "--data", os.path.join(folder, "imported"))
    port = server.await_address()
    for words in (["data", "import", "/", files["tree.json"]], ["accounts", "import", files["accounts.json"]],
                  ["rules", "put", files["rules.json"]], ["links", "settings", files["settings.json"]],
                  ["links", "import", files["links.csv"]]):
        done = run(program, *words, "--server", f"http://127.0.0.1:{port}")
        checks.check(f"doubloon {' '.join(words[:2])}", done.returncode == 0, done.stdout + done.stderr)
    client = Connection(port)
    found = facts(client)
    checks.check("the balances are the same", found["balances"] == expected["balances"], str(found["balances"]))
    checks.check("the rest of the tree too", found["config"] == expected["config"], str(found["config"]))
    coins = sum(1 for value in expected["balances"].values() if isinstance(value, int))
    checks.check("the ledger opens with one entry for each", found["entries"] == coins, str(found["entries"]))
    listed = run(program, "accounts", "list", "--json", "--server", f"http://127.0.0.1:{port}")
    email = "ann@example.com"
    checks.check("players sign in", sign_in(client, expected, email) == expected["accounts"][email])
    checks.check("the accounts are there", json.loads(listed.stdout)["count"] == len(expected["accounts"]), listed.stdout)
    # What an export does not hold, as Documentation/Upgrade.md says.
    session = client.ask(
        "POST", "/securetoken.googleapis.com/v1/token?key=k",
        {"grant_type": "refresh_token", "refresh_token": expected["refreshToken"]}, {"Authorization": ""})
    checks.check("sessions are gone", session.status == 400, f"{session.status} {session.text}")
    checks.check("dead letters are gone", found["deadLetters"] == 0, str(found["deadLetters"]))
    link = client.ask("GET", expected["link"].split("go.acme.test")[1], headers={"Host": "go.acme.test", "Authorization": ""})
    checks.check("links lead on", link.status in (200, 302), f"{link.status} {link.text[:200]}")
    for level in (4, 5):
        client.ask("PUT", "/users/player0/level.json", level, {"X-Doubloon-Wait": "effects"})
    paid = client.ask("GET", "/users/alice/inventory/pieces_of_eight.json").json - expected["balances"]["alice"]
    checks.check("what was paid is not known: the same level pays again", paid == 50, str(paid))
    server.stop()
    verified = run(program, "verify", "--data", os.path.join(folder, "imported"))
    checks.check("it is sound", verified.returncode == 0, verified.stdout + verified.stderr)


def newer(checks, program, folder):
    """A number that no version has: by every way in."""
    data, _ = copied(versions()[-1], folder, "newer")
    path = os.path.join(data, "doubloon.db")
    with sqlite3.connect(path) as store:
        store.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    store.close()
    with open(path, "rb") as file:
        before = file.read()
    for words in (["dev", "--port", "0"], ["upgrade"], ["status"], ["ledger", "verify"]):
        done = run(program, *words, "--data", data)
        holds = done.returncode == 2 and "has schema 99" in done.stderr and "Use that version, or a newer one" in done.stderr
        checks.check(f"doubloon {' '.join(words)} refuses a newer store with 2", holds, f"{done.returncode} {done.stderr}")
    with open(path, "rb") as file:
        checks.check("and leaves it as it is", file.read() == before)
    config = os.path.join(folder, "serve.jsonc")
    with open(os.path.join(folder, "serve-rules.json"), "w", encoding="utf-8") as file:
        file.write('{"rules": {}}')
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"project": "demo", "data": data, "rules": "serve-rules.json", "listen": {"port": 0, "behindProxy": True}}, file)
    done = run(program, "serve", "--config", config)
    checks.check("doubloon serve too: a supervisor need not try again", done.returncode == 2 and "has schema 99" in done.stderr, done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--next", required=True)
    options = parser.parse_args()
    program, following = os.path.abspath(options.program), os.path.abspath(options.next)
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="doubloon-upgrade-")
    try:
        for version in versions():
            opened(checks, program, version, folder)
        newer(checks, program, folder)
        upgraded(checks, program, following, folder)
        killed(checks, program, following, folder)
        exported(checks, program, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
