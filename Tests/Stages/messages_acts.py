"""What messages do in a page: consent, triggers, keys, what is counted, what is hostile."""

import time

from messages_game import message
from messages_looks import SHOWN, SMALL, WIDE

HOSTILE = "<img src=x onerror=\"document.title='broken'\"> \u202edrawkcab {{name}} & </h2><script>document.title='broken'</script>"


def modal(title, url="https://acme.test/invite", **more):
    return {"title": {"text": title}, "actionButton": {"text": {"text": "Invite"}}, "action": {"actionUrl": url}, **more}


def nothing_happens_before_consent(stage, checks):
    stage.game.messages = [message("a", "modal", modal("Hello"), "ON_FOREGROUND")]
    tab = stage.open(consent=False)
    tab.value("messages.trigger('dug'); messages.refresh(); messages.logEvent('dug')")
    tab.stays(1.5)
    kept = tab.value("JSON.stringify({...localStorage})")
    checks.check("nothing is asked and nothing kept before consent", stage.game.requests == [] and kept == "{}", (stage.game.requests, kept))
    tab.value("messages.collect = true; 0")
    checks.check("given, the message shows", stage.see(tab))
    checks.check("without a cookie", tab.cookies(stage.game.address) == [] and tab.value("document.cookie") == "")
    tab.value("messages.collect = false; 0")
    checks.check("taken back, it is gone", tab.until(f"!{SHOWN}"))
    deleted = lambda: [one for one in stage.game.requests if one.startswith("DELETE /v1/projects/77/installations/")]
    checks.check("and the server forgets the installation", tab.until(deleted))
    tab.quiet(apart="/messages/events")
    count = len(stage.game.requests)
    tab.reload()
    tab.until("window.ready")
    tab.value("messages.trigger('dug'); 0")
    tab.stays(1.5)
    checks.check("the decision is kept, and nothing else", len(stage.game.requests) == count and tab.value("JSON.stringify(messages.kept)") == '{"on":false}')
    stage.leave(tab)


def events_show_what_waits_for_them(stage, checks):
    own = {"where": [{"level": {">=": 5}}]}
    stage.game.messages = [message("deep", "modal", modal("Deep"), "dug", own=own), message("any", "modal", modal("Any"), "dug"),
                           message("gone", "modal", modal("Gone"), "dug", own={"frequency": {"lifetime": 0}})]
    tab = stage.open()
    # A trigger waits ten seconds for the first fetch.
    tab.until("!!messages.known")
    for level, title in ((4, "Any"), (5, "Deep")):
        tab.value(f"messages.trigger('dug', {{level: {level}}}); 0")
        checks.check(f"level {level} shows {title}", stage.see(tab, title))
        tab.key("Escape")
        tab.until(f"!{SHOWN}")
    tab.value("messages.trigger('dug', {level: 9}); 0")
    tab.stays(0.5)
    checks.check("each once", not tab.value(f"!!{SHOWN}"))
    checks.check("what was closed is told and counted", tab.until(
        "JSON.stringify(heard.filter(([name]) => name !== 'impression').map((one) => one.slice(0, 3))) === '[[\"dismiss\",\"any\",\"CLICK\"],[\"dismiss\",\"deep\",\"CLICK\"]]'"),
                 tab.value("JSON.stringify(heard)"))
    tab.value("messages.logEvent('invite_sent', {friends: 2})")
    checks.check("a success reaches the server", tab.until(
        lambda: [(one["name"], one["params"]) for one in stage.game.conversions] == [("invite_sent", {"friends": 2})]), stage.game.conversions)
    stage.leave(tab)


def the_servers_events_come_at_once(stage, checks):
    tab = stage.open()
    tab.until(lambda: stage.game.is_listened_to)
    own = {"eventId": "reward-17"}
    stage.game.pending = [{"id": "reward-17", "name": "reward", "params": {"amount": 50}, "at": 1}]
    stage.game.messages = [message("earned", "modal", modal("You earned 50 pieces of eight!"), "ON_FOREGROUND", "doubloon_reward", own=own)]
    begin = time.monotonic()
    stage.game.say("trigger")
    seen = stage.see(tab, "You earned 50 pieces of eight!")
    checks.check(f"a reward shows as soon as the server says so: {time.monotonic() - begin:.2f} s", seen)
    tab.key("Escape")
    checks.check("and the impression names the event", tab.until(lambda: ("earned", "IMPRESSION_EVENT_TYPE", "reward-17")
                 in stage.game.logged("campaign_id", "event_type", "doubloon_event_id")), stage.game.lines)
    stage.game.say("refresh")
    tab.stays(1)
    checks.check("it shows once, although the server says it again", not tab.value(f"!!{SHOWN}"))
    stage.leave(tab)


