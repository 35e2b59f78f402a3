"""What the Firebase admin SDK for Python's listen() must see."""

import queue
import threading


class Heard:
    """A listen, and the events that have come for it."""

    def __init__(self, reference):
        self._events = queue.Queue()
        self._registration = reference.listen(self._events.put)
        self._reference = reference

    def next(self):
        """The next event as (type, path, data); keep-alives are passed over."""
        while True:
            event = self._events.get(timeout=120)
            if event.event_type != "keep-alive":
                return event.event_type, event.path, event.data

    def close(self):
        """Closes as an application does. The SDK's thread looks up when something comes, so something is written."""
        closing = threading.Thread(target=self._registration.close)
        closing.start()
        for number in range(1200):
            if not closing.is_alive():
                return
            self._reference.child("last").set(number)
            closing.join(0.1)
        raise AssertionError("close() did not come back within two minutes")


def cases(db):
    """The cases by name: each is a function that asserts."""
    found = []

    def case(name):
        def note(function):
            found.append((name, function))
            return function
        return note

    def at(path):
        return db.reference("/heard/" + path)

    @case("listen: first the value, then each change where it was made, and close() comes back")
    def _():
        at("a").set({"b": 1})
        heard = Heard(at("a"))
        assert heard.next() == ("put", "/", {"b": 1})
        at("a/c").set({"d": [1, 2], "e": "x"})
        assert heard.next() == ("put", "/c", {"d": [1, 2], "e": "x"})
        at("a/c").update({"e": "y", "f/g": True})
        assert heard.next() == ("patch", "/c", {"e": "y", "f/g": True})
        at("a/b").delete()
        assert heard.next() == ("put", "/b", None)
        db.reference("/heard").update({"a": {"new": 1}})
        assert heard.next() == ("put", "/", {"new": 1})
        heard.close()

    @case("listen: every alphabet arrives intact, at once and later")
    def _():
        text = "J\u00f6rg \u20ac \U0001f600 \u0444\u0443\u043d\u0442 line\nbreak \u2028 \u0085"
        at("text").set(text)
        heard = Heard(at("text"))
        assert heard.next() == ("put", "/", text)
        at("text").set({"\u0444\u0443\u043d\u0442": text + "!"})
        assert heard.next() == ("put", "/", {"\u0444\u0443\u043d\u0442": text + "!"})
        heard.close()

    @case("listen: what is absent is None, and a stream with a large value is whole")
    def _():
        heard = Heard(at("large"))
        assert heard.next() == ("put", "/", None)
        value = {f"k{number}": "x" * 1000 for number in range(1000)}
        at("large").set(value)
        assert heard.next() == ("put", "/", value)
        heard.close()

    @case("listen: many writers, one order; the last event holds the last value")
    def _():
        at("many").set(0)
        heard = Heard(at("many"))
        assert heard.next() == ("put", "/", 0)
        threads = [threading.Thread(target=lambda: [at("many").set({".sv": {"increment": 1}}) for _ in range(25)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert [heard.next()[2] for _ in range(100)] == list(range(1, 101))
        for thread in threads:
            thread.join()
        heard.close()

    return found
