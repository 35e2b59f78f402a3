"""In-app messages and tenants, by strangers: what they report, register and open leaves next to nothing behind, and a player of one
tenant is nobody at another."""

import json
import time

from hostile_memory import RETURNS_SECONDS, connect, head, in_threads

LEFT_BYTES_MAX = 48 << 20
SIGN_IN = "/v1/accounts:signInWithPassword?key=k"
ODD = [
    None, True, -1, 2**63, -2**63, 1e308, "", "0", "-9223372036854775808", "\u0000", "\u202e", "a/b", "../..", "a\r\nb: c", "x" * 5000,
    "\U0001f600" * 50, [], {}, [[]], [None], {"a": {}}, [1] * 500,
]


def installed(server, address):
    """A registered installation: its id and its token."""
    answer = server.client(address).ask("POST", "/v1/projects/stage/installations", {"appId": "1:1:ios:a"})
    return answer.json["fid"], answer.json["authToken"]["token"]


def reports_of_nobody_leave_nothing(server, checks):
    """Ids that no installation can have: a server that keeps each of them keeps 140 MB."""
    def report(number):
        sources = [json.dumps({
            "campaign_id": "x", "event_type": "IMPRESSION_EVENT_TYPE",
            "client_app": {"firebase_instance_id": f"{number}-{part}-" + "i" * 29_000}}) for part in range(2)]
        return {"log_event": [{"source_extension_json": source} for source in sources]}

    def send(thread):
        statuses = set()
        for number in range(600):
            client = server.client(f"198.51.{thread}.{number // 20}")
            statuses.add(client.ask("POST", "/v1/messages/log", report(f"{thread}-{number}")).status)
            client.close()
        return statuses

    send(9)
    begin = server.resident()
    statuses = set().union(*in_threads(4, send))
    # What is only not given back yet goes; what is kept stays.
    end = time.monotonic() + RETURNS_SECONDS
    while server.resident() - begin >= LEFT_BYTES_MAX and time.monotonic() < end:
        time.sleep(0.5)
    left = server.resident() - begin
    checks.check("reports of nobody are taken, and are nobody's", statuses <= {200, 429}, statuses)
    checks.check(f"they leave less than {LEFT_BYTES_MAX >> 20} MB behind", left < LEFT_BYTES_MAX, f"{left >> 20} MB")


def installations_have_a_rate(server, checks):
    client = server.client("198.51.100.60")
    begin = time.monotonic()
    statuses = [client.ask("POST", "/v1/projects/stage/installations", {"appId": "1:1:ios:a"}).status for _ in range(60)]
    allowed = 10 + int(time.monotonic() - begin) + 1
    made = statuses.count(200)
    checks.check("one network registers ten at once, then one a second", 10 <= made <= allowed, f"{made} of {allowed}")
    checks.check("the others are told to wait", set(statuses) <= {200, 429}, sorted(set(statuses)))


def an_installation_has_one_stream(server, checks):
    fid, token = installed(server, "198.51.100.61")

    def stream(query):
        connection = connect(server)
        connection.sendall(head("GET", f"/v1/messages/events?{query}", "198.51.100.61") + b"\r\n")
        return connection, connection.recv(4096)

    _, refused = stream(f"instance={fid}&token=wrong")
    checks.check("a stream wants the installation's token", b" 401 " in refused.split(b"\r\n")[0], refused[:100])
    streams = [stream(f"instance={fid}&token={token}") for _ in range(30)]
    checks.check("each opens", all(b" 200 " in said.split(b"\r\n")[0] for _, said in streams))

    def ends(connection):
        while connection.recv(4096):
            pass
        return True

    checks.check("and ends the one before", all(ends(connection) for connection, _ in streams[:-1]))
    for connection, _ in streams:
        connection.close()


