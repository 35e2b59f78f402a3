"""A client shaped like Firebase's SDK for Apple's systems against the server: the requests that it makes, and a reader that accepts
and throws away what that SDK accepts and throws away. Written after its public description, firebase/firebase-ios-sdk 12.19.0,
FirebaseInAppMessaging/Sources: Flows/FIRIAMMsgFetcherUsingRestful.m, Data/FIRIAMFetchResponseParser.m,
Analytics/FIRIAMClearcutHttpRequestSender.m; FirebaseInstallations/Source/Library/InstallationsAPI.
"""

import base64
import json
import os
import re
import time
import urllib.parse

PROJECT, APP = "77", "1:77:ios:abcdef"
ENDLESS = (1 << 63) - 1
CONTENTS = ("banner", "card", "imageOnly", "modal")


def installation_id():
    """17 random bytes of which the first four bits are 0111, as 22 letters."""
    number = bytearray(os.urandom(17))
    number[0] = 0x70 | number[0] & 0x0F
    return base64.urlsafe_b64encode(number).decode()[:22]


class Device:
    """An installation: its id, its tokens, what it was shown."""

    def __init__(self, connection, language="en", version="2.1"):
        self._connection = connection
        self.seen = {}
        self.signals = {"app_version": version, "platform_version": "18.0.0", "language_code": language, "time_zone": "Europe/Warsaw"}
        answer = self._post(f"/v1/projects/{PROJECT}/installations", {
            "fid": installation_id(), "authVersion": "FIS_v2", "appId": APP, "sdkVersion": "i:12.19.0"})
        self.fid, self.refresh, self.token = answer["fid"], answer["refreshToken"], answer["authToken"]["token"]
        self.lifetime = answer["authToken"]["expiresIn"]

    def reconnect(self, connection):
        """Goes on with a server that was started again."""
        self._connection = connection

    def _ask(self, method, path, body, headers=None):
        sent = {"Accept": "application/json", "X-Ios-Bundle-Identifier": "com.example.game", "x-goog-api-key": "k", **(headers or {})}
        sent.setdefault("Authorization", "")
        return self._connection.ask(method, path, body, sent)

    def _post(self, path, body, headers=None):
        answer = self._ask("POST", path, body, headers)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {answer.text[:300]}")
        return answer.json

    def renew(self):
        answer = self._post(f"/v1/projects/{PROJECT}/installations/{self.fid}/authTokens:generate", {
            "installation": {"sdkVersion": "i:12.19.0"}}, {"Authorization": f"FIS_v2 {self.refresh}"})
        self.token = answer["token"]
        return answer

    def leave(self):
        return self._ask("DELETE", f"/v1/projects/{PROJECT}/installations/{self.fid}", None, {"Authorization": f"FIS_v2 {self.refresh}"}).status

    def fetch(self, id_token=None):
        """The messages that the SDK keeps of an answer, how many it throws away, and the seconds until it asks again."""
        body = {
            "already_seen_campaigns": [{"campaign_id": one, "impression_timestamp_millis": at} for one, at in self.seen.items()],
            "requesting_client_app": {"gmp_app_id": APP, "app_instance_id": self.fid, "app_instance_id_token": self.token},
            "client_signals": self.signals,
        }
        headers = {"x-goog-firebase-installations-auth": self.token}
        if id_token:
            headers["Authorization"] = f"Bearer {id_token}"
        return parsed(self._post(f"/v1/sdkServing/projects/{PROJECT}/eligibleCampaigns:fetch?key=k", body, headers))

    def log(self, *events):
        """Sends lines as the SDK does; each is a campaign's id and the members of its kind. Returns the status."""
        now = int(time.time() * 1000)
        lines = [{"event_time_ms": now, "source_extension_json": json.dumps({
            "project_number": PROJECT, "campaign_id": campaign, "client_app": {"google_app_id": APP, "firebase_instance_id": self.fid},
            "client_timestamp_millis": now, "fiam_sdk_version": "12.19.0", **members})} for campaign, members in events]
        answer = self._ask("POST", "/log?format=json_proto", {
            "client_info": {"client_type": 15, "ios_client_info": {"os_major_version": "18"}}, "log_source": "FIREBASE_INAPPMESSAGING",
            "request_time_ms": now, "log_event": lines})
        return answer.status, answer.json


def number(value):
    """A 64-bit number, which the SDK reads from a text; anything else reads as 0."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else 0


def color(value):
    return value if isinstance(value, str) and re.fullmatch(r"#[0-9A-Fa-f]{6}", value) else None


def picture(value):
    """A picture's address without blanks; only https counts."""
    text = re.sub(r"\s", "", value) if isinstance(value, str) else ""
    return text if urllib.parse.urlsplit(text).scheme == "https" else None


def content(node):
    """What is shown; None where the SDK throws it away."""
    kind = next((one for one in CONTENTS if isinstance(node.get(one), dict)), None)
    if kind is None:
        return None
    said = node[kind]
    title, body = said.get("title") or {}, said.get("body") or {}
    if kind != "imageOnly" and not title.get("text"):
        return None
    image = picture(said.get("portraitImageUrl" if kind == "card" else "imageUrl"))
    if kind in ("imageOnly", "card") and image is None:
        return None
    button = said.get("primaryActionButton" if kind == "card" else "actionButton")
    action = said.get("primaryAction" if kind == "card" else "action")
    return {"kind": kind, "title": title.get("text"), "body": body.get("text"), "color": color(title.get("hexColor")), "image": image,
            "background": color(said.get("backgroundHexColor")), "button": (button or {}).get("text", {}).get("text"),
            "url": (action or {}).get("actionUrl"), "second": ((said.get("secondaryActionButton") or {}).get("text") or {}).get("text"),
            "second_url": (said.get("secondaryAction") or {}).get("actionUrl")}


def parsed(answer):
    kept, thrown = [], 0
    for node in answer.get("messages", []):
        payload = node.get("experimentalPayload") or node.get("vanillaPayload")
        is_test = node.get("isTestCampaign") is True
        shown = content(node.get("content") or {})
        triggers = [one.get("fiamTrigger") or (one.get("event") or {}).get("name") for one in node.get("triggeringConditions", [])]
        triggers = [one for one in triggers if one]
        if not payload or not payload.get("campaignId") or shown is None or not (is_test or (payload.get("campaignName") and triggers)):
            thrown += 1
            continue
        kept.append({**shown, "id": payload["campaignId"], "name": payload.get("campaignName"), "test": is_test, "triggers": triggers,
                     "start": number(payload.get("campaignStartTimeMillis")), "end": number(payload.get("campaignEndTimeMillis")),
                     "data": node.get("dataBundle"), "own": "doubloon" in node})
    wait = number(answer.get("expirationEpochTimestampMillis")) / 1000 - time.time()
    return kept, thrown, wait if 0 < wait <= 3 * 86400 else None