def keys_are_enough(stage, checks):
    stage.game.messages = [message("a", "card", {
        "title": {"text": "Hello"}, "portraitImageUrl": "https://cdn.acme.test/chest.svg", "primaryActionButton": {"text": {"text": "Invite"}},
        "primaryAction": {"actionUrl": "treasure://invite"}, "secondaryActionButton": {"text": {"text": "Later"}}}, "dug", dataBundle={"promo": "X50"})]
    tab = stage.open(size=SMALL)
    tab.until(lambda: stage.game.is_listened_to)
    tab.focus("Dig", "button")
    tab.value("messages.trigger('dug'); 0")
    stage.see(tab)
    checks.check("the focus goes into the dialog", tab.until(lambda: tab.focused == "Hello"), tab.focused)
    round_trip = []
    for _ in range(4):
        tab.key("Tab")
        round_trip.append(tab.focused)
    checks.check("and stays there", round_trip == ["Invite", "Later", "Close", "Invite"], round_trip)
    tab.key("Tab", "shift")
    checks.check("both ways round", tab.focused == "Close", tab.focused)
    outline = tab.value(f"(() => {{ const s = getComputedStyle({SHOWN}.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)] }})()")
    checks.check("it is seen where it is", outline[0] == "solid" and outline[1] >= 2, outline)
    tab.focus("Invite")
    tab.key("Enter")
    tab.until(f"!{SHOWN}")
    wanted = '[["click","a","primary","treasure://invite",{"promo":"X50"}]]'
    checks.check("a link of the game's own scheme goes to the game", tab.until(
        lambda: tab.value("JSON.stringify(heard.filter(([name]) => name !== 'impression'))") == wanted), tab.value("JSON.stringify(heard)"))
    checks.check("and the focus goes back", tab.until(lambda: tab.focused == "Dig"), tab.focused)
    tab.until(lambda: len(stage.game.lines) >= 2)
    logged = stage.game.logged("event_type", "action", "action_url")
    checks.check("an impression comes before the click", logged == [("IMPRESSION_EVENT_TYPE", None, None), ("CLICK_EVENT_TYPE", "primary", "treasure://invite")], logged)
    checks.check("each line has a key of its own", len({key for key, in stage.game.logged("doubloon_key")}) == len(stage.game.lines))
    stage.leave(tab)


