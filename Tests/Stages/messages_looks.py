"""How messages look and what readers of the page hear: four layouts by day and night, in three languages, in large text."""

import os

from console_looks import axe, contrast, judged
from messages_game import message

CHEST = ('<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><rect width="640" height="360" fill="#29577a"/>'
         '<rect x="200" y="140" width="240" height="140" rx="12" fill="#c98d2b"/><circle cx="320" cy="200" r="18" fill="#3c2a0e"/></svg>')
TEXTS = {
    "en": ("You earned 50 pieces of eight!", "Thanks to a friend. Bring another one, and both of you earn.", "Invite more", "Later", "A chest", "Close"),
    "pl": ("Masz pięćdziesiąt talarów więcej!", "Dzięki znajomemu. Zaproś następną osobę, a zarobicie oboje.", "Zaproś kolejną osobę",
           "Może później", "Skrzynia ze skarbem", "Zamknij"),
    "fa": ("شما ۵۰ سکه به دست آوردید!", "به لطف یک دوست. یک نفر دیگر را دعوت کنید تا هر دو سکه بگیرید.", "دعوت دیگران", "بعداً", "صندوق گنج", "بستن"),
}
SMALL, WIDE = (320, 640), (1280, 800)
SHOWN = "document.querySelector('body > div:last-child')?.shadowRoot"


def content(layout, language, colors=None):
    """What a layout says in a language; without colours it takes the page's scheme."""
    title, body, primary, secondary, _, _ = TEXTS[language]
    said = {"title": {"text": title}, "body": {"text": body}}
    button = lambda text: {"text": {"text": text, "hexColor": "#ffffff"}, "buttonHexColor": "#7a2020"}
    picture = "https://cdn.acme.test/chest.svg"
    if layout == "imageOnly":
        return {"imageUrl": picture, "action": {"actionUrl": "https://acme.test/all"}}
    if colors:
        said["title"]["hexColor"], said["backgroundHexColor"] = colors
    if layout == "banner":
        return {**said, "imageUrl": picture, "action": {"actionUrl": "https://acme.test/all"}}
    if layout == "modal":
        return {**said, "imageUrl": picture, "actionButton": button(primary), "action": {"actionUrl": "https://acme.test/invite"}}
    return {**said, "portraitImageUrl": picture, "primaryActionButton": button(primary), "primaryAction": {"actionUrl": "https://acme.test/invite"},
            "secondaryActionButton": button(secondary), "secondaryAction": {"actionUrl": ""}}


def present(stage, layout, language, colors=None, **surroundings):
    """A page on which the message is shown."""
    own = {"language": language, "direction": "rtl" if language == "fa" else "ltr", "imageAlt": TEXTS[language][4]}
    stage.game.messages = [message("shown", layout, content(layout, language, colors), "ON_FOREGROUND", own=own)]
    # A banner that goes by itself would be gone while it is still looked at.
    stage.game.settings.update(bannerSeconds=3600)
    tab = stage.open(**surroundings)
    stage.see(tab)
    return tab


def twice_as_large(stage, checks, tab, source, name):
    tab.value("document.documentElement.style.fontSize = '200%'")
    tab.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    stage.picture(tab, f"{name}-large")
    cut = tab.value(f"""[...{SHOWN}.querySelectorAll('button, a, dialog, section')].filter((e) => {{
        const r = e.getBoundingClientRect();
        return e.scrollWidth > e.clientWidth + 1 || r.left < 0 || r.right > innerWidth || (r.bottom > innerHeight && !e.closest('section'))
          || (e.matches('.close, .buttons > *') && (r.width < 44 || r.height < 44)) }}).map((e) => e.className)""")
    checks.check(f"twice as large {name} loses nothing", cut == [], cut, quiet=True)
    found = judged(tab, source, "scrollable-region-focusable", "color-contrast")
    checks.check(f"and axe finds nothing in it: {name}", not found, "\n        ".join(found), quiet=True)


