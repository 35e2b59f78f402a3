"""The Firebase admin SDK for Python, unmodified, against the program.

Runs in an environment that holds the package (Tests/Stages/requirements.txt); Scripts/test makes one.
"""

import argparse
import json
import os
import sys
import threading
import time
import traceback
import urllib.request

import accounts
import listening
from server import Checks, Server


def cases(db):
    """The cases by name: each is a function that asserts."""
    found = []

    def case(name):
        def note(function):
            found.append((name, function))
            return function
        return note

    def at(path, app=None):
        return db.reference("/sdk/" + path, app)

    def as_user(auth):
        import firebase_admin
        name = f"user {auth}"
        return firebase_admin.initialize_app(name=name, options={
            "databaseURL": "https://sdk-default-rtdb.firebaseio.com", "projectId": "sdk", "databaseAuthVariableOverride": auth})

    def denied(action):
        from firebase_admin import exceptions
        try:
            action()
        except exceptions.UnauthenticatedError as error:
            assert str(error) == "Permission denied", error
            return
        raise AssertionError("the rules should have denied it")

    def put_rules(rules):
        address = f"http://{os.environ['FIREBASE_DATABASE_EMULATOR_HOST']}/.settings/rules.json?ns=sdk-default-rtdb"
        request = urllib.request.Request(
            address, json.dumps(rules).encode(), {"Authorization": "Bearer owner"}, method="PUT")
        with urllib.request.urlopen(request) as answer:
            assert json.load(answer) == {"status": "ok"}

    @case("set and get give back every kind of value")
    def _():
        value = {"name": "Bob", "level": 4, "ratio": 2.5, "isPirate": True, "notes": {"a": "\u20ac \U0001f600", "b": "line\nbreak"}}
        at("values").set(value)
        assert at("values").get() == value, at("values").get()
        assert at("values/notes/a").get() == "\u20ac \U0001f600"

    @case("what is absent is None")
    def _():
        assert at("nothing/here").get() is None

    @case("integers keep all their digits")
    def _():
        at("big").set(2**53 + 1)
        assert at("big").get() == 2**53 + 1

    @case("keys with blanks, percent signs and other alphabets")
    def _():
        for key in ("two words", "100%", "\u0444\u0443\u043d\u0442", "a+b", "a&b=c"):
            at("keys").child(key).set(key)
        assert set(at("keys").get()) == {"two words", "100%", "\u0444\u0443\u043d\u0442", "a+b", "a&b=c"}

    @case("update writes several places at once, and leaves the others")
    def _():
        at("updated").set({"a": 1, "b": {"c": 2, "d": 3}})
        at("updated").update({"a": 10, "b/c": 20, "e": 30})
        assert at("updated").get() == {"a": 10, "b": {"c": 20, "d": 3}, "e": 30}

    @case("update with None deletes")
    def _():
        at("trimmed").set({"a": 1, "b": 2})
        at("trimmed").update({"a": None})
        assert at("trimmed").get() == {"b": 2}

    @case("push makes ascending keys")
    def _():
        keys = [at("pushed").push({"number": number}).key for number in range(5)]
        assert keys == sorted(keys) and len(set(keys)) == 5, keys
        assert all(len(key) == 20 for key in keys), keys
        assert [at("pushed").get()[key]["number"] for key in keys] == list(range(5))

    @case("delete removes the node and its empty parents")
    def _():
        at("gone/deep/below").set(1)
        at("gone/deep/below").delete()
        assert at("gone").get() is None

    @case("the server's time is filled in")
    def _():
        before = time.time() * 1000
        at("stamped").set({"at": {".sv": "timestamp"}, "kept": 1})
        stamped = at("stamped/at").get()
        assert isinstance(stamped, int) and abs(stamped - before) < 60_000, stamped

    @case("an increment is added on the server")
    def _():
        at("count").set(5)
        at("count").set({".sv": {"increment": 3}})
        assert at("count").get() == 8

    @case("a shallow get tells the keys alone")
    def _():
        at("shallow").set({"a": {"b": 1}, "c": 2})
        assert at("shallow").get(shallow=True) == {"a": True, "c": True}
        assert at("shallow/c").get(shallow=True) == 2

    @case("an ETag changes with the value, and only with it")
    def _():
        at("tagged").set({"a": 1})
        value, first = at("tagged").get(etag=True)
        assert value == {"a": 1} and first
        assert at("tagged").get(etag=True)[1] == first
        at("tagged/a").set(2)
        assert at("tagged").get(etag=True)[1] != first

    @case("set_if_unchanged writes, or gives the current value")
    def _():
        at("guarded").set("old")
        _, tag = at("guarded").get(etag=True)
        done, value, new = at("guarded").set_if_unchanged(tag, "new")
        assert done and value == "new" and new and new != tag, (done, value, new)
        done, value, current = at("guarded").set_if_unchanged(tag, "late")
        assert not done and value == "new" and current == new, (done, value, current)
        assert at("guarded").get() == "new"

    @case("set_if_unchanged creates what was absent, once")
    def _():
        _, tag = at("created").get(etag=True)
        assert at("created").set_if_unchanged(tag, 1)[0]
        assert not at("created").set_if_unchanged(tag, 2)[0]

    @case("get_if_changed is silent as long as nothing changed")
    def _():
        at("watched").set(1)
        _, tag = at("watched").get(etag=True)
        assert at("watched").get_if_changed(tag)[0] is False
        at("watched").set(2)
        changed, value, new = at("watched").get_if_changed(tag)
        assert changed and value == 2 and new != tag

    @case("a transaction sees the value and writes the next")
    def _():
        at("transacted").set({"stock": 3})
        assert at("transacted").transaction(lambda now: {"stock": now["stock"] - 1}) == {"stock": 2}
        assert at("transacted/stock").get() == 2

    @case("a transaction that raises changes nothing")
    def _():
        at("refused").set(1)

        def refuse(_):
            raise ValueError("no")

        try:
            at("refused").transaction(refuse)
            raise AssertionError("the error was lost")
        except ValueError:
            pass
        assert at("refused").get() == 1

    @case("contended transactions lose no step")
    def _():
        at("contended").set(0)
        workers, steps = 4, 15
        aborted = []

        def work():
            done = 0
            while done < steps:
                try:
                    at("contended").transaction(lambda now: (now or 0) + 1)
                    done += 1
                except db.TransactionAbortedError as error:
                    aborted.append(error)  # 25 conflicts in a row: the SDK gives up, the caller tries again

        threads = [threading.Thread(target=work) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert at("contended").get() == workers * steps, (at("contended").get(), len(aborted))

    @case("a query by key has a window")
    def _():
        at("ordered").set({"a": 1, "b": 2, "c": 3, "d": 4})
        assert dict(at("ordered").order_by_key().start_at("b").limit_to_first(2).get()) == {"b": 2, "c": 3}
        assert dict(at("ordered").order_by_key().limit_to_last(1).get()) == {"d": 4}

    @case("queries by child, deep child and value, with rules that declare the indexes")
    def _():
        from firebase_admin import exceptions
        at("dinosaurs").set({
            "bruhath": {"height": 0.8, "name": {"short": "b"}}, "lambeo": {"height": 2.1, "name": {"short": "a"}},
            "linh": {"height": "tall"}, "stego": {"height": 4},
        })
        at("scores").set({"x": 30, "y": 10, "z": 20})
        try:
            at("dinosaurs").order_by_child("height").get()
            raise AssertionError("a query without an index was answered")
        except exceptions.InvalidArgumentError as error:
            wanted = 'Index not defined, add ".indexOn": "height", for path "/sdk/dinosaurs", to the rules'
            assert str(error).startswith(wanted), error
        put_rules({"rules": {".read": True, ".write": True, "sdk": {
            "dinosaurs": {".indexOn": ["height", "name/short"]}, "scores": {".indexOn": ".value"}}}})
        by_height = at("dinosaurs").order_by_child("height")
        assert list(by_height.get()) == ["bruhath", "lambeo", "stego", "linh"], by_height.get()
        assert list(at("dinosaurs").order_by_child("height").start_at(2).limit_to_first(2).get()) == ["lambeo", "stego"]
        assert list(at("dinosaurs").order_by_child("height").equal_to("tall").get()) == ["linh"]
        assert list(at("dinosaurs").order_by_child("name/short").limit_to_last(1).get()) == ["bruhath"]
        assert list(at("scores").order_by_value().limit_to_last(2).get().items()) == [("z", 20), ("x", 30)]
        at("scores/y").set(50)
        assert list(at("scores").order_by_value().limit_to_last(1).get()) == ["y"]

    @case("an override of auth reads and writes what the rules allow that user, and nothing else")
    def _():
        put_rules({"rules": {"sdk": {"guarded": {
            "open": {".read": True},
            "own": {"$uid": {".read": "auth != null", ".write": "auth.uid === $uid"}},
        }}}})
        at("guarded").set({"open": "hello", "own": {"user1": {"n": 1}, "user2": {"n": 2}}, "hidden": 3})
        user = as_user({"uid": "user1"})
        assert at("guarded/open", user).get() == "hello"
        assert at("guarded/own/user2", user).get() == {"n": 2}
        at("guarded/own/user1", user).update({"n": 5})
        assert at("guarded/own/user1").get() == {"n": 5}
        denied(lambda: at("guarded/own/user2", user).set({"n": 9}))
        denied(lambda: at("guarded/hidden", user).get())
        denied(lambda: at("guarded", user).get())
        denied(lambda: at("guarded/open", user).set("bye"))
        assert at("guarded").get() == {"open": "hello", "own": {"user1": {"n": 5}, "user2": {"n": 2}}, "hidden": 3}

    @case("an override with nobody reads what is open to all")
    def _():
        nobody = as_user(None)
        assert at("guarded/open", nobody).get() == "hello"
        denied(lambda: at("guarded/own/user1", nobody).get())
        denied(lambda: at("guarded/own/user1", nobody).set({"n": 9}))
        put_rules({"rules": {".read": True, ".write": True}})

    @case("an error reaches the caller as the SDK's exception")
    def _():
        from firebase_admin import exceptions
        try:
            at("wrong").set({".sv": "no such thing"})
            raise AssertionError("the server took an unknown server value")
        except exceptions.FirebaseError as error:
            assert error.http_response.status_code == 400 and str(error), error
        assert at("wrong").get() is None

    @case("a referral pays both players")
    def _():
        db.reference("/users/alice").set({"name": "Alice"})
        db.reference("/users/bob").set({"name": "Bob", "referred_by": "alice"})
        db.reference("/users/bob/last_signin_at").set({".sv": "timestamp"})
        for level in range(1, 6):
            db.reference("/users/bob").update({"level": level})
        end = time.monotonic() + 120
        paid = None
        while paid != (50, 50) and time.monotonic() < end:
            paid = tuple(db.reference(f"/users/{name}/inventory/pieces_of_eight").get() for name in ("bob", "alice"))
        assert paid == (50, 50), paid

    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", help="the doubloon to start")
    parser.add_argument("--host", help="HOST:PORT of a server that runs already, with an empty project \"sdk\"")
    options = parser.parse_args()

    server = None
    host = options.host
    if not host:
        server = Server(options.program, "--in-memory", "--project", "sdk")
        host = f"127.0.0.1:{server.await_address()}"
    os.environ["FIREBASE_DATABASE_EMULATOR_HOST"] = host
    os.environ["FIREBASE_AUTH_EMULATOR_HOST"] = host

    import firebase_admin
    from firebase_admin import auth, db

    print(f"        firebase-admin {firebase_admin.__version__}", flush=True)
    checks = Checks()
    try:
        firebase_admin.initialize_app(options={"databaseURL": "https://sdk-default-rtdb.firebaseio.com", "projectId": "sdk"})
        for name, case in cases(db) + listening.cases(db) + accounts.cases(auth):
            try:
                case()
                checks.check(name, True)
            except Exception:
                checks.check(name, False, traceback.format_exc(limit=-2).strip().replace("\n", " | "))
    finally:
        if server:
            server.stop()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