def odd_values_are_answered(server, checks):
    fid, token = installed(server, "198.51.100.62")
    fetch = {
        "requesting_client_app": {"app_instance_id": fid, "gmp_app_id": "1:1:ios:a"},
        "client_signals": {"app_version": "1.0", "platform_version": "17", "language_code": "en_US", "time_zone": "Europe/Vienna"},
        "already_seen_campaigns": [{"campaign_id": "a", "impression_timestamp_millis": "1"}],
    }
    source = {"campaign_id": "a", "event_type": "CLICK_EVENT_TYPE", "client_timestamp_millis": "1",
              "client_app": {"firebase_instance_id": fid}, "doubloon_event_id": "e", "doubloon_key": "k", "variant": "v"}
    found = set()
    for part in (fetch["client_signals"], fetch["already_seen_campaigns"][0], source):
        for name in list(part):
            for value in ODD:
                good, part[name] = part[name], value
                if part is source:
                    path, body = "/v1/messages/log", {"log_event": [{"event_time_ms": value, "source_extension_json": json.dumps(source)}]}
                else:
                    path, body = "/v1/sdkServing/projects/1/eligibleCampaigns:fetch", fetch
                client = server.client(f"198.51.101.{len(name)}")
                found.add(client.ask("POST", path, body, {"x-goog-firebase-installations-auth": token, "x-doubloon-client": "x"}).status)
                client.close()
                part[name] = good
    checks.check("odd values are refused, or stand for nothing", found <= {200, 400, 429} and 200 in found, sorted(found, key=str))


def tenants_do_not_mix(server, checks):
    admin = server.admin()
    config = admin.ask("PATCH", "/v2/projects/stage/config?updateMask=multiTenant.allowTenants", {"multiTenant": {"allowTenants": True}})
    checks.check("the project allows tenants", config.status == 200, config.text)
    names = []
    for brand in ("red", "blue"):
        made = admin.ask("POST", "/v2/projects/stage/tenants", {"displayName": brand, "allowPasswordSignup": True})
        names.append((made.json or {}).get("tenantId"))
    red, blue = names
    checks.check("there are two", red and blue and red != blue, names)
    client = server.client("198.51.100.63")
    ann = {"email": "ann@example.com", "password": "a password of ann's", "returnSecureToken": True}
    player = client.ask("POST", "/v1/accounts:signUp?key=k", {**ann, "tenantId": red}).json or {}
    token = player.get("idToken")
    checks.check("a player signs up at one", bool(token), player)
    for name, body in (("the other", {**ann, "tenantId": blue}), ("none", ann), ("one that is none", {**ann, "tenantId": "../" + red}),
                       ("the red one with more behind it", {**ann, "tenantId": red + "/x"})):
        answer = client.ask("POST", SIGN_IN, body)
        checks.check(f"the password opens nothing at {name}", answer.status == 400, answer.text[:200])
    for method, body in (("lookup", {}), ("update", {"displayName": "x"}), ("delete", {})):
        answer = client.ask("POST", f"/v1/accounts:{method}?key=k", {"idToken": token, "tenantId": blue, **body})
        checks.check(f"nor does the token {method} at the other", answer.status == 400, answer.text[:200])
    path = f"/v1/projects/stage/tenants/{blue}/accounts"
    looked = admin.ask("POST", f"{path}:lookup", {"localId": [player.get("localId")]})
    checks.check("the other's administration does not see the player", looked.status == 200 and "users" not in looked.json, looked.text[:200])
    gone = admin.ask("POST", f"{path}:delete", {"localId": player.get("localId")})
    stays = client.ask("POST", "/v1/accounts:lookup?key=k", {"idToken": token})
    checks.check("and does not delete them", gone.status == 400 and stays.status == 200, f"{gone.text[:200]} {stays.text[:200]}")


CHECKS = [
    installations_have_a_rate, an_installation_has_one_stream, odd_values_are_answered, tenants_do_not_mix,
    reports_of_nobody_leave_nothing,
]
