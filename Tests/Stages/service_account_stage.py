"""Service accounts, as the Firebase admin SDK for Python uses them: unmodified, without any emulator's switch, over https.

The SDK reads the key file, buys access tokens at its token_uri, and is an administrator of the database for real. Runs in an
environment that holds the package (Tests/Stages/requirements.txt); Scripts/test makes one.
"""

import argparse
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import traceback

from server import Checks, Connection, Server


class SecureFront:
    """Speaks TLS on a free port and passes everything on: what a proxy in front of the server does."""

    def __init__(self, folder, port):
        self.certificate = os.path.join(folder, "tls.pem")
        key = os.path.join(folder, "tls.key")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", self.certificate, "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, key)
        self._target = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"https://localhost:{self._door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self._door.accept()
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            secure = self._context.wrap_socket(client, server_side=True)
            inner = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            return client.close()
        threading.Thread(target=self._pass_on, args=(inner, secure), daemon=True).start()
        self._pass_on(secure, inner)

    @staticmethod
    def _pass_on(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def cases(admin, front, program, folder, connection):
    """The cases by name, in their order: each is a function that asserts."""
    import firebase_admin
    from cryptography import x509
    from firebase_admin import credentials, db

    def account(name, role):
        file = os.path.join(folder, name + ".json")
        subprocess.run(
            [program, "service-account", "create", name, "--role", role, "--out", file, "--url", front.address, "--server", admin],
            check=True, stdout=subprocess.DEVNULL)
        return file

    def app(file):
        name = os.path.basename(file)
        return firebase_admin.initialize_app(credentials.Certificate(file), {"databaseURL": front.address}, name=name)

    state = {}

    def writes():
        file = account("game-server", "admin")
        assert os.stat(file).st_mode & 0o777 == 0o600
        state["app"] = app(file)
        db.reference("/proof", app=state["app"]).set({"by": "key file"})
        assert db.reference("/proof", app=state["app"]).get() == {"by": "key file"}

    def recorded():
        rows = connection.ask("GET", "/admin/v1/data/log?path=/proof").json
        assert "admin:game-server" in json.dumps(rows), rows

    def override():
        seen = firebase_admin.initialize_app(
            credentials.Certificate(os.path.join(folder, "game-server.json")),
            {"databaseURL": front.address, "databaseAuthVariableOverride": {"uid": "bob"}}, name="as-bob")
        db.reference("/mine", app=seen).set(1)
        assert "user:bob" in json.dumps(connection.ask("GET", "/admin/v1/data/log?path=/mine").json)

    def viewer():
        try:
            db.reference("/proof", app=app(account("watcher", "viewer"))).get()
        except firebase_admin.exceptions.UnauthenticatedError as error:
            assert "takes the role admin" in str(error), error
        else:
            raise AssertionError("a viewer read the tree")

    def revoked():
        subprocess.run([program, "service-account", "revoke", "game-server", "--server", admin], check=True,
                       stdout=subprocess.DEVNULL)
        for name in ("held token", "new token"):
            try:
                target = state["app"] if name == "held token" else app_again()
                db.reference("/proof", app=target).get()
            except firebase_admin.exceptions.FirebaseError:
                continue
            except Exception as error:  # google.auth.exceptions.RefreshError comes through as it is
                assert "account not found" in str(error), error
                continue
            raise AssertionError(f"a revoked account's {name} still works")

    def app_again():
        file = os.path.join(folder, "game-server.json")
        return firebase_admin.initialize_app(credentials.Certificate(file), {"databaseURL": front.address}, name="again")

    def certificates():
        path = "/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"
        answer = connection.ask("GET", path)
        assert answer.headers["cache-control"].startswith("public, max-age="), answer.headers
        assert answer.json, answer.text
        for text in answer.json.values():
            certificate = x509.load_pem_x509_certificate(text.encode())
            certificate.verify_directly_issued_by(certificate)
        names = {key["kid"] for key in connection.ask("GET", "/.well-known/jwks.json").json["keys"]}
        assert names == set(answer.json)

    return [
        ("a key file opens the database, without an emulator's switch", writes),
        ("what it writes is recorded under the account's name", recorded),
        ("an administrator may act as a user", override),
        ("a viewer's key does not open the tree", viewer),
        ("a revoked account is out at once, with the token it holds and with a new one", revoked),
        ("the published certificates are read and verified by another library", certificates),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="the doubloon to start")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, "--data", os.path.join(folder, "data"), "--project", "sdk")
        try:
            port = server.await_address()
            front = SecureFront(folder, port)
            # Before the SDK is loaded: its HTTP library reads it.
            os.environ["REQUESTS_CA_BUNDLE"] = front.certificate
            os.environ.pop("FIREBASE_DATABASE_EMULATOR_HOST", None)
            for name, case in cases(f"http://127.0.0.1:{port}", front, program, folder, Connection(port)):
                try:
                    case()
                    checks.check(name, True)
                except Exception:
                    checks.check(name, False, traceback.format_exc(limit=-2).strip().replace("\n", " | "))
        finally:
            server.stop()
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
