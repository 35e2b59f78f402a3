"""Two nodes in production, over TLS: players' tokens hold whichever node leads, also one that led before; each node answers reads from
its copy."""

import http.client
import json
import os
import ssl
import subprocess
import time
import urllib.parse

from cluster_nodes import NAMESPACE, Cluster, Node
from full_disk import until
from server import Answer
from serving import certificates

ADMIN = "0123456789abcdef0123456789abcdef"
RULES = {"rules": {"users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}}, "scores": {".read": True}}}


class ProductionNode(Node):
    """`doubloon serve` as one of several nodes, with a port for stale reads."""

    def __init__(self, program, folder, wire, schema):
        super().__init__(program, folder, wire, schema)
        self.environment = {"POSTGRES": wire.url(), "SEAL": ADMIN, "OPS": ADMIN}

    def start(self):
        configuration = {
            "project": "demo", "data": self.folder, "rules": self.folder + ".rules.json",
            "listen": {"host": "127.0.0.1", "port": self.port},
            "tls": [{"certificate": os.path.dirname(self.folder) + "/server.pem", "key": os.path.dirname(self.folder) + "/server.key"}],
            "admins": [{"name": "ops", "token": {"env": "OPS"}}],
            "storage": {"postgres": {"env": "POSTGRES"}, "schema": self.schema, "sealingKey": {"env": "SEAL"},
                        "address": f"127.0.0.1:{self.port}", "staleReads": f"127.0.0.1:{self.reads}"},
        }
        for path, value in ((self.folder + ".rules.json", RULES), (self.folder + ".json", configuration)):
            with open(path, "w") as file:
                json.dump(value, file)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--config", self.folder + ".json"], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=dict(os.environ, **self.environment))


def ask(port, method, path, body=None, token=ADMIN, headers=None):
    """The answer; None where there is none."""
    sent = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=ssl._create_unverified_context())
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, urllib.parse.quote(path, safe="/?=&$%"), body=data, headers=sent)
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def status(*arguments, **options):
    answer = ask(*arguments, **options)
    return answer.status if answer else None


def production(program, folder, cell, checks):
    certificates(folder)
    os.chmod(os.path.join(folder, "server.key"), 0o600)
    cluster = Cluster(program, folder, cell, names=(), schema="production")
    nodes = [ProductionNode(os.path.abspath(program), os.path.join(folder, name), cell, "production") for name in ("p0", "p1")]
    cluster.nodes = nodes
    try:
        keys(cluster, nodes, checks)
        stale_reads(cluster, nodes, checks)
    finally:
        for node in nodes:
            node.kill()


def leads(cluster, node):
    """Waits until a node leads and serves."""
    return until(lambda: cluster.leader() is node and status(node.port, "GET", f"/scores.json?{NAMESPACE}") == 200, 30)


def sign_up(node):
    """A player's id and token."""
    answer = None
    end = time.monotonic() + 30
    while time.monotonic() < end and not (answer and answer.status == 200):
        answer = ask(node.port, "POST", "/v1/accounts:signUp?key=k", {"returnSecureToken": True}, token=None)
    return answer.json["localId"], answer.json["idToken"]


def own(node, uid, token, method="GET", body=None, port=None):
    return status(port or node.port, method, f"/users/{uid}.json?{NAMESPACE}&auth={token}", body, token=None)


def keys(cluster, nodes, checks):
    first, second = nodes
    first.start()
    checks.check("production: the first node leads", leads(cluster, first), first.text()[-400:])
    second.start()
    uid, token = sign_up(first)
    checks.check("production: a player's token holds at both nodes", until(lambda: own(second, uid, token, "PUT", {"level": 1}) == 200, 20)
                 and own(first, uid, token) == 200)
    checks.check("production: and only for what is the player's", own(first, "another", token) == 401)
    first.kill()
    checks.check("production: when the first dies, the second leads", leads(cluster, second), second.text()[-400:])
    checks.check("production: and believes what the first has signed", own(second, uid, token) == 200)
    first.start()
    until(lambda: status(first.port, "GET", f"/scores.json?{NAMESPACE}") == 200, 20)
    code = second.stop()
    checks.check("production: a node that has led before, and keeps the keys of that time, leads again",
                 code == 0 and leads(cluster, first), f"{code} {first.text()[-600:]}")
    later, newer = sign_up(first)
    checks.check("production: tokens of both terms hold",
                 own(first, uid, token) == 200 and own(first, later, newer, "PUT", {"level": 2}) == 200)
    second.start()


