"""A browser that does what a person does: opens pages, reads them, types, presses buttons. What is pressed is pressed by the
browser and not by a script of the page. Standard library only.
"""

import base64
import json
import re
import time
import urllib.parse

from chromium import Chromium, ElementGone
from keyboard import Keyboard
from pointer import Pointer

# How long a person waits, on a machine that is busy with other things: what is there sooner is seen sooner.
PATIENCE = 45


class Tab(Pointer, Keyboard):
    """A page in a window of its own. `complaints` is what the browser found wrong with it: errors and warnings, violations of the
    page's policy, requests to other hosts than those it was sent to, answers from 500 on, dialogs."""

    def __init__(self, chromium, context=None, language="en"):
        self.chromium = chromium
        where = {"browserContextId": context} if context else {}
        self.target = chromium.ask("Target.createTarget", url="about:blank", newWindow=True, **where)["targetId"]
        self.session = chromium.ask("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        self.complaints = []
        self.requests = []
        self.hosts = set()
        self._loads = 0
        self._open_requests, self._loader = {}, None
        self._holding = None
        self.held, self.held_at = [], {}
        self._told = None
        chromium.listeners[self.session] = self._heard
        for part in ("Page", "Network", "Runtime", "Log", "Audits"):
            self.ask(f"{part}.enable")
        self.ask("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})

    def ask(self, method, **parameters):
        return self.chromium.ask(method, self.session, **parameters)

    # What the browser says by itself.

    def _heard(self, method, event):
        part, name = method.split(".")
        handle = getattr(self, f"_{part.lower()}_{name}", None)
        if handle:
            handle(event)

    def _page_loadEventFired(self, _):
        self._loads += 1

    def _page_javascriptDialogOpening(self, event):
        self.complaints.append(f"dialog: {event['type']} {event['message'][:200]}")
        self.chromium.tell("Page.handleJavaScriptDialog", self.session, accept=event["type"] == "beforeunload")

    def _runtime_consoleAPICalled(self, event):
        if event["type"] in ("error", "warning", "assert"):
            said = " ".join(str(value.get("value", value.get("description", ""))) for value in event["args"])
            self.complaints.append(f"console: {event['type']} {said[:400]}")

    def _runtime_exceptionThrown(self, event):
        details = event["exceptionDetails"]
        said = details.get("exception", {}).get("description") or details.get("exception", {}).get("value") or ""
        self.complaints.append(f"exception: {details['text']} {str(said)[:400]}")

    def _log_entryAdded(self, event):
        entry = event["entry"]
        if entry["level"] in ("error", "warning"):
            self.complaints.append(f"{entry['source']}: {entry['text'][:400]} {entry.get('url', '')}".rstrip())

    def _audits_issueAdded(self, event):
        issue = event["issue"]
        if issue["code"] == "ContentSecurityPolicyIssue":
            found = issue["details"]["contentSecurityPolicyIssueDetails"]
            self.complaints.append(f"policy: {found['violatedDirective']} {found.get('blockedURL', '')}".rstrip())

    def _network_requestWillBeSent(self, event):
        address = event["request"]["url"]
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in ("http", "https", "ws", "wss"):
            return
        if event.get("type") == "Document":
            # What the page before asked for nobody waits for, also where it asks once more while the next one comes.
            self._open_requests, self._loader = {}, event.get("loaderId")
        if event.get("loaderId") in (None, "", self._loader):
            self._open_requests[event["requestId"]] = address
        self.requests.append({"id": event["requestId"], "method": event["request"]["method"], "url": address,
                              "time": event["timestamp"], "bytes": 0})
        if self.hosts and parts.netloc not in self.hosts:
            self.complaints.append(f"request to another host: {address[:200]}")

    def _network_responseReceived(self, event):
        response = event["response"]
        for request in reversed(self.requests):
            if request["id"] == event["requestId"]:
                request["status"], request["headers"] = response["status"], response["headers"]
                request["kept"] = request.get("kept") or response.get("fromDiskCache", False)
                break
        if response["status"] >= 500:
            self.complaints.append(f"answer {response['status']}: {response['url'][:200]}")

    def _network_requestServedFromCache(self, event):
        for request in reversed(self.requests):
            if request["id"] == event["requestId"]:
                request["kept"] = True
                break

    def _network_dataReceived(self, event):
        for request in reversed(self.requests):
            if request["id"] == event["requestId"]:
                request["bytes"] += event["dataLength"]
                request.setdefault("parts", []).append(event["timestamp"])
                break

    def _network_loadingFinished(self, event):
        for request in reversed(self.requests):
            if request["id"] == event["requestId"]:
                request["wire"] = event.get("encodedDataLength", 0)
                break
        self._open_requests.pop(event["requestId"], None)

    def _network_loadingFailed(self, event):
        address = self._open_requests.get(event["requestId"], "")
        self._network_loadingFinished(event)
        # What the page's policy stopped was never sent.
        if event.get("blockedReason") == "csp":
            told = f"request to another host: {address[:200]}"
            self.complaints = [one for one in self.complaints if one != told]

    def _fetch_requestPaused(self, event):
        address = event["request"]["url"]
        if self._told and re.search(self._told[0], address):
            self.chromium.tell("Fetch." + self._told[1], self.session, requestId=event["requestId"], **self._told[2])
        elif self._holding and re.search(self._holding, address):
            self.held.append(event["requestId"])
            self.held_at[event["requestId"]] = address
        else:
            self.chromium.tell("Fetch.continueRequest", self.session, requestId=event["requestId"])

    def take_complaints(self, *provoked):
        """What was found wrong so far, but for what a check provoked: patterns. It is not told twice."""
        self.chromium.hear_all()
        found = [one for one in self.complaints if not any(re.search(pattern, one) for pattern in provoked)]
        self.complaints = []
        return found

    # Going and waiting.

    def until(self, holds, seconds=PATIENCE):
        """Waits until an expression of JavaScript is true, or a function returns something; gives it, or False after the time."""
        look = holds if callable(holds) else lambda: self.value(holds)
        end = time.monotonic() + seconds
        while True:
            try:
                found = look()
            except ElementGone:
                found = False  # the page went to another one while it was looked at
            if found:
                return found
            if time.monotonic() > end:
                return False
            try:
                self.chromium.hear(0.03)
            except TimeoutError:
                pass

    def shows(self, text, seconds=PATIENCE):
        """Waits until a text, or one that matches a pattern, is to be read on the page."""
        return bool(self.until(lambda: re.search(text, self.text) if hasattr(text, "search") else text in self.text, seconds))

    def quiet(self, seconds=PATIENCE, apart=r"/live\b"):
        """Waits until no request is under way, but for those that never end and those that are held."""
        apart = f"{apart}|{self._holding}" if self._holding else apart
        return self.until(lambda: self._was_heard() and not [one for one in self._open_requests.values() if not re.search(apart, one)], seconds)

    def _was_heard(self):
        """Whether the page answers; what it asked for before that is known then."""
        try:
            return self.value("true")
        except RuntimeError:
            return False

    def stays(self, seconds):
        """Lets some time pass, in which something must not happen."""
        self.until(lambda: False, seconds)

    def _leads(self, act, seconds=60):
        loads = self._loads
        act()
        if not self.until(lambda: self._loads > loads, seconds):
            raise TimeoutError("no page was loaded")

    def open(self, address):
        """Opens a page, and returns once it is there."""
        self._leads(lambda: self.ask("Page.navigate", url=address))

    def reload(self):
        self._leads(lambda: self.ask("Page.reload"))

    # Reading.

    def value(self, expression, is_script_of_the_page=False):
        """What a JavaScript expression is on the page, promises awaited; the page's policy keeps `eval` from it only on request."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True,
                          allowUnsafeEvalBlockedByCSP=not is_script_of_the_page)
        return answer["result"].get("value")

    def raises(self, expression):
        """What a JavaScript expression throws on the page, as text; None if it throws nothing."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, allowUnsafeEvalBlockedByCSP=False)
        details = answer.get("exceptionDetails")
        return details and (details.get("exception", {}).get("description") or details["text"])

    @property
    def text(self):
        """What is to be read on the page."""
        return self.value("document.body ? document.body.innerText : ''") or ""

    @property
    def title(self):
        return self.value("document.title")

    @property
    def address(self):
        return self.value("location.href")

    @property
    def language(self):
        """The language that the page says it is in."""
        return self.value("document.documentElement.lang")

    def cookies(self, *addresses):
        """The cookies that the browser would send to these addresses; with what it keeps of each."""
        return self.ask("Network.getCookies", urls=list(addresses))["cookies"]

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    # Finding by what a reader of the page hears.

    def named(self, name, role=None):
        """The elements of a role whose accessible name is this text, or matches this pattern; what a dialog covers is not there."""
        found = []
        for node in self.ask("Accessibility.getFullAXTree")["nodes"]:
            if node.get("ignored") or "backendDOMNodeId" not in node:
                continue
            if role and node["role"]["value"] not in ((role,) if isinstance(role, str) else role):
                continue
            said = " ".join(str(node.get("name", {}).get("value", "")).split())
            if (name.search(said) if hasattr(name, "search") else said.casefold() == name.casefold()):
                traits = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
                found.append({"node": node["backendDOMNodeId"], "role": node["role"]["value"], "name": said, **traits})
        return found

    def find(self, name, role=None, seconds=PATIENCE):
        """The first such element once there is one."""
        found = self.until(lambda: self.named(name, role), seconds)
        if not found:
            wanted = name.pattern if hasattr(name, "pattern") else name
            raise LookupError(f"there is no {role or 'element'} \"{wanted}\" on {self.address}: {self.text[:400]}")
        return found[0]

    # What surrounds the page.

    def emulate(self, scheme=None, size=None, still=None):
        """Another colour scheme (light, dark), another window (width, height), less motion (True)."""
        features = [{"name": "prefers-color-scheme", "value": scheme or ""},
                    {"name": "prefers-reduced-motion", "value": "reduce" if still else ""}]
        self.ask("Emulation.setEmulatedMedia", features=features)
        if size:
            self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        # What a page does about it, it does with the next frames.
        self.value("Promise.race([new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))), new Promise((done) => setTimeout(done, 300))])")

    def network(self, offline=False, latency=0):
        """A slow network (milliseconds), or none."""
        self.ask("Network.emulateNetworkConditions", offline=offline, latency=latency, downloadThroughput=-1, uploadThroughput=-1)

    def hold(self, pattern):
        """From now on requests to such addresses wait in `held` until they are released."""
        self._holding, self.held = pattern, []
        self.ask("Fetch.enable", patterns=[{"urlPattern": "*"}])

    def release(self, *held):
        """Lets requests go, in this order; what the page gave up on meanwhile is gone. Without any: all, and nothing is held."""
        for request in held or self.held:
            try:
                self.ask("Fetch.continueRequest", requestId=request)
            except RuntimeError:
                pass
        if not held:
            self._holding = None
            self.ask("Fetch.disable")

    def tells(self, pattern, status=None, text="", **headers):
        """From now on requests to such addresses get this answer, and the server none of them; without a status the line breaks."""
        given = [{"name": name.replace("_", "-"), "value": value} for name, value in {"Content-Type": "application/json", **headers}.items()]
        if status is None:
            self._told = (pattern, "failRequest", {"errorReason": "ConnectionClosed"})
        else:
            body = base64.b64encode(text.encode()).decode()
            self._told = (pattern, "fulfillRequest", {"responseCode": status, "responseHeaders": given, "body": body})
        self.ask("Fetch.enable", patterns=[{"urlPattern": "*"}])

    def tells_no_more(self):
        self._told = None
        self.ask("Fetch.disable")

    def leave(self):
        self.chromium.listeners.pop(self.session, None)
        self.chromium.ask("Target.closeTarget", targetId=self.target)


class Browser(Tab):
    """A browser with one window. `language` is what its reader reads: `de-AT,de;q=0.9`."""

    def __init__(self, *options, language="en"):
        super().__init__(Chromium(*options), language=language)

    def stranger(self):
        """A profile of its own, as if nothing had been visited before: what Tab takes as `context`."""
        return self.chromium.ask("Target.createBrowserContext")["browserContextId"]

    def forget(self, context):
        """Closes the windows of such a profile."""
        self.chromium.ask("Target.disposeBrowserContext", browserContextId=context)

    def close(self):
        self.chromium.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
