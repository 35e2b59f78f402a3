"""The console for those who see, press or read otherwise: without shortcuts, without motion, without colours, in longer words."""

import re

from console import dies, is_ready, refers

PAGES = ("overview", "events", "rewards", "accounts", "functions", "links", "audit", "settings", "settings?tab=log", "rules")
MOVING = """[...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);
  return [s.transitionDuration, s.animationDuration].some((d) => d.split(',').some((one) => parseFloat(one) > 0.01)) }).length"""
# What people press or read to find their way, made 40% longer; what players wrote stays as it is.
LONGER = """(() => {
  for (const e of document.querySelectorAll('button, a, h1, h2, label, th, dt, .tile .name, .tile .detail, summary, option, .field-help')) {
    for (const node of e.childNodes) {
      if (node.nodeType === 3 && node.data.trim().length > 1 && !/^[\\d\\W]+$/.test(node.data)) {
        node.data = node.data.replace(/\\p{L}{2,}/gu, (word) => word + 'ẅ'.repeat(Math.ceil(word.length * 0.4)));
      }
    }
  }
  const wide = document.documentElement.scrollWidth - innerWidth;
  const cut = [...document.querySelectorAll('main button, main h1, main h2, main label, main .tile .name, .top button, main .tab')].filter((e) => {
    if (!e.checkVisibility() || e.clientWidth === 0) return false;
    const s = getComputedStyle(e);
    return s.overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1 && s.textOverflow !== 'ellipsis';
  }).map((e) => e.innerText.slice(0, 40));
  const over = [...document.querySelectorAll('main .panel, main .page-head, main .toolbar, .top')].filter((e) => e.checkVisibility()
    && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className);
  return { wide, cut, over };
})()"""


def letters_are_no_traps(site, checks):
    refers(site)
    tab = site.open("events")
    light = "document.getElementById('light').innerText"
    tab.fill(re.compile("^Player"), "")
    tab.type("pg?cej")
    held = tab.value("document.activeElement.value")
    checks.check("letters in a field are letters", held == "pg?cej" and "paused" not in tab.value(light) and not tab.value("!!document.querySelector('dialog[open]')"),
                 (held, tab.value(light)))
    tab.key("Escape")
    checks.check("Escape leaves the field", tab.until("document.activeElement.tagName !== 'INPUT'"))
    tab.fill(re.compile("^Player"), "")
    tab.key("Escape")
    tab.key("?")
    tab.until("!!document.querySelector('dialog[open] select')")
    tab.value("(() => { const s = document.querySelector('dialog[open] select'); s.value = 'no'; s.dispatchEvent(new Event('change', {bubbles: true})) })()")
    tab.key("Escape")
    tab.until("!document.querySelector('dialog[open]')")
    for key in ("p", "?", "c"):
        tab.key(key)
    tab.key("g")
    tab.key("o")
    tab.stays(0.5)
    checks.check("single letters can be switched off", "paused" not in tab.value(light) and not tab.value("!!document.querySelector('dialog[open]')")
                 and "/events" in tab.address, (tab.value(light), tab.address))
    tab.key("k", "ctrl")
    checks.check("the search opens all the same", tab.until("!!document.querySelector('dialog[open]')"))
    tab.key("Escape")
    site.go(tab, "overview")
    tab.key("p")
    tab.stays(0.3)
    checks.check("and it is remembered", "paused" not in tab.value(light))


def nothing_moves_where_it_must_not(site, checks):
    moving = 0
    for page in ("overview", "data/users", "events"):
        tab = site.open(page, still=False)
        tab.value("document.querySelector('main').focus()")
        moving += tab.value(MOVING)
        tab.emulate("light", still=True)
        site.write("users/alice/name", f"Alice of {page}")
        tab.stays(0.6)
        checks.check(f"nothing moves on {page} where less motion is wanted", tab.until(f"{MOVING} === 0 && "
            "document.getAnimations().every((one) => (one.effect?.getTiming().duration ?? 0) <= 10)"), tab.value(MOVING))
    checks.check("something would move where it may", moving > 0, moving)


def states_are_shape_and_word(site, checks):
    dies(site)
    site.admin("POST", "functions/grantSignupReward/pause", {"reason": "a look"})
    site.write("users/paula", {"name": "Paula", "referred_by": "alice", "level": 1})
    site.ask("PATCH", f"/users/paula.json?ns={site.namespace}", {"last_signin_at": 1767225600000})
    tab = site.open("events")
    for name, features in (("as it is", []), ("with forced colours", [{"name": "forced-colors", "value": "active"}])):
        tab.ask("Emulation.setEmulatedMedia", features=features)
        tab.ask("Emulation.setEmulatedVisionDeficiency", type="achromatopsia" if not features else "none")
        found = {}
        for page in ("events", "functions", "overview"):
            site.go(tab, page)
            for text in tab.value("[...document.querySelectorAll('main .badge')].filter((e) => e.checkVisibility()).map((e) => e.innerText.replace(/\\s+/g, ' ').trim())"):
                found.setdefault(text, page)
        split = {text: re.fullmatch(r"(\W)\s*(\w.*)", text) for text in found}
        checks.check(f"each state has a shape and a word, {name}", found and all(split.values()), [one for one, match in split.items() if not match])
        words = {match.group(2).split()[0]: match.group(1) for match in split.values() if match}
        shapes = {words.get(one) for one in ("done", "dead", "paused")}
        checks.check(f"done, dead and paused have shapes of their own, {name}", len(shapes) == 3 and None not in shapes, words)
    site.admin("POST", "functions/grantSignupReward/resume")


def longer_words_break_nothing(site, checks):
    tab = site.tab()
    for page in PAGES:
        site.go(tab, page)
        for size in ((1280, 800), (390, 844)):
            tab.emulate("light", size, True)
            told = tab.value(LONGER)
            checks.check(f"{page} holds words that are 40% longer, {size[0]} px wide", told["wide"] <= 0 and not told["cut"] and not told["over"], told,
                         quiet=True)
            site.go(tab, page)
        is_ready(tab)
    checks.check("ten pages were read in longer words", True)


CHECKS = [letters_are_no_traps, nothing_moves_where_it_must_not, states_are_shape_and_word, longer_words_break_nothing]
