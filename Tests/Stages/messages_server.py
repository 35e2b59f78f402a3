"""Messages from the campaign to the screen, by the server itself: the page of a game before it, and a client like Firebase's."""

import time

from messages_game import Game
from messages_looks import SHOWN, TEXTS
from messages_stock import ENDLESS, Device
from server import Connection, Server

IMAGE = "https://cdn.acme.test/chest.svg"


def campaign(name, layout, *triggers, **more):
    """A document that is complete: every text in English, Polish and Persian."""
    texts = {}
    for language, (title, body, primary, secondary, _, _) in TEXTS.items():
        texts[language] = {"title": title} if layout != "imageOnly" else {}
        if layout != "imageOnly":
            texts[language]["body"] = body
        if layout in ("card", "modal"):
            texts[language]["primary"] = primary
        if layout == "card":
            texts[language]["secondary"] = secondary
    content = {"defaultLanguage": "en", **({"texts": texts} if layout != "imageOnly" else {})}
    content["portraitImage" if layout == "card" else "image"] = IMAGE
    content["imageAlt"] = {language: said[4] for language, said in TEXTS.items()}
    if layout in ("card", "modal"):
        content["primaryAction"] = "https://acme.test/invite"
    else:
        content["action"] = "https://acme.test/all"
    return {"id": name, "name": f"Campaign {name}", "layout": layout, "content": content,
            "triggers": list(triggers) or [{"on": "foreground"}], **more}


class Studio:
    """A server, in memory if nothing else is said, and its administrator."""

    def __init__(self, program, *options):
        self._server = Server(program, *(options or ("--in-memory",)))
        self.port = self._server.await_address()
        self.connection = Connection(self.port)

    def ask(self, method, path, body=None, **headers):
        return self.connection.ask(method, path, body, headers)

    def publish(self, document):
        """Creates and publishes; what the server refuses it says."""
        made = self.ask("POST", "/admin/v1/messages", document)
        done = self.ask("POST", f"/admin/v1/messages/{document['id']}/publish", {})
        if made.status not in (200, 201) or done.status != 200:
            raise RuntimeError(f"{made.status} {made.text[:300]} / {done.status} {done.text[:300]}")

    def player(self):
        """A new anonymous player: uid and ID token."""
        made = self.ask("POST", "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", {"returnSecureToken": True}, Authorization="")
        return made.json["localId"], made.json["idToken"]

    def reward(self, uid):
        """The README's: whom a friend brought gets 50 at the first sign-in."""
        self.ask("PUT", f"/users/{uid}/referred_by.json", "alice")
        self.ask("PUT", f"/users/{uid}/last_signin_at.json", int(time.time() * 1000), **{"X-Doubloon-Wait": "effects"})

    def stop(self):
        self._server.stop()

    def kill(self):
        self._server.kill()


