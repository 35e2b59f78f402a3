"""Makes the stored fixture of a version: a small real store, made by that version's program, which every later version must open.

    python3 Tests/Stages/store_fixture.py --program .build/release/doubloon --into Tests/Fixtures/stores/0.2.0

Once for each release, from its own program. Beside the store stands `expected.json`: what an upgrade must keep. The keys are
those of this store alone, and open nothing else.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile

from server import Connection, Server

HOST = "go.acme.test"
LINKS = {
    "domains": [f"https://{HOST}/r"], "hosts": ["acme.test"], "apiKeys": ["web-key-1"],
    "apps": {"ios": [{"bundleId": "test.acme.ios", "appStoreId": "900100200", "appIdPrefix": "TEAM12345A", "name": "Treasure Hunt"}]},
}
RULES = {"rules": {"users": {".indexOn": ["referred_by"], "$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}}}
PASSWORD = "correct horse battery"


def play(client):
    """Players who are paid, one who cannot be, a level that pays twice only once, coins that move."""
    wait = {"X-Doubloon-Wait": "effects"}
    for index in range(6):
        name = f"player{index}"
        referrer = "alice" if index % 2 == 0 else "player0"
        client.ask("PATCH", f"/users/{name}.json", {"name": f"Player {index} ☠", "referred_by": referrer, "level": 4})
        client.ask("PUT", f"/users/{name}/last_signin_at.json", 1767225600000 + index, wait)
    for index in range(4):
        for level in (5, 4, 5):
            client.ask("PUT", f"/users/player{index}/level.json", level, wait)
    client.ask("PUT", "/users/eve.json", {"name": "Eve", "referred_by": "alice", "inventory": {"pieces_of_eight": "many"}})
    client.ask("PUT", "/users/eve/last_signin_at.json", 1767225700000, wait)
    client.ask("PUT", "/config.json", {"motd": "Ahoy", "season": 3, "weights": [0.5, 1.25], ".priority": 7})
    client.ask("DELETE", "/users/player5/name.json")


def accounts(client):
    """One with a password, one with a custom claim, one anonymous; each with a session."""
    def call(name, body, administrator=False):
        headers = {} if administrator else {"Authorization": ""}
        answer = client.ask("POST", f"/identitytoolkit.googleapis.com/v1/accounts:{name}?key=k", body, headers)
        if answer.status != 200:
            raise RuntimeError(f"{name}: {answer.status} {answer.text}")
        return answer.json
    ann = call("signUp", {"email": "ann@example.com", "password": PASSWORD, "returnSecureToken": True})
    ben = call("signUp", {"email": "ben@example.com", "password": PASSWORD, "displayName": "Ben", "returnSecureToken": True})
    call("update", {"localId": ben["localId"], "customAttributes": '{"role":"quartermaster"}'}, administrator=True)
    guest = call("signUp", {"returnSecureToken": True})
    return {"ann@example.com": ann["localId"], "ben@example.com": ben["localId"], "": guest["localId"]}, ann["refreshToken"]


def command(program, port, *words):
    done = subprocess.run(
        [program, *words, "--server", f"http://127.0.0.1:{port}"], text=True, capture_output=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


def facts(client):
    """What an upgrade must keep, as a server tells it."""
    users = client.ask("GET", "/users.json").json
    coins = {name: user.get("inventory", {}).get("pieces_of_eight") for name, user in users.items()}
    namespace = client.ask("GET", "/admin/v1/namespaces").json["namespaces"][0]
    return {
        "balances": {name: value for name, value in coins.items() if value is not None},
        "config": client.ask("GET", "/config.json?format=export").json,
        "entries": namespace["entries"], "revision": namespace["revision"], "namespace": namespace["name"],
        "deadLetters": client.ask("GET", "/admin/v1/status").json["deadLetters"]["count"],
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--into", required=True)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    data = tempfile.mkdtemp(prefix="doubloon-fixture-")
    server = None
    try:
        server = Server(program, "--data", data)
        client = Connection(server.await_address())
        play(client)
        ids, refresh = accounts(client)
        answer = client.ask("PUT", "/admin/v1/links/settings", LINKS)
        if answer.status != 200:
            raise RuntimeError(answer.text)
        link = client.ask("POST", "/v1/shortLinks?key=web-key-1", {
            "longDynamicLink": f"https://{HOST}/r/?link=https://acme.test/join?by=alice&ibi=test.acme.ios"}).json
        rules = os.path.join(data, "rules.json.given")
        with open(rules, "w", encoding="utf-8") as file:
            json.dump(RULES, file)
        command(program, server.port, "rules", "put", rules)
        os.unlink(rules)
        command(program, server.port, "ledger", "transfer", "alice", "player5", "5", "--reason", "a present")
        command(program, server.port, "functions", "pause", "rewardReferrals", "--reason", "the fixture wants one that is paused")
        expected = dict(facts(client), accounts=ids, password=PASSWORD, refreshToken=refresh, link=link.get("shortLink"))
        if server.stop() != 0:
            raise RuntimeError("the server did not stop in order")
        with open(os.path.join(data, "expected.json"), "w", encoding="utf-8") as file:
            json.dump(expected, file, indent=2, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        os.unlink(os.path.join(data, "doubloon.lock"))
        # What ran when a process died: zeros, as none did.
        os.unlink(os.path.join(data, "running.notes"))
        shutil.copytree(data, options.into)
    finally:
        if server:
            server.kill()
        shutil.rmtree(data, ignore_errors=True)
    print(f"The fixture is in {options.into}; expected.json says what is in it.")


if __name__ == "__main__":
    main()
