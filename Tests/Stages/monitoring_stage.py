"""The files of Examples/monitoring against a running server: promtool reads the rules and the real metrics, every metric that a
rule or the dashboard asks for is there, each line of the log is an object, and a receiver gets signed alerts for a real dead
letter and for a disk that is really full. Standard library only, and promtool of Debian's package prometheus."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request

from production import Production, TOKEN
from server import Checks
from serving import free_port, until

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Examples", "monitoring")
SECRET = "a secret of this stage"

sys.path.insert(0, EXAMPLES)
import receiver  # noqa: E402

# A name in an expression that is followed by no bracket, and by labels, a range or the end.
NAME = re.compile(r"\b(doubloon_[a-z0-9_]+|process_[a-z0-9_]+)\b")


def promtool(checks, name, *arguments, text=None):
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, cwd=EXAMPLES)
    checks.check(name, done.returncode == 0, done.stdout + done.stderr)


def scrape(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=120) as answer:
        return answer.read().decode()


def families(text):
    """Every name that a query may use: of a histogram the names of its lines."""
    names = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            names |= {name} if kind != "histogram" else {name + suffix for suffix in ("_bucket", "_sum", "_count")}
    return names


def asked():
    """The names that the rules and the dashboard ask for, each with where."""
    with open(os.path.join(EXAMPLES, "alerts.yml")) as file:
        rules = re.findall(r"expr: (>\n(?:          .*\n)+|.*)", file.read())
    with open(os.path.join(EXAMPLES, "dashboard.json")) as file:
        dashboard = json.load(file)
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    queries += [variable.get("definition", "") for variable in dashboard["templating"]["list"]]
    return {name: where for where, texts in (("a rule", rules), ("the dashboard", queries))
            for text in texts for name in NAME.findall(text)}


def files(checks):
    promtool(checks, "promtool reads the rules", "check", "rules", "alerts.yml")
    promtool(checks, "every rule fires when it should, and not when it should not", "test", "rules", "alerts_test.yml")
    promtool(checks, "promtool reads the configuration of Prometheus", "check", "config", "prometheus.yml")
    with open(os.path.join(EXAMPLES, "alerts.yml")) as file:
        rules = set(re.findall(r"- alert: (\w+)", file.read()))
    with open(os.path.join(EXAMPLES, "alerts_test.yml")) as file:
        text = file.read()
    for way, pattern in (("that it fires", r"alertname: (\w+)\n        exp_alerts:\n"),
                         ("that it does not", r"alertname: (\w+)\n        exp_alerts: \[\]")):
        missing = rules - set(re.findall(pattern, text))
        checks.check(f"each rule has a test {way}", not missing, missing)
    with open(os.path.join(EXAMPLES, "dashboard.json")) as file:
        rows = [panel["title"] for panel in json.load(file)["panels"] if panel["type"] == "row"]
    wanted = {"Traffic", "Writes", "Functions", "Listeners", "Accounts and messages", "Machine"}
    checks.check("the dashboard has its rows", wanted <= set(rows), rows)


def metrics(checks, port):
    text = scrape(port)
    promtool(checks, "promtool has nothing against the real metrics", "check", "metrics", text=text)
    there = families(text)
    checks.check("there are many metrics", len(there) > 70, len(there))
    for name, where in sorted(asked().items()):
        checks.check(f"{name}, which {where} asks for, is there", name in there, quiet=True)
    checks.check("rules and dashboard ask for what there is", set(asked()) <= there, sorted(set(asked()) - there))


def dead_letter(server):
    """A reward that cannot be paid: the balance is a text."""
    admin = server.admin()
    bob = {"referred_by": "ann", "inventory": {"pieces_of_eight": "nothing"}}
    admin.ask("PUT", "/users/bob.json?disableTriggers=true", bob)
    answer = admin.ask("PUT", "/users/bob/last_signin_at.json", 1, {"X-Request-ID": "stage-7"})
    admin.ask("POST", "/admin/v1/drain", {})
    admin.close()
    return answer


def alerts(checks, server, port, heard):
    answer = dead_letter(server)
    checks.check("a named request finds its name in the answer", answer.headers.get("x-request-id") == "stage-7", answer.headers)
    checks.check("the receiver gets an alert for a dead letter, and knows it for genuine",
                 until(lambda: any(" firing dead_letters: " in line for line in heard), 300), heard)
    line = next((line for line in heard if " firing dead_letters: " in line), "")
    checks.check("it says which function, and what to do", "grantSignupReward" in line and "doubloon triggers dead" in line, line)
    admin = server.admin()
    commits = admin.ask("GET", "/admin/v1/events?limit=20").text
    checks.check("the commit has the request's name", '"requestId":"stage-7"' in commits, commits[:500])
    text = scrape(port)
    player = server.player()
    player.ask("POST", "/v1/accounts:signInWithPassword?key=k", {"email": "nobody@example.com", "password": "wrong horse"})
    player.close()
    counted = scrape(port)
    lines = [line for line in counted.splitlines() if line.startswith("doubloon_sign_ins_total{")]
    checks.check("sign-ins are counted by how they ended", sorted(lines) == [
        'doubloon_sign_ins_total{method="password",result="refused"} 1',
        'doubloon_sign_ins_total{method="sign_up",result="ok"} 1'], lines)
    checks.check("the metrics count it", 'doubloon_dead_letters{function="grantSignupReward"} 1' in text)
    admin.ask("PUT", "/users/bob/inventory/pieces_of_eight.json?disableTriggers=true", 0)
    retried = admin.ask("POST", "/admin/v1/functions/grantSignupReward/retry", {}, {"X-Request-ID": "mended-8"})
    checks.check("the reward is tried again", retried.status == 200 and retried.json.get("retried") == 1, retried.text)
    checks.check("and the receiver hears that it is over",
                 until(lambda: any(" resolved dead_letters: " in line for line in heard), 300), heard)
    audit = admin.ask("GET", "/admin/v1/audit?limit=20").text
    checks.check("what an administrator did is on record under the request's name", '"request":"mended-8"' in audit, audit[:500])
    admin.close()


def logs(checks, server):
    """Every line, from the first to the last."""
    lines = server.serve.lines
    broken = []
    for line in lines:
        try:
            event = json.loads(line)
            good = {"time", "level", "label", "message"} <= set(event) and re.fullmatch(
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["time"])
        except ValueError:
            good = False
        if not good:
            broken.append(line)
    checks.check("every line of the log is an object with a time", lines and not broken, broken[:3])
    said = [json.loads(line) for line in lines if line.startswith("{")]
    checks.check("the alert is one of them", any(
        event["message"] == "alert" and event["metadata"]["kind"] == "dead_letters" for event in said))
    checks.check("and so is the administrator's action, with the request's name", any(
        event.get("metadata", {}).get("request") == "mended-8" for event in said))
    checks.check("no secret is in the log", not any(SECRET in line or TOKEN in line for line in lines))


# As large as the stage disk's.
SMALL, LARGE = "6m", "64m"


def isolate():
    """Goes on in a mount namespace of its own. Returns whether file systems may be mounted."""
    if os.environ.get("DOUBLOON_MONITORING"):
        return os.environ["DOUBLOON_MONITORING"] == "isolated"
    mapped = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *mapped, "--mount"]
    can = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    os.environ["DOUBLOON_MONITORING"] = "isolated" if can else "as it is"
    if can:
        os.execvp("unshare", [*command, sys.executable, *sys.argv])
    return False


def full_disk(checks, program, hook, heard):
    """The writer stops, for the disk is full: people are told all the same, for alerts do not go through the store."""
    del heard[:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", folder], check=True)
        try:
            write_secret(folder)
            server = Production(program, folder, {"alerts": hook, "rateLimits": False})
            admin = server.admin()
            statuses = [admin.ask("PUT", f"/users/p{number}.json", {"note": "x" * 3000}).status for number in range(5)]
            while statuses[-1] == 200 and len(statuses) < 100_000:
                statuses.append(admin.ask("PUT", f"/users/p{len(statuses)}.json", {"note": "x" * 3000}).status)
            checks.check("the full disk stops the writer", statuses[-1] == 503 and len(statuses) > 20, statuses[-3:])
            for kind in ("disk_low", "writer_stopped"):
                checks.check(f"the receiver hears of {kind}, though nothing can be written any more",
                             until(lambda: any(f" firing {kind}: " in line for line in heard), 300), heard)
            text = admin.ask("GET", "/metrics").text
            checks.check("and so do the metrics", "\ndoubloon_writer_failed 1\n" in text)
            admin.close()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"remount,size={LARGE}", "tmpfs", folder], check=True)
            checks.check("the receiver hears that the writer goes on when there is room",
                         until(lambda: any(" resolved writer_stopped: " in line for line in heard), 300), heard)
            admin = server.admin()
            text = admin.ask("GET", "/metrics").text
            checks.check("and so do the metrics", "\ndoubloon_writer_failed 0\n" in text)
            admin.close()
            server.stop()
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


def write_secret(folder):
    with open(os.path.join(folder, "alerts.secret"), "w") as file:
        file.write(SECRET + "\n")
    os.chmod(os.path.join(folder, "alerts.secret"), 0o600)


def forged(checks):
    body, now = b'{"id":"x"}', 1_700_000_000
    good = receiver.hmac.new(SECRET.encode(), str(now).encode() + b"." + body, receiver.hashlib.sha256).hexdigest()
    genuine = lambda *changed: receiver.is_genuine(*changed, now=now)
    checks.check("the receiver takes what is signed", genuine(SECRET, str(now), body, "v1=" + good))
    checks.check("and nothing that was changed", not genuine(SECRET, str(now), body + b" ", "v1=" + good))
    checks.check("nor what is old", not receiver.is_genuine(SECRET, str(now), body, "v1=" + good, now=now + 301))
    checks.check("nor what another secret signed", not genuine(SECRET + "x", str(now), body, "v1=" + good))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    can_mount = isolate()
    checks = Checks()
    files(checks)
    forged(checks)
    heard = []
    hook_port, metrics_port = free_port(), free_port()
    hook = {"webhook": {"url": f"http://127.0.0.1:{hook_port}/", "secret": {"file": "alerts.secret"}}}
    process = subprocess.Popen(
        [sys.executable, os.path.join(EXAMPLES, "receiver.py"), "--port", str(hook_port)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "ALERT_SECRET": SECRET})
    listening = process.stdout.readline()
    checks.check("the receiver listens", "Receiving at" in listening, listening)
    threading.Thread(target=lambda: heard.extend(iter(process.stdout.readline, "")), daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        write_secret(folder)
        server = Production(program, folder, {
            "metrics": {"port": metrics_port}, "log": {"format": "json", "level": "info"},
            "alerts": hook,
        })
        try:
            alerts(checks, server, metrics_port, heard)
            metrics(checks, metrics_port)
        finally:
            code = server.stop()
        checks.check("SIGTERM ends it in order", code == 0, code)
        logs(checks, server)
    if can_mount:
        full_disk(checks, program, hook, heard)
    else:
        print("No file system may be mounted here, so no disk was filled.")
    process.terminate()
    process.wait(60)
    return checks.finish()


if __name__ == "__main__":
    raise SystemExit(main())
