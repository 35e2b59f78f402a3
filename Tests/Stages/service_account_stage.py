"""Service accounts, as the Firebase admin SDK for Python uses them against `doubloon serve`: unmodified, over TLS, without any
emulator's switch.

The SDK reads the key file, buys access tokens at its token_uri, and is an administrator of the database and of the accounts for
real; what it verifies, it verifies by the published keys. Its addresses of Google's are its own: here the names are resolved to
this machine, as a studio's DNS or hosts file would, and the server's certificate bears them. Runs in an environment that holds
the package (Tests/Stages/requirements.txt); Scripts/test makes one.
"""

import argparse
import base64
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

from server import Checks
from serving import Serve, certificates, until

TOKEN = "0123456789abcdef0123456789abcdef"
GOOGLE = ("identitytoolkit.googleapis.com", "www.googleapis.com", "securetoken.googleapis.com")
RULES = {"rules": {"users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid && auth.token.guild === 'pirates'"}}}}


def configuration(folder):
    settings = {
        "project": "stage", "data": "data", "rules": "rules.json",
        "listen": {"host": "127.0.0.1", "port": 0},
        "tls": [{"certificate": "server.pem", "key": "server.key"}],
        "admins": [{"name": "ops", "token": {"file": "ops.token"}}],
        "accounts": {"publicURL": "https://game.example.com", "authorizedDomains": ["game.example.com"]},
    }
    for name, text in (("rules.json", json.dumps(RULES)), ("ops.token", TOKEN + "\n"), ("doubloon.jsonc", json.dumps(settings))):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    os.chmod(os.path.join(folder, "ops.token"), 0o600)
    os.chmod(os.path.join(folder, "server.key"), 0o600)
    return os.path.join(folder, "doubloon.jsonc")


def resolve_google_here(port):
    """What a name server of a studio does: Google's names lead to this machine."""
    ask = socket.getaddrinfo

    def answer(host, asked, *rest, **named):
        return ask("127.0.0.1", port, *rest, **named) if host in GOOGLE else ask(host, asked, *rest, **named)

    socket.getaddrinfo = answer


class Client:
    """Asks the server over TLS, as a player or an administrator without an SDK."""

    def __init__(self, folder, port):
        self.base = f"https://localhost:{port}"
        self._context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))

    def ask(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = "Bearer " + token
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120, context=self._context) as answer:
                return answer.status, json.loads(answer.read()), answer.headers
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read()), error.headers