def every_layout_can_be_read(stage, checks):
    source = axe()
    for layout in ("banner", "card", "modal", "imageOnly"):
        for language in TEXTS:
            for scheme in ("light", "dark"):
                tab = present(stage, layout, language, scheme=scheme, size=SMALL)
                name = f"{layout}, {language}, {scheme}"
                stage.picture(tab, f"{layout}-{language}-{scheme}")
                found = judged(tab, source) if scheme == "light" else judged(tab, source, "color-contrast")
                checks.check(f"axe finds nothing in {name}", not found, "\n        ".join(found), quiet=True)
                if scheme == "light":
                    twice_as_large(stage, checks, tab, source, f"{layout}-{language}")
                stage.leave(tab)
    checks.check("four layouts were looked at by day and night, in three languages, in large text", True)
    tab = present(stage, "modal", "en", size=WIDE, scheme="light")
    tab.value(f"(() => {{ const s = {SHOWN}; s.querySelector('.buttons > *').textContent = ''; s.querySelector('p').style.color = '#eee' }})()")
    found = " ".join(judged(tab, source))
    checks.check("axe would see a nameless button and a text without contrast", "link-name" in found and "color-contrast" in found, found)
    stage.picture(tab, "modal-broken")
    stage.leave(tab)


def colours_are_corrected(stage, checks):
    # The contrast of the last two is 4.4 and 4.6.
    for text, ground in (("#ffffff", "#ffffff"), ("#777777", "#8a8a8a"), ("#112233", "#fff4d6"), ("#202020", "#101010"),
                         ("#787878", "#ffffff"), ("#757575", "#ffffff")):
        tab = present(stage, "modal", "en", colors=(text, ground), scheme="dark", size=WIDE)
        found = tab.value(f"(() => {{ const s = getComputedStyle({SHOWN}.querySelector('dialog')); return [s.color, s.backgroundColor] }})()")
        colors = ["#" + "".join(f"{int(part):02x}" for part in one[4:-1].split(", ")) for one in found]
        kept = contrast(text, ground) >= 4.5
        checks.check(f"{text} on {ground} is {'kept' if kept else 'corrected'}",
                     colors[1] == ground and contrast(*colors) >= 4.5 and (colors[0] == text) == kept, colors)
        stage.leave(tab)


def right_to_left_is_mirrored(stage, checks):
    places = {}
    for language in ("en", "fa"):
        tab = present(stage, "card", language, size=WIDE, scheme="light")
        stage.picture(tab, f"card-{language}-wide")
        places[language] = tab.value(f"""['.close', '.primary', '.secondary', 'dialog'].map((one) => {{
            const r = {SHOWN}.querySelector(one).getBoundingClientRect(); return r.left + r.width / 2 }})""")
        close = TEXTS[language][5]
        checks.check(f"the way out is named in {language}", len(tab.named(close, "button")) == 1, close)
        dialog = tab.named(TEXTS[language][0], "dialog")
        checks.check(f"and the dialog by its title in {language}", len(dialog) == 1 and dialog[0].get("modal") is True, dialog)
        stage.leave(tab)
    for language, sign in (("en", 1), ("fa", -1)):
        close, primary, secondary, middle = places[language]
        checks.check(f"{language} is read from its side", (close - middle) * sign > 0 and (secondary - primary) * sign > 0, places[language])


def nothing_moves_where_it_must_not(stage, checks):
    moving = {}
    for still in (True, False):
        tab = present(stage, "modal", "en", still=still, size=WIDE)
        moving[still] = tab.value(f"getComputedStyle({SHOWN}.querySelector('dialog')).animationName")
        stage.leave(tab)
    checks.check("it moves only where motion is welcome", moving[True] == "none" and moving[False] != "none", moving)


CHECKS = [every_layout_can_be_read, colours_are_corrected, right_to_left_is_mirrored, nothing_moves_where_it_must_not]
