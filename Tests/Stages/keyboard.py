"""The keyboard of a page: keys are pressed by the browser, as a person presses them."""

# Keys that are more than a character: what the browser calls their place, their old number, and what they write.
KEYS = {
    "Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Backspace": ("Backspace", 8, ""),
    "Delete": ("Delete", 46, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""), "ArrowRight": ("ArrowRight", 39, ""), "Home": ("Home", 36, ""), "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""), "PageDown": ("PageDown", 34, ""), " ": ("Space", 32, " "),
}
MODIFIERS = {"alt": 1, "ctrl": 2, "meta": 4, "shift": 8}


class Keyboard:
    """What a Tab can be told by keys; `ask` is the tab's."""

    def key(self, key, *modifiers):
        """Presses one key: a name of KEYS, or a character."""
        code, number, text = KEYS.get(key) or (f"Key{key.upper()}" if key.isalpha() else "", ord(key.upper()[0]), key)
        held = sum(MODIFIERS[name] for name in modifiers)
        if held & 7:
            text = ""
        commands = ["selectAll"] if key == "a" and "ctrl" in modifiers else []
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, code=code, text=text,
                 windowsVirtualKeyCode=number, modifiers=held, commands=commands)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=code, windowsVirtualKeyCode=number, modifiers=held)

    def type(self, text):
        for character in text:
            self.key(character)

    @property
    def focused(self):
        """The accessible name of what has the focus."""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        names = [node.get("name", {}).get("value", "") for node in nodes for one in node.get("properties", [])
                 if one["name"] == "focused" and one["value"].get("value") and node["role"]["value"] != "RootWebArea"]
        return names[-1] if names else None