def a_client_like_firebases_reads_it(studio, checks):
    for number, layout in enumerate(("banner", "card", "modal", "imageOnly")):
        studio.publish(campaign(f"stock_{layout}", layout, {"event": "level_5"}, priority=number + 1, data={"promo": "X50"},
                                schedule={"start": "2026-01-01T09:00", "timeZone": "Europe/Warsaw"}))
    device = Device(studio.connection, "pl-PL")
    checks.check("an installation gets an id and a token for a week", len(device.fid) == 22 and device.lifetime == "604800s", device.fid)
    renewed = device.renew()
    checks.check("which is renewed", bool(renewed.get("token")) and renewed.get("expiresIn") == "604800s", str(renewed))
    kept, thrown, wait = device.fetch()
    kept = [one for one in kept if one["id"].startswith("stock_")]
    checks.check("nothing in the answer is thrown away", thrown == 0)
    checks.check("the order is that of the priorities", [one["kind"] for one in kept] == ["banner", "card", "modal", "imageOnly"], str(kept))
    checks.check("the next fetch is due when the server says", wait is not None, str(wait))
    for one in kept:
        kind = one["kind"]
        begun = one["start"] < time.time() * 1000 < one["end"] == ENDLESS
        checks.check(f"{kind}: its times are read, it waits for its event, the game gets its data",
                     begun and one["triggers"] == ["level_5"] and one["data"] == {"promo": "X50"} and not one["own"], str(one))
        title = None if kind == "imageOnly" else TEXTS["pl"][0]
        checks.check(f"{kind}: it speaks Polish, and is whole", one["title"] == title and one["image"] == IMAGE
                     and (one["button"] == TEXTS["pl"][2]) == (kind in ("card", "modal")) and one["url"] is not None, str(one))
    now = int(time.time() * 1000)
    status, answer = device.log(("stock_card", {"event_type": "IMPRESSION_EVENT_TYPE"}), ("stock_card", {"event_type": "CLICK_EVENT_TYPE"}),
                                ("stock_banner", {"dismiss_type": "AUTO"}), ("stock_modal", {"render_error_reason": "IMAGE_FETCH_ERROR"}))
    checks.check("what happened is counted", status == 200 and int(answer["next_request_wait_millis"]) >= 0, str(answer))
    device.seen["stock_banner"] = now
    kept, _, _ = device.fetch()
    kinds = [one["kind"] for one in kept if one["id"].startswith("stock_")]
    checks.check("what was seen comes no more, by the device's word or the server's", kinds == ["modal", "imageOnly"], kinds)
    checks.check("an installation is forgotten", device.leave() == 200)


def a_page_shows_it(studio, checks, stage):
    studio.publish(campaign("page_card", "card", {"event": "page_dug", "where": {"level": {">=": 5}}}))
    stage.game.close()
    stage.game = Game(proxied=studio.port)
    tab = stage.open(language="fa")
    tab.until(lambda: any("eligibleCampaigns" in one for one in stage.game.requests))
    tab.until("!!messages.known")
    tab.value("messages.trigger('page_dug', {level: 4}); 0")
    tab.stays(0.3)
    checks.check("an event with other parameters shows nothing", not tab.value(f"!!{SHOWN}"))
    tab.value("messages.trigger('page_dug', {level: 5}); 0")
    checks.check("the card shows in the reader's language", stage.see(tab, TEXTS["fa"][0]))
    stage.picture(tab, "server-card-fa")
    checks.check("from right to left", tab.value(f"{SHOWN}.querySelector('dialog').dir") == "rtl")
    tab.key("Escape")
    tab.value("messages.upload()")
    stage.leave(tab)


def a_reward_says_so_by_itself(studio, checks, stage):
    document = campaign("earned", "modal", {"server": "reward"}, frequency={"lifetime": 10})
    document["content"]["texts"] = {"en": {"title": "You earned {{amount}} {{currency|coins}}!", "primary": "Invite more"}}
    del document["content"]["image"], document["content"]["imageAlt"]
    studio.publish(document)
    uid, token = studio.player()
    device = Device(studio.connection)
    checks.check("before it nothing waits for the player", "earned" not in [one["id"] for one in device.fetch(token)[0]])
    stage.game.close()
    stage.game = Game(proxied=studio.port)
    tab = stage.open(idToken=token)
    tab.until("messages.stream?.readyState === 1")
    # What is seen is told after some seconds, and waits nowhere then: not before a client like Firebase's has asked.
    tab.hold(r"/messages/log")
    begin = time.monotonic()
    studio.reward(uid)
    waiting = [one for one in device.fetch(token)[0] if one["id"] == "earned"]
    checks.check("a client like Firebase's gets it at its next foreground", [(one["title"], "ON_FOREGROUND" in one["triggers"]) for one in waiting]
                 == [("You earned 50 pieces_of_eight!", True)], str(waiting))
    tab.release()
    seen = stage.see(tab, "You earned 50 pieces_of_eight!")
    checks.check(f"an open page shows it, without a line of code, {time.monotonic() - begin:.2f} s after the reward", seen)
    tab.key("Escape")
    tab.until(lambda: any("/messages/log" in one for one in stage.game.requests))
    checks.check("shown on one device it waits on no other", tab.until(lambda: "earned" not in [one["id"] for one in device.fetch(token)[0]]))
    stage.leave(tab)
