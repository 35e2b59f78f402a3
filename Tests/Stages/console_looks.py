"""How the console looks and what readers of the page hear: axe-core, labels and landmarks, contrast of the colours, narrow windows.

axe-core is Deque's, under the Mozilla Public License; it comes with the environment of this stage and is only run.
"""

import importlib.resources
import json
import os
import re

from console import every_page
from console_files import FOLDER

EMPTY = "empty-default-rtdb"
FIELDS = ("textbox", "searchbox", "combobox", "spinbutton", "slider", "checkbox", "radio", "listbox", "switch")
CONTROLS = ("button", "link", "tab", "menuitem", "option", *FIELDS)
WIDE, NARROW = (1280, 800), (390, 844)
# The rules that judge colours: all others find the same in light and dark.
OF_COLOURS = ("color-contrast", "link-in-text-block")
# Addresses that differ from another one by their filter only are looked at once.
ALIKE = ("data/users?", "data/users/bob/level", "events?outcome=done", "rewards/entries?", "rules?")


def axe():
    return (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def judged(tab, source, *rules):
    """What axe-core finds: rule, how often, where, and what it says. All rules, that of the size of targets too, or these."""
    if not tab.value("typeof axe === 'object'"):
        tab.value(source + "; 0")
    only = f", runOnly: {json.dumps(rules)}" if rules else ", rules: {'target-size': {enabled: true}}"
    found = tab.value(
        f"axe.run(document, {{resultTypes: ['violations'], preload: false{only}}}).then((r) => JSON.stringify(r.violations.map((v) => "
        "`${v.id} x${v.nodes.length}: ${v.nodes[0].target.join(' ')} — ${v.nodes[0].failureSummary.slice(0, 220)}`)))")
    return json.loads(found) if found else ["axe did not run"]


def pages_have_no_violations(site, checks):
    """Every rule, wide and narrow; those of colours in light and dark, too. One heading, landmarks, names; and no page is wider than a
    window of 320 pixels."""
    source = axe()
    pages = [page for page in every_page(site) if not page.startswith(ALIKE)]
    tab = site.tab()
    site.go(tab, pages[0])
    tab.value("(() => { const e = document.createElement('p'); e.append('faint', document.createElement('input')); e.style.color = '#ddd'; "
              "for (const name of ['one', 'two']) { const b = document.createElement('button'); b.textContent = name; "
              "b.style.cssText = 'padding: 0; border: 0; height: 8px; width: 8px; font-size: 4px; display: block'; e.append(b); } "
              "document.querySelector('main').append(e); })()")
    found = " ".join(judged(tab, source))
    checks.check("axe sees a field without a label, a text without contrast, and targets that are too small",
                 all(f"{rule} x" in found for rule in ("label", "color-contrast", "target-size")), found)
    found = " ".join(judged(tab, source, *OF_COLOURS))
    checks.check("asked about colours alone it sees the same text", "color-contrast x" in found and "label x" not in found, found)
    for page in every_page(site):
        tab.emulate("light", WIDE, True)
        site.go(tab, page)
        is_named(tab, page, checks)
        for scheme, size, rules in (("light", WIDE, ()), ("dark", WIDE, OF_COLOURS), ("dark", NARROW, ()), ("light", NARROW, OF_COLOURS)) if page in pages else ():
            tab.emulate(scheme, size, True)
            found = judged(tab, source, *rules)
            checks.check(f"axe finds nothing on {page}, {scheme}, {size[0]} wide", not found, "\n        ".join(found), quiet=True)
        fits(tab, page, checks)
    checks.check(f"axe looked at {len(pages)} pages in two schemes and two sizes; all of {len(every_page(site))} are named and fit", True)


def empty_pages_have_no_violations(site, checks):
    site.admin("POST", "namespaces", {"name": EMPTY})
    source = axe()
    tab = site.tab()
    for page in ("overview", "start", "data", "events", "replays", "rewards", "rewards/entries", "rewards/u/nobody", "accounts", "links", "audit"):
        site.go(tab, page, EMPTY)
        for scheme, size in (("light", WIDE), ("dark", NARROW)):
            tab.emulate(scheme, size, True)
            found = judged(tab, source)
            checks.check(f"axe finds nothing on {page} of an empty namespace, {scheme}, {size[0]} wide", not found, "\n        ".join(found), quiet=True)
    checks.check("axe looked at empty pages", True)


def what_lies_over_a_page_has_no_violations(site, checks):
    source = axe()
    tab = site.tab()

    def look(name):
        for scheme, size, rules in (("light", NARROW, ()), ("dark", NARROW, OF_COLOURS), ("light", WIDE, OF_COLOURS), ("dark", WIDE, ())):
            tab.emulate(scheme, size, True)
            found = judged(tab, source, *rules)
            checks.check(f"axe finds nothing with {name}, {scheme}, {size[0]} wide", not found, "\n        ".join(found), quiet=True)

    def closes(name, opener):
        tab.key("Escape")
        checks.check(f"Escape closes {name}", tab.until("!document.querySelector('dialog[open]')"))
        checks.check(f"and the focus is back on {opener}", tab.until(lambda: re.search(opener, tab.focused or "")), tab.focused)

    site.go(tab, "rewards/entry/1")
    tab.click(re.compile("^Reverse"), "button")
    tab.shows("→")
    look("the dialog to reverse an entry")
    inside = set()
    for _ in range(12):
        tab.key("Tab")
        inside.add(tab.value("!document.activeElement || document.activeElement === document.body || "
                             "!!document.activeElement.closest('dialog[open]')"))
    checks.check("Tab stays in the dialog", inside == {True})
    closes("the dialog", "^Reverse")
    tab.click("Copy", "button")
    look("a menu")
    tab.key("Escape")
    tab.click(re.compile("Search or jump"), "button")
    tab.type("bob")
    tab.find(re.compile("bob"), "option")
    look("the palette")
    closes("the palette", "Search or jump")
    tab.value("document.activeElement.blur()")
    tab.key("?")
    tab.find(re.compile("Keyboard shortcuts"), "dialog")
    look("the list of keys")
    tab.key("Escape")
    site.provoke(r"503")
    tab.hold(r"/admin/v1/audit")
    tab.click("Audit", "link")
    if tab.until(lambda: tab.held):
        tab.ask("Fetch.fulfillRequest", requestId=tab.held[0], responseCode=503,
                responseHeaders=[{"name": "Content-Type", "value": "application/json"}],
                body="eyJlcnJvciI6IlRoZSBzdG9yZSBpcyBidXN5LiJ9")
    checks.check("a panel that failed says so, and offers another try", tab.shows("The store is busy.") and tab.until(lambda: tab.named("Try again", "button")),
                 tab.text[-300:])
    look("a panel that failed")
    tab.release()
    tab.click("Try again", "button")
    checks.check("which works", tab.until("!document.querySelector('main .error-panel')"))


def is_named(tab, page, checks):
    nodes = [node for node in tab.ask("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
    role = lambda node: node["role"]["value"]
    name = lambda node: str(node.get("name", {}).get("value", "")).strip()
    heads = tab.value("[...document.querySelectorAll('h1')].filter((e) => e.checkVisibility()).length")
    checks.check(f"{page} has one h1", heads == 1, heads, quiet=True)
    roles = [role(node) for node in nodes]
    missing = [one for one in ("banner", "navigation", "main") if one not in roles]
    checks.check(f"{page} has its landmarks", not missing and roles.count("main") == 1, missing, quiet=True)
    bare = [node for node in nodes if role(node) in CONTROLS and not name(node)]
    checks.check(f"everything on {page} that can be used has a name", not bare, [role(node) for node in bare], quiet=True)


def fits(tab, page, checks):
    tab.emulate("light", (320, 640), True)
    tab.until("document.scrollingElement.scrollWidth <= innerWidth", 5)
    wide = tab.value("document.scrollingElement.scrollWidth - innerWidth")
    culprit = wide and wide > 0 and tab.value(
        "[...document.querySelectorAll('main *, header *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && "
        "e.checkVisibility()).slice(0, 4).map((e) => `${e.tagName}.${e.className} ${e.innerText?.slice(0, 40)}`).join(' | ')")
    checks.check(f"{page} fits into 320 pixels", wide is not None and wide <= 0, f"{wide} pixels too wide: {culprit}", quiet=True)


def the_content_is_near(site, checks):
    tab = site.tab()
    site.go(tab, "events")
    tab.key("Tab")
    checks.check("the first Tab leads to a link past the rail", tab.until(lambda: tab.focused == "Skip to content"), tab.focused)
    tab.key("Enter")
    checks.check("which leads to the content", tab.until("document.activeElement.id === 'main'"))
    tab.emulate("light", (1280, 800), True)
    moving = "document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getComputedTiming().duration > 1).length"
    checks.check("with reduced motion nothing moves", tab.until(f"{moving} === 0"), tab.value(moving))


def luminance(colour):
    def part(text):
        value = int(text, 16) / 255
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
    return 0.2126 * part(colour[1:3]) + 0.7152 * part(colour[3:5]) + 0.0722 * part(colour[5:7])


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours_can_be_read(_, checks):
    with open(os.path.join(FOLDER, "console.css"), encoding="utf-8") as file:
        tokens = dict(re.findall(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}, #[0-9a-f]{6})\)", file.read()))
    themes = [{name: pair.split(", ")[at] for name, pair in tokens.items()} for at in (0, 1)]
    grounds = ("bg", "surface", "select", "sunken", "changed")
    pairs = [(text, ground, 4.5) for text in ("text", "muted", "accent", "ok", "wait", "paused", "dead") for ground in grounds]
    pairs += [("plus", "bg", 4.5), ("minus", "bg", 4.5), ("plus", "surface", 4.5), ("minus", "surface", 4.5), ("text", "added", 4.5),
              ("text", "removed", 4.5), ("on-accent", "accent", 4.5), ("control", "bg", 3), ("control", "surface", 3)]
    # What has the focus has a ring of this colour around it, 2 px wide, wherever it is.
    pairs += [("accent", ground, 3) for ground in ("added", "removed")]
    lowest = 99
    for theme, colours in zip(("light", "dark"), themes):
        for text, ground, least in pairs:
            if text not in colours or ground not in colours:
                checks.check(f"the colours {text} and {ground} are there", False, sorted(colours))
                continue
            found = contrast(colours[text], colours[ground])
            lowest = min(lowest, found) if least == 4.5 else lowest
            checks.check(f"{text} can be read on {ground} ({theme})", found >= least, f"{found:.2f}, at least {least}", quiet=True)
    checks.check(f"all colours can be read on all grounds; the lowest contrast of text is {lowest:.1f}", lowest >= 4.5)


CHECKS = [
    colours_can_be_read, pages_have_no_violations, empty_pages_have_no_violations, what_lies_over_a_page_has_no_violations,
    the_content_is_near,
]
