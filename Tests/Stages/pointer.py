"""The pointer of a page: what is clicked and filled is clicked and filled by the browser, as a person does it, who looks where
something is, waits until it can be used, and does it again where the page was drawn again under the pointer."""

import time

from chromium import ElementGone

# Whether an element can be clicked now: it is on the page, in use, and stays where it is for a frame.
STATE = """async function () {
  const element = this.nodeType === 1 ? this : this.parentElement;
  if (!element?.isConnected) return 'gone';
  if (element.matches(':disabled')) return 'disabled';
  const place = () => { const { x, y, width, height } = element.getBoundingClientRect(); return `${x} ${y} ${width} ${height}`; };
  const before = place();
  await Promise.race([new Promise(requestAnimationFrame), new Promise((done) => setTimeout(done, 250))]);
  return place() === before ? 'still' : 'moving';
}"""
# Tells later whether a click came to the element, and keeps one that does not from everything else: where the page was drawn again
# between the look and the press, a person would not press what came under the pointer.
WATCH = """function () {
  const element = this.nodeType === 1 ? this : this.parentElement;
  const seen = { clicked: false };
  element.addEventListener('click', () => { seen.clicked = true; }, { capture: true, once: true });
  let outer = element;
  while (outer.getRootNode() instanceof ShadowRoot) outer = outer.getRootNode().host;
  const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'];
  const guard = (event) => {
    if (event.composedPath().includes(outer)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const kind of kinds) addEventListener(kind, guard, true);
  seen.end = () => {
    for (const kind of kinds) removeEventListener(kind, guard, true);
    return seen.clicked;
  };
  return seen;
}"""


class Pointer:
    """What a Tab can be told by pointer; `ask`, `find`, `until`, `quiet`, `key` are the tab's."""

    def click(self, name, role=None, seconds=45, at=0):
        """Clicks what has a name, where a person would, once it can be used; of several the first, or that at another place."""
        self._at(name, role, seconds, self.click_node, at)

    def click_node(self, node, seconds=45):
        """Raises ElementGone where the click did not come to the element."""
        self._click_object(self._object(node), seconds)

    def focus(self, name, role=None, seconds=45):
        self._at(name, role, seconds, lambda node: self.ask("DOM.focus", backendNodeId=node))

    def fill(self, name, text, role=("textbox", "searchbox", "combobox", "spinbutton"), seconds=45):
        """Puts a text in place of what a field held, as by typing it."""
        def put(node):
            self.ask("DOM.focus", backendNodeId=node)
            self.key("a", "ctrl")
            if text:
                self.ask("Input.insertText", text=text)
            else:
                self.key("Delete")
            if not self._call(self._object(node), "function () { return this.isConnected; }"):
                raise ElementGone("the field was drawn again while it was filled")
        self._at(name, role, seconds, put)

    def write(self, selector, text):
        """Puts the cursor into a field and types."""
        self._click(selector)
        self.ask("Input.insertText", text=text)

    def press(self, selector="button"):
        """Presses what leads to another page, and returns once that is there."""
        self._leads(lambda: self._click(selector))

    def _at(self, name, role, seconds, act, at=0):
        """Does something to an element once the page has what it asked for, and looks for it again where the page was drawn again
        between the look and the act."""
        end = time.monotonic() + seconds
        self.quiet(5)
        while True:
            found = self.find(name, role, seconds)
            found = self.named(name, role)[at] if at else found
            try:
                return act(found["node"])
            except ElementGone:
                if time.monotonic() > end:
                    raise
                self.stays(0.1)

    def _click(self, selector, seconds=45):
        end = time.monotonic() + seconds
        while True:
            found = self.until(lambda: self.ask("Runtime.evaluate", expression=f"document.querySelector({selector!r})")["result"].get("objectId"),
                               seconds)
            if not found:
                raise LookupError(f"there is no {selector} on the page: {self.text[:200]}")
            try:
                return self._click_object(found, seconds)
            except ElementGone:
                if time.monotonic() > end:
                    raise

    def _click_object(self, element, seconds):
        end = time.monotonic() + seconds
        while (state := self._call(element, STATE, awaitPromise=True)) != "still" and time.monotonic() < end:
            if state == "gone":
                raise ElementGone("what was to be clicked is not on the page any more")
            self.stays(0.05)
        self.ask("DOM.scrollIntoViewIfNeeded", objectId=element)
        quads = self.ask("DOM.getContentQuads", objectId=element)["quads"]
        if not quads:
            raise ElementGone("what was to be clicked has no place on the page")
        seen = self.ask("Runtime.callFunctionOn", objectId=element, functionDeclaration=WATCH)["result"]["objectId"]
        self._press_at((quads[0][0] + quads[0][4]) / 2, (quads[0][1] + quads[0][5]) / 2)
        try:
            clicked = self._call(seen, "function () { return this.end(); }")
        except RuntimeError:
            return  # the click led to another page
        if not clicked and state != "disabled":
            raise ElementGone("the click did not come to what was to be clicked")

    def _press_at(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _object(self, node):
        return self.ask("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]

    def _call(self, element, function, **how):
        """What a function of JavaScript gives for an element; None where the page has gone meanwhile."""
        return self.ask("Runtime.callFunctionOn", objectId=element, functionDeclaration=function, returnByValue=True, **how)["result"].get("value")