class Cases:
    """What is tried, in its order: every method named case_… is one case, and its text is its name."""

    def __init__(self, serve, program, folder):
        self.serve, self.program, self.folder = serve, program, folder
        self.client = Client(folder, serve.port)
        self.secrets = [TOKEN]

    def command(self, *arguments):
        return subprocess.run(
            [self.program, *arguments, "--server", self.client.base, "--ca", os.path.join(self.folder, "ca.pem"), "--key",
             os.path.join(self.folder, "ops.token")], check=True, capture_output=True, text=True).stdout

    def account(self, name, role):
        file = os.path.join(self.folder, name + ".json")
        self.command("service-account", "create", name, "--role", role, "--out", file, "--url", self.client.base)
        with open(file) as opened:
            self.secrets += [line for line in json.load(opened)["private_key"].splitlines() if len(line) > 40 and "-----" not in line]
        return file

    def app(self, file, **options):
        import firebase_admin
        from firebase_admin import credentials
        name = f"{os.path.basename(file)}-{len(firebase_admin._apps)}"
        return firebase_admin.initialize_app(credentials.Certificate(file), {"databaseURL": self.client.base, **options}, name=name)

    def sign_in(self, method, body):
        status, answer, _ = self.client.ask("POST", f"/v1/accounts:{method}?key=k", {**body, "returnSecureToken": True})
        assert status == 200, answer
        self.secrets += [answer["idToken"], answer["refreshToken"]]
        return answer

    def log_of(self, path):
        return json.dumps(self.client.ask("GET", "/admin/v1/data/log?path=" + path, token=TOKEN)[1])

    def case_database(self):
        """a key file opens the database, without an emulator's switch"""
        from firebase_admin import db
        file = self.account("game-server", "admin")
        assert os.stat(file).st_mode & 0o777 == 0o600
        self.admin = self.app(file)
        db.reference("/proof", app=self.admin).set({"by": "key file"})
        assert db.reference("/proof", app=self.admin).get() == {"by": "key file"}

    def case_recorded(self):
        """what it writes is recorded under the account's name"""
        assert "admin:game-server" in self.log_of("/proof"), self.log_of("/proof")

    def case_override(self):
        """an administrator may act as a user, by the rules"""
        import firebase_admin
        from firebase_admin import db
        file = os.path.join(self.folder, "game-server.json")
        bob = self.app(file, databaseAuthVariableOverride={"uid": "bob", "token": {"guild": "pirates"}})
        db.reference("/users/bob/mine", app=bob).set(1)
        assert "user:bob" in self.log_of("/users/bob/mine")
        try:
            db.reference("/users/jim", app=bob).get()
        except firebase_admin.exceptions.UnauthenticatedError:
            return
        raise AssertionError("bob reads jim's record")

    def case_viewer(self):
        """a viewer's key opens neither the tree nor the accounts, and signs no custom token that counts"""
        import firebase_admin
        from firebase_admin import auth, db
        viewer = self.app(self.account("watcher", "viewer"))
        for look in (lambda: db.reference("/proof", app=viewer).get(), lambda: auth.get_user("nobody", app=viewer)):
            try:
                look()
            except firebase_admin.exceptions.UnauthenticatedError:
                continue
            raise AssertionError("a viewer was let in")
        token = auth.create_custom_token("jim", app=viewer).decode()
        status, answer, _ = self.client.ask("POST", "/v1/accounts:signInWithCustomToken?key=k", {"token": token})
        assert status == 400 and answer["error"]["message"].startswith("INVALID_CUSTOM_TOKEN"), answer

    def case_users(self):
        """users are made, found, changed, listed and deleted by the SDK"""
        from firebase_admin import auth
        made = auth.create_user(uid="ann", email="ann@example.com", password="secret-of-ann", display_name="Ann", app=self.admin)
        self.secrets.append("secret-of-ann")
        assert made.uid == "ann" and not made.email_verified
        assert auth.get_user_by_email("ann@example.com", app=self.admin).display_name == "Ann"
        auth.update_user("ann", email_verified=True, phone_number="+431234567", app=self.admin)
        assert auth.get_user_by_phone_number("+431234567", app=self.admin).email_verified
        try:
            auth.create_user(email="ann@example.com", app=self.admin)
        except auth.EmailAlreadyExistsError:
            pass
        else:
            raise AssertionError("one address, two users")
        auth.create_user(uid="gone", app=self.admin)
        assert {user.uid for user in auth.list_users(app=self.admin).iterate_all()} == {"ann", "gone"}
        auth.delete_user("gone", app=self.admin)
        found = auth.get_users([auth.UidIdentifier("ann"), auth.UidIdentifier("gone")], app=self.admin)
        assert [user.uid for user in found.users] == ["ann"] and len(found.not_found) == 1

    def case_passwords(self):
        """a user of the SDK's signs in, and the SDK verifies the token by the published certificates"""
        from firebase_admin import auth
        auth.set_custom_user_claims("ann", {"guild": "pirates"}, app=self.admin)
        self.ann = self.sign_in("signInWithPassword", {"email": "ann@example.com", "password": "secret-of-ann"})
        claims = auth.verify_id_token(self.ann["idToken"], app=self.admin, check_revoked=True)
        assert claims["uid"] == "ann" and claims["guild"] == "pirates" and claims["firebase"]["sign_in_provider"] == "password"
        status, answer, _ = self.client.ask("PUT", "/users/ann/level.json?auth=" + self.ann["idToken"], 4)
        assert status == 200 and answer == 4, answer
        assert self.client.ask("PUT", "/users/bob/level.json?auth=" + self.ann["idToken"], 4)[0] == 401
        for token in (self.ann["idToken"][:-4] + "AAAA", self.ann["idToken"].rsplit(".", 1)[0] + "."):
            try:
                auth.verify_id_token(token, app=self.admin)
            except auth.InvalidIdTokenError:
                continue
            raise AssertionError("a forged token was verified")

    def case_custom_tokens(self):
        """a custom token that the SDK signs with the key file signs a player in"""
        from firebase_admin import auth
        token = auth.create_custom_token("jim", {"guild": "pirates"}, app=self.admin).decode()
        self.secrets.append(token)
        jim = self.sign_in("signInWithCustomToken", {"token": token})
        claims = auth.verify_id_token(jim["idToken"], app=self.admin)
        assert claims["uid"] == "jim" and claims["firebase"]["sign_in_provider"] == "custom" and claims["guild"] == "pirates"

    def case_cookies(self):
        """a session cookie is made and verified"""
        import datetime
        from firebase_admin import auth
        cookie = auth.create_session_cookie(self.ann["idToken"], datetime.timedelta(hours=1), app=self.admin)
        self.secrets.append(cookie)
        assert auth.verify_session_cookie(cookie, check_revoked=True, app=self.admin)["uid"] == "ann"

    def case_revocation(self):
        """a user whose tokens are revoked is out, for the SDK and for the database"""
        from firebase_admin import auth

        def is_revoked():
            auth.revoke_refresh_tokens("ann", app=self.admin)
            try:
                auth.verify_id_token(self.ann["idToken"], app=self.admin, check_revoked=True)
            except auth.RevokedIdTokenError:
                return True
            return False

        assert until(is_revoked)
        assert until(lambda: self.client.ask("GET", "/users/ann.json?auth=" + self.ann["idToken"])[0] == 401)
        status, answer, _ = self.client.ask(
            "POST", "/v1/token?key=k", {"grantType": "refresh_token", "refreshToken": self.ann["refreshToken"]})
        assert status == 400 and answer["error"]["message"] == "TOKEN_EXPIRED", answer

    def case_links(self):
        """a link for a reset is made without mail, and works"""
        from firebase_admin import auth
        link = auth.generate_password_reset_link("ann@example.com", app=self.admin)
        assert link.startswith("https://game.example.com/__/auth/action?"), link
        code = re.search("oobCode=([^&]+)", link).group(1)
        self.secrets += [code, "chosen-by-a-link"]
        status, answer, _ = self.client.ask(
            "POST", "/v1/accounts:resetPassword?key=k", {"oobCode": code, "newPassword": "chosen-by-a-link"})
        assert status == 200 and answer["email"] == "ann@example.com", answer
        self.sign_in("signInWithPassword", {"email": "ann@example.com", "password": "chosen-by-a-link"})

    def case_import(self):
        """users come with the hashes that they have at Firebase, and sign in with their passwords"""
        from firebase_admin import auth
        key = base64.b64decode("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")
        hash = base64.b64decode("V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==")
        scrypt = auth.UserImportHash.scrypt(key=key, salt_separator=base64.b64decode("Bw=="), rounds=8, memory_cost=14)
        user = auth.ImportUserRecord("old", email="old@example.com", password_hash=hash, password_salt=b"NaCl")
        assert auth.import_users([user], hash_alg=scrypt, app=self.admin).success_count == 1
        assert self.sign_in("signInWithPassword", {"email": "old@example.com", "password": "password"})["localId"] == "old"

    def case_certificates(self):
        """the published certificates are read and verified by another library, and are the keys of the JWKS"""
        from cryptography import x509
        path = "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"
        _, found, headers = self.client.ask("GET", path)
        assert headers["cache-control"].startswith("public, max-age="), headers
        assert found
        for text in found.values():
            certificate = x509.load_pem_x509_certificate(text.encode())
            certificate.verify_directly_issued_by(certificate)
        assert {key["kid"] for key in self.client.ask("GET", "/.well-known/jwks.json")[1]["keys"]} == set(found)

    def case_revoked_account(self):
        """a revoked service account is out at once, with the token it holds and with a new one"""
        import firebase_admin
        from firebase_admin import auth, db
        file = os.path.join(self.folder, "game-server.json")
        self.command("service-account", "revoke", "game-server")
        again = self.app(file)
        for look in (lambda: db.reference("/proof", app=self.admin).get(), lambda: auth.get_user("ann", app=self.admin),
                     lambda: db.reference("/proof", app=again).get()):
            try:
                look()
            except firebase_admin.exceptions.FirebaseError:
                continue
            except Exception as error:  # google.auth.exceptions.RefreshError comes through as it is
                assert "account not found" in str(error), error
                continue
            raise AssertionError("a revoked account's token still works")

    def case_secrets(self):
        """no secret is in the log or in the data"""
        log = "\n".join(self.serve.lines)
        data = os.path.join(self.folder, "data")
        stored = b"".join(
            open(os.path.join(data, name), "rb").read() for name in os.listdir(data) if os.path.isfile(os.path.join(data, name)))
        assert len(self.secrets) > 30 and b"ann@example.com" in stored
        for secret in self.secrets:
            assert secret not in log, "in the log: " + secret[:12]
            assert secret.encode() not in stored, "in the data: " + secret[:12]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the doubloon to start")
    program = os.path.abspath(parser.parse_args().program)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder, *GOOGLE)
        serve = Serve(program, configuration(folder))
        try:
            # Before the SDK is loaded: its HTTP library reads it.
            os.environ["REQUESTS_CA_BUNDLE"] = os.path.join(folder, "ca.pem")
            for name in ("FIREBASE_DATABASE_EMULATOR_HOST", "FIREBASE_AUTH_EMULATOR_HOST", "GOOGLE_CLOUD_PROJECT"):
                os.environ.pop(name, None)
            resolve_google_here(serve.port)
            cases = Cases(serve, program, folder)
            for name, case in vars(Cases).items():
                if not name.startswith("case_"):
                    continue
                try:
                    case(cases)
                    checks.check(case.__doc__, True)
                except Exception:
                    checks.check(case.__doc__, False, traceback.format_exc(limit=-2).strip().replace("\n", " | "))
        finally:
            code = serve.stop()
        checks.check("SIGTERM ends it in order", code == 0 and serve.said("Stopped."), code)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
