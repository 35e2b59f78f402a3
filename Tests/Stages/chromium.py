"""Chromium without a window, spoken to over a pipe in its own protocol. Standard library only."""

import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import tempfile
import time


# How the browser says that an element is not on the page any more.
GONE = re.compile(
    "Node is detached|No node (found )?(for|with) (the )?given|not have a layout object|not compute (box|content)|Cannot find context|"
    "context was destroyed|Could not find object|Promise was collected|target navigated", re.I)
# No name but this machine's is looked up: what asks another host fails at once, with and without a network.
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


class ElementGone(RuntimeError):
    """The page was drawn again since the element was found."""


class Chromium:
    """The process, with a profile of its own that is gone afterwards. What it says of a page goes to the page's listener."""

    def __init__(self, *options):
        self.profile = tempfile.mkdtemp(prefix="doubloon-browser-")
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        # Above the numbers that the shell needs for itself.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (commands, answers)]
        os.close(commands)
        os.close(answers)
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "--", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", NOWHERE, f"--user-data-dir={self.profile}", *options,
             "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self._heard = b""
        self._number = 0
        self._answers = {}
        self._unread = set()
        self.listeners = {}

    def hear(self, seconds):
        """Takes the next message, and gives it to whom it is for. Raises TimeoutError when none comes."""
        end = time.monotonic() + seconds
        while b"\0" not in self._heard:
            if not select.select([self._from], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._heard += more
        text, self._heard = self._heard.split(b"\0", 1)
        message = json.loads(text)
        number = message.get("id")
        if number is None:
            listener = self.listeners.get(message.get("sessionId"))
            if listener:
                listener(message["method"], message.get("params", {}))
        elif number in self._unread:
            self._unread.discard(number)
        else:
            self._answers[number] = message

    def hear_all(self):
        """Takes what has been said so far."""
        while b"\0" in self._heard or select.select([self._from], [], [], 0)[0]:
            self.hear(1)

    def tell(self, method, session=None, **parameters):
        """Sends a command whose answer nobody waits for."""
        self._unread.add(self._send(method, session, parameters))

    def ask(self, method, session=None, seconds=180, **parameters):
        """Sends a command, and gives what it returns."""
        number = self._send(method, session, parameters)
        end = time.monotonic() + seconds
        while number not in self._answers:
            self.hear(end - time.monotonic())
        answer = self._answers.pop(number)
        if "error" in answer:
            said = answer["error"]["message"]
            raise (ElementGone if GONE.search(said) else RuntimeError)(f"{method}: {said}")
        return answer["result"]

    def _send(self, method, session, parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        rest = json.dumps(message).encode() + b"\0"
        while rest:
            rest = rest[os.write(self._to, rest):]
        return self._number

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.profile, ignore_errors=True)
