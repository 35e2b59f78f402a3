"""A browser that does what a person does: opens pages, reads them, types, presses buttons. Chromium without a window, spoken to
over a pipe in its own protocol, so that what is pressed is pressed by the browser and not by a script of the page. Standard
library only.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One window, with a profile of its own that is gone afterwards. `language` is what its reader reads: `de-AT,de;q=0.9`."""

    def __init__(self, *options, language="en"):
        self.profile = tempfile.mkdtemp(prefix="doubloon-browser-")
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        # Above the numbers that the shell needs for itself.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (commands, answers)]
        os.close(commands)
        os.close(answers)
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}', "--", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--disable-extensions", f"--user-data-dir={self.profile}", *options,
             "about:blank"],
            pass_fds=ends, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self._heard = b""
        self._number = 0
        self._session = None
        self._events = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")
        self._ask("Network.enable")
        self._ask("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})

    def _next(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._heard:
            if not select.select([self._from], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            more = os.read(self._from, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self._heard += more
        message, self._heard = self._heard.split(b"\0", 1)
        return json.loads(message)

    def _ask(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(60)
            if answer.get("id") != self._number:
                self._events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def _await(self, method, seconds=60):
        end = time.monotonic() + seconds
        while not any(event.get("method") == method for event in self._events):
            self._events.append(self._next(end - time.monotonic()))
        self._events = []

    def open(self, address):
        """Opens a page, and returns once it is there."""
        self._events = []
        self._ask("Page.navigate", url=address)
        self._await("Page.loadEventFired")

    def value(self, expression):
        """What a JavaScript expression is on the page; the page's policy does not keep it from being asked."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    @property
    def text(self):
        """What is to be read on the page."""
        return self.value("document.body.innerText") or ""

    @property
    def address(self):
        return self.value("location.href")

    @property
    def language(self):
        """The language that the page says it is in."""
        return self.value("document.documentElement.lang")

    def _click(self, selector):
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null; e.scrollIntoView(); "
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()")
        if place is None:
            raise RuntimeError(f"there is no {selector} on the page: {self.text[:200]}")
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def write(self, selector, text):
        """Puts the cursor into a field and types."""
        self._click(selector)
        self._ask("Input.insertText", text=text)

    def press(self, selector="button"):
        """Presses what leads to another page, and returns once that is there."""
        self._events = []
        self._click(selector)
        self._await("Page.loadEventFired")

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
