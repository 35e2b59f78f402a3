"""Keys alone: the tree and its rows as a screen reader hears them, where the focus is, a payment that is taken back; and nodes that
are too large to be shown whole.
"""

import re

from console import is_ready, refers
from console_reading import walks_to
from serving import until

CHILDREN, TEXT_BYTES, LEVELS, ANSWER_BYTES = 90, 10_000_000, 30, 65_536
# The row that has the focus: its path, level, whether it is unfolded, and its number.
AT = """(() => { const e = document.activeElement.closest('[data-id]');
  return e ? [e.dataset.id, ...['level', 'expanded', 'rowindex'].map((name) => e.getAttribute(`aria-${name}`) ?? '-')].join(' ') : 'nowhere' })()"""
ROWS = """[...document.querySelectorAll('[role=treegrid] [data-id]')].map((e) => [e.dataset.id, e.getAttribute('aria-rowindex'), e.innerText.split(/\\s/)[0]])"""
# What is seen of the focus: nothing where it is, or how.
SEEN = """(() => { const e = document.activeElement; if (!e || e === document.body) return 'nowhere';
  const s = getComputedStyle(e), b = e.getBoundingClientRect();
  const place = b.bottom > 0 && b.right > 0 && b.top < innerHeight && b.left < innerWidth;
  return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 && place ? 'seen' : `${e.tagName}.${e.className} ${s.outlineStyle} ${s.outlineWidth} ${place}` })()"""

# How well the ring around what has the focus is told from the ground that it lies on.
RING = """(() => { const e = document.activeElement, s = getComputedStyle(e), parts = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = parts(c).map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const clear = (c) => parts(c)[3] === 0;
  let on = parseFloat(s.outlineOffset) < 0 ? e : e.parentElement;
  while (on && clear(getComputedStyle(on).backgroundColor)) on = on.parentElement;
  const [a, b] = [light(s.outlineColor), light(getComputedStyle(on ?? document.documentElement).backgroundColor)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05) })()"""


def a_tree_is_walked_by_keys(site, checks):
    site.write("garden", {"apple": {"sort": "red", "tree": {"age": 7}}, "banana": 2, "cherry": 3, "pear": {"sort": "green"}, "plum": 5})
    tab = site.open("data/garden")
    tab.value("document.querySelector('[role=treegrid] [role=row][tabindex=\"0\"]').focus()")
    for key, wanted, told in (
            ("Home", "/apple 1 false 2", "Home leads to the first row"), ("ArrowRight", "/apple 1 true 2", "the right arrow unfolds it"),
            ("ArrowRight", "/apple/sort 2 - 3", "and goes on into it, a level down"), ("ArrowDown", "/apple/tree 2 false 4", "down is the next row"),
            ("ArrowLeft", "/apple 1 true 2", "the left arrow leads back"), ("ArrowLeft", "/apple 1 false 2", "and folds"),
            ("End", "/plum 1 - 6", "End leads to the last row"), ("PageUp", "/apple 1 false 2", "a page up to the first"),
            ("PageDown", "/plum 1 - 6", "and a page down to the last")):
        tab.key(key)
        checks.check(told, tab.until(f"{AT} === '{wanted}'"), tab.value(AT))
    tab.type("b")
    checks.check("a letter leads to the key that begins with it", tab.until(f"{AT} === '/banana 1 - 3'"), tab.value(AT))
    tab.key("End")
    tab.until(f"{AT} === '/plum 1 - 6'")
    tab.key("ArrowUp")
    tab.until(f"{AT} === '/pear 1 false 5'")
    tab.key("Enter")
    checks.check("Enter opens a node", tab.until("location.pathname.endsWith('/data/garden/pear')") and is_ready(tab), tab.address)


def rows_are_numbered(site, checks):
    """Rows are used again while the tree moves: what they say must be what they are."""
    site.write("row", {f"k{number:03}": number for number in range(CHILDREN)})
    tab = site.open("data/row")
    count = "document.querySelector('[role=treegrid]').getAttribute('aria-rowcount')"
    checks.check("the tree says how many rows it has", tab.until(f"{count} === '{CHILDREN + 1}'"), tab.value(count))
    right = lambda: all(key == path.strip("/") and int(number) == int(key[1:]) + 2 for path, number, key in tab.value(ROWS))
    tab.value("document.querySelector('[role=treegrid] [role=row][tabindex=\"0\"]').focus()")
    for key, wanted in (("End", f"k{CHILDREN - 1:03}"), ("Home", "k000")):
        tab.key(key)
        checks.check(f"{key} leads to {wanted}", tab.until(f"{AT}.startsWith('/{wanted} ')"), tab.value(AT))
        checks.check("every row that is drawn has its own number and key", tab.until(right) and 0 < len(tab.value(ROWS)) < 60, tab.value(ROWS)[:4])
    pages(checks, tab, right)
    heard = [str(node.get("name", {}).get("value", "")) for node in tab.ask("Accessibility.getFullAXTree")["nodes"]
             if not node.get("ignored") and node["role"]["value"] == "row"]
    checks.check("a reader of the page hears each once", len(heard) == len(set(heard)) == len(tab.value(ROWS)) + 1, heard[:4])