def stale_reads(cluster, nodes, checks):
    leader, follower = nodes
    uid, token = sign_up(leader)
    own(leader, uid, token, "PUT", {"level": 3})

    def read(node, path, auth=None, headers=None):
        return ask(node.reads, "GET", f"{path}.json?{NAMESPACE}" + (f"&auth={auth}" if auth else ""), token=None, headers=headers)

    def found(node, path, auth=None, headers=None):
        answer = read(node, path, auth, headers)
        return answer and answer.status

    checks.check("stale reads: a node that follows answers a player from its copy",
                 until(lambda: found(follower, f"/users/{uid}", token) == 200, 20), follower.text()[-400:])
    shown = read(follower, f"/users/{uid}/level", token)
    checks.check("stale reads: and says how old that may be", shown.json == 3 and int(shown.headers.get("age", "99")) <= 3,
                 f"{shown.headers}")
    shown = read(leader, f"/users/{uid}/level", token)
    checks.check("stale reads: the node that leads shows the newest", shown.json == 3 and "age" not in shown.headers, f"{shown.headers}")
    checks.check("stale reads: nobody sees another's",
                 found(follower, f"/users/{uid}") == 401 and found(follower, "/users/x", token) == 401)
    wrong = token[:-8] + ("AAAAAAAA" if not token.endswith("AAAAAAAA") else "BBBBBBBB")
    checks.check("stale reads: a token of nobody's is none", found(follower, f"/users/{uid}", wrong) == 401)
    refused = [ask(follower.reads, method, path, body, token=ADMIN).status for method, path, body in
               (("PUT", f"/scores.json?{NAMESPACE}", 1), ("GET", "/admin/v1/status", None),
                ("GET", f"/.settings/rules.json?{NAMESPACE}", None))]
    checks.check("stale reads: nothing is written there, and nothing administered", refused == [405, 404, 404], f"{refused}")
    change(leader, follower, uid, token, found, checks)
    outage(cluster, follower, found, checks)


def change(leader, follower, uid, token, found, checks):
    """What administrators decide holds at every port."""
    made = ask(leader.port, "PUT", f"/.settings/rules.json?{NAMESPACE}", {"rules": {"users": {"$uid": {".read": "auth.uid === $uid"}}}})
    checks.check("stale reads: new rules hold there, too", made.status == 200 and until(lambda: found(follower, "/scores") == 401, 5))
    disabled = ask(leader.port, "POST", "/v1/projects/demo/accounts:update", {"localId": uid, "disableUser": True})
    checks.check("stale reads: a player who was disabled is nobody there",
                 disabled.status == 200 and until(lambda: found(follower, f"/users/{uid}", token) == 401, 5), disabled.text[:200])


def outage(cluster, follower, found, checks):
    """Without PostgreSQL exact reads end, stale ones go on."""
    uid, token = sign_up(cluster.nodes[0])
    until(lambda: found(follower, f"/users/{uid}", token) == 200, 5)
    with cluster.cell.away():
        gone = until(lambda: status(follower.port, "GET", f"/users/{uid}.json?{NAMESPACE}&auth={token}", token=None) in (503, None), 15)
        checks.check("stale reads: without PostgreSQL nobody is told at the clients' port what might be old", gone)
        shown = ask(follower.reads, "GET", f"/users/{uid}.json?{NAMESPACE}&auth={token}", token=None)
        checks.check("stale reads: at its own port a node goes on", shown.status == 200 and int(shown.headers["age"]) >= 3,
                     f"{shown.headers}")
        checks.check("stale reads: and not for who asks for less than that", found(follower, f"/users/{uid}", token,
                     {"Cache-Control": "max-age=2"}) == 503)
    checks.check("stale reads: all goes on when it is back", until(
        lambda: found(follower, f"/users/{uid}", token, {"Cache-Control": "max-age=3"}) == 200 and own(follower, uid, token) == 200, 60),
        follower.text()[-600:])