def time_is_what_is_seen(stage, checks):
    # Long enough for a slow machine to point at it.
    stage.game.settings.update(impressionSeconds=1, bannerSeconds=15)
    stage.game.messages = [message("b", "banner", {"title": {"text": "A banner"}, "action": {"actionUrl": "https://acme.test/"}}, "ON_FOREGROUND")]
    tab = stage.open(size=WIDE)
    stage.see(tab)
    said = tab.until(lambda: tab.named("A banner", "link"))
    checks.check("a banner is a status with a link", bool(said))
    box = tab.value(f"(() => {{ const r = {SHOWN}.querySelector('section').getBoundingClientRect(); return [r.left + 40, r.top + r.height / 2] }})()")
    tab.ask("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])
    tab.stays(15.6)
    checks.check("it stays while somebody points at it", tab.value(f"!!{SHOWN}"))
    checks.check("the impression is told after a second", tab.until("heard[0]?.[0] === 'impression'"), tab.value("JSON.stringify(heard)"))
    tab.ask("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=700)
    checks.check("then it goes by itself", tab.until(f"!{SHOWN}"))
    checks.check("which is told", tab.until("JSON.stringify(heard.at(-1).slice(0, 3)) === '[\"dismiss\",\"b\",\"AUTO\"]'"))
    stage.leave(tab)


def hostile_words_are_words(stage, checks):
    content = {"title": {"text": HOSTILE, "hexColor": "red;x:url(//a)"}, "body": {"text": HOSTILE}, "backgroundHexColor": "url(https://evil.test/)",
               "actionButton": {"text": {"text": HOSTILE}}, "action": {"actionUrl": "javascript:document.title='broken'"}}
    stage.game.messages = [message("h", "modal", content, "ON_FOREGROUND", own={"language": '"><img src=x onerror=alert(1)>', "direction": "evil"})]
    tab = stage.open(size=WIDE)
    stage.see(tab)
    names = tab.value(f"JSON.stringify([...{SHOWN}.querySelectorAll('*')].map((e) => e.localName))")
    checks.check("markup makes no elements", names == '["dialog","div","div","h2","p","div","button","button"]', names)
    said = tab.value(f"{SHOWN}.querySelector('h2').textContent")
    checks.check("and is to be read as it was written", said == HOSTILE, said)
    stage.picture(tab, "hostile")
    tab.value(f"{SHOWN}.querySelector('.primary').click()")
    tab.stays(0.3)
    checks.check("code in a link does not run", tab.title == "A game", tab.title)
    stage.leave(tab)


def what_fails_makes_way(stage, checks):
    stage.game.messages = [
        message("broken", "modal", modal("Broken", imageUrl="https://cdn.acme.test/none.png"), "dug"),
        {"vanillaPayload": {"campaignId": "x"}, "content": {"hologram": {}}, "triggeringConditions": [{"event": {"name": "dug"}}]}, 7,
        message("next", "modal", modal("Next"), "dug")]
    tab = stage.open()
    tab.until("!!messages.known")
    tab.value("messages.trigger('dug'); 0")
    checks.check("a picture that does not come is told", tab.until("heard[0]?.[0] === 'error'"), tab.value("JSON.stringify(heard)"))
    tab.value("messages.trigger('dug'); 0")
    checks.check("and the next message shows", stage.see(tab, "Next"))
    tab.value("messages.suppressed = true; 0")
    stage.leave(tab, r"none\.png|ERR_")
    stage.game.broken = 503
    tab = stage.open()
    tab.until(lambda: any("fetch" in one for one in stage.game.requests))
    tab.stays(2.5)
    fetches = [one for one in stage.game.requests if "eligibleCampaigns" in one]
    checks.check("a server that has a problem is left alone for a minute", len(fetches) == 1, fetches)
    stage.leave(tab, "503")


def a_server_that_wants_rest_gets_it(stage, checks):
    tab = stage.open()
    tab.until(lambda: stage.game.is_listened_to)
    asked = lambda: [one for one in stage.game.requests if "/messages/events" not in one]
    fetches = lambda: len([one for one in asked() if "eligibleCampaigns" in one])
    stage.game.broken, stage.game.retry_after = 503, 10 ** 9
    stage.game.say("refresh")
    checks.check("it waits as long as the server says, a day at most", tab.until("messages.rest > 0 && messages.rest <= 864e5"), tab.value("messages.rest"))
    count = len(asked())
    told = tab.value("messages.logEvent('invite_sent').then(() => 'sent', (error) => error.message)")
    checks.check("the game hears of it", "asked for rest" in told, told)
    tab.value("messages.refresh()")
    tab.value("(messages.log({ id: 'a' }, { event_type: 'CLICK_EVENT_TYPE' }), messages.upload())")
    tab.reload()
    tab.until("window.ready")
    tab.value("messages.refresh()")
    checks.check("nothing is asked meanwhile, by a new page neither", len(asked()) == count and tab.value("messages.rest > 0"), asked()[count:])
    stage.game.broken, stage.game.ahead = None, 90_000
    tab.value("(() => { const now = Date.now; Date.now = () => now() + 9e7 })()")
    checks.check("then it fetches, and what was counted arrives", tab.until(lambda: fetches() == 3 and ("a",) in stage.game.logged("campaign_id")),
                 (asked()[count:], stage.game.lines))
    stage.leave(tab, "503")


CHECKS = [nothing_happens_before_consent, events_show_what_waits_for_them, the_servers_events_come_at_once, keys_are_enough, time_is_what_is_seen,
          hostile_words_are_words, what_fails_makes_way, a_server_that_wants_rest_gets_it]