def pages(checks, tab, right):
    """From the first row down to the last by pages, and back."""
    number = lambda: int((tab.value(AT).split() or ["0"])[-1]) if tab.value(AT) != "nowhere" else 0
    for key, first, last in (("PageDown", 2, CHILDREN + 1), ("PageUp", CHILDREN + 1, 2)):
        seen = [number()]
        while seen[-1] != last and len(seen) < CHILDREN:
            tab.key(key)
            if not tab.until(lambda: number() not in (0, seen[-1]), 20):
                break
            seen.append(number())
        steps = {abs(one - other) for one, other in zip(seen, seen[1:-1])}
        checks.check(f"{key} goes by what is seen at once, to the end", seen[0] == first and seen[-1] == last and len(steps) == 1 and min(steps) > 3, seen)
        checks.check(f"after {key} every row says what it is", tab.until(right), tab.value(ROWS)[:4])


def the_focus_is_seen(site, checks):
    refers(site)
    tab = site.tab()
    for page, scheme in (("overview", "light"), ("events", "dark"), ("data/garden", "dark"), ("data/garden", "light"), ("rewards", "light"), ("overview", "dark")):
        tab.emulate(scheme, still=True)
        site.go(tab, page)
        hidden, rings = [], []
        for _ in range(24):
            tab.key("Tab")
            # A page that draws itself again keeps the focus where it was, or gives it to its heading.
            if not tab.until(f"{SEEN} === 'seen'", 10):
                hidden.append(tab.value(SEEN))
            elif not tab.until(f"{RING} >= 3", 20):
                rings.append((tab.focused, tab.value(RING)))
        checks.check(f"wherever Tab leads on {page}, {scheme}, it is seen", not hidden, hidden[:3])
        checks.check(f"by a ring that stands out from its ground on {page}, {scheme}", not rings, rings[:3])


def a_payment_is_taken_back_by_keys(site, checks):
    statement = lambda: site.admin("GET", "ledger/statement", account="user:alice")["entries"]
    entry = next(one["sequence"] for one in statement() if one["amount"] == 50)
    tab = site.open(f"rewards/entry/{entry}")
    walks_to(tab, "^Reverse")
    tab.key("Enter")
    tab.find(re.compile("^Reverse 50 from"), "button")
    tab.until("!!document.activeElement.closest('dialog')")
    walks_to(tab, "^Reason")
    tab.type("wrong season")
    walks_to(tab, "^Reverse 50 from")
    tab.key("Enter")
    checks.check("a payment is taken back without a pointer", until(lambda: site.coins("alice") == 0), tab.text[-400:])
    checks.check("and the page says by what", tab.shows(re.compile(r"by\s+entry \d+")), tab.text[-400:])


def large_nodes_are_cut(site, checks):
    deep = 1
    for number in range(LEVELS):
        deep = {f"level{number}": deep}
    site.write("large", {"text": "x" * TEXT_BYTES, "deep": deep, "wide": {f"k{number:05}": "y" * 1000 for number in range(2000)}})
    site.write("few", {"text": "x" * 200_000})
    tab = site.tab()
    path = "/".join(f"level{number}" for number in reversed(range(LEVELS)))
    for page, told in (("data/large", "text"), ("data/large?sel=text", "text"), ("data/large/wide", "k00000"), (f"data/large/deep/{path}", "1"),
                       ("data/large?tab=json", "text"), ("data/few?tab=json", "Load 1 leaf"), ("overview", "revision")):
        site.go(tab, page)
        checks.check(f"{page[:40]} is shown", tab.shows(told), tab.text[-300:])
        checks.check(f"and its text is short: {page[:40]}", len(tab.text) < 100_000, len(tab.text), quiet=True)
    answers = [(one["url"], one["bytes"]) for one in tab.requests if "/admin/v1/" in one["url"]]
    checks.check("the log was asked for, too", [one for one, _ in answers if "/data/log?" in one], answers)
    checks.check(f"no answer about what is there has more than {ANSWER_BYTES:,} bytes", answers and not [one for one in answers if one[1] > ANSWER_BYTES],
                 [one for one in answers if one[1] > ANSWER_BYTES])


CHECKS = [a_tree_is_walked_by_keys, rows_are_numbered, the_focus_is_seen, a_payment_is_taken_back_by_keys, large_nodes_are_cut]
