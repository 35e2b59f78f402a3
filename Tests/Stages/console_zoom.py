"""Every page four times as large, and under a finger: nothing is cut off, nothing needs sideways scrolling, and what is to be pressed is
large enough."""

from console import every_page

# A window of 1280 × 1024, seen at 400 %.
LARGE = {"width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": False}
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
WIDE = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
# Words that somebody cannot read: cut off without a sign of it; and what reaches beyond the window.
CUT = """(() => {
  const name = (e) => `${e.tagName}.${e.className} ${e.innerText?.slice(0, 30)}`;
  const shown = [...document.querySelectorAll('main *, .bar *, #band')].filter((e) => e.checkVisibility() && e.clientWidth > 0 && e.innerText?.trim() && !e.closest('svg'));
  const hides = (e, s) => (s.overflowX !== 'visible' && s.overflowX !== 'auto' && s.overflowX !== 'scroll' && e.scrollWidth > e.clientWidth + 1 && s.textOverflow !== 'ellipsis')
    || (s.overflowY === 'hidden' && e.scrollHeight > e.clientHeight + 2 && s.textOverflow !== 'ellipsis');
  const alone = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return { wide: document.scrollingElement.scrollWidth - innerWidth, cut: shown.filter((e) => alone(e) && !e.closest('.only-read, .wl, .tree, .code-box') && hides(e, getComputedStyle(e))).map(name).slice(0, 3) };
})()"""
# What is pressed and is smaller than so many pixels; links in a text are as large as its letters.
SMALL = """((least) => [...document.querySelectorAll('button, select, textarea, summary, input, [role=tab], [role=menuitem], a.button, a.chip, #rail a')].filter((e) => {
  if (!e.checkVisibility() || e.closest('.only-read, .skip')) return false;
  const { width, height } = (e.matches('input[type=checkbox], input[type=radio]') ? e.closest('label') ?? e : e).getBoundingClientRect();
  return width > 0 && (width < least - 0.5 || height < least - 0.5);
}).map((e) => { const { width, height } = e.getBoundingClientRect(); return `${e.tagName}.${e.className} "${(e.innerText || e.ariaLabel || '').slice(0, 20)}" ${Math.round(width)} × ${Math.round(height)}`; }).slice(0, 4))"""


def seen(tab, how):
    tab.ask("Emulation.setDeviceMetricsOverride", **how)
    tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def pages_are_large_enough(site, checks):
    """Each page is opened as large as it gets, and then seen in a window, and on a phone: one visit for the three."""
    pages = every_page(site)
    tab = site.tab()
    coarse = "matchMedia('(pointer: coarse)').matches"
    for page in pages:
        seen(tab, LARGE)
        site.go(tab, page)
        fits = tab.until(f"(({CUT}).wide <= 0 && ({CUT}).cut.length === 0)")
        checks.check(f"{page} can be read at 400 %", fits and tab.value("devicePixelRatio === 4 && innerWidth === 320"), tab.value(CUT), quiet=True)
        for name, how, least in (("a pointer", WIDE, 24), ("a finger", PHONE, 44)):
            tab.ask("Emulation.setTouchEmulationEnabled", enabled=least == 44, maxTouchPoints=5)
            seen(tab, how)
            found = tab.until(f"{coarse} === {'true' if least == 44 else 'false'} && {SMALL}({least}).length === 0")
            checks.check(f"what is pressed on {page} is large enough for {name}", found, tab.value(f"{SMALL}({least})"), quiet=True)
        tab.ask("Emulation.setTouchEmulationEnabled", enabled=False)
    checks.check(f"{len(pages)} pages were looked at, four times as large, with a pointer and with a finger", True)


CHECKS = [pages_are_large_enough]
