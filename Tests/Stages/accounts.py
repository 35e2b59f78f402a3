"""Cases of the accounts, for the Firebase admin SDK: what its own public integration suite does to an Auth server."""

import json
import os
import time
import urllib.error
import urllib.request


def cases(auth):
    """The cases by name: each is a function that asserts."""
    found = []

    def case(name):
        def note(function):
            found.append((name, function))
            return function
        return note

    def call(method, body):
        host = os.environ["FIREBASE_AUTH_EMULATOR_HOST"]
        request = urllib.request.Request(
            f"http://{host}/identitytoolkit.googleapis.com/v1/{method}?key=k", json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def raises(kind, function, *arguments, **named):
        try:
            function(*arguments, **named)
        except kind:
            return
        raise AssertionError(f"no {kind.__name__}")

    @case("accounts: create, get, update and delete")
    def _():
        made = auth.create_user(uid="sdk-jim", email="jim@example.com", password="secret1", display_name="Jim")
        assert made.uid == "sdk-jim" and made.email == "jim@example.com" and not made.email_verified
        assert made.user_metadata.creation_timestamp > 0
        assert made.user_metadata.last_sign_in_timestamp is None
        assert made.user_metadata.last_refresh_timestamp is None
        assert auth.get_user_by_email("jim@example.com").uid == "sdk-jim"
        changed = auth.update_user("sdk-jim", phone_number="+15550123", photo_url="https://example.com/p.png", email_verified=True)
        assert changed.phone_number == "+15550123" and changed.email_verified
        assert {provider.provider_id for provider in changed.provider_data} == {"password", "phone"}
        assert auth.get_user_by_phone_number("+15550123").uid == "sdk-jim"
        bare = auth.update_user("sdk-jim", phone_number=auth.DELETE_ATTRIBUTE, display_name=auth.DELETE_ATTRIBUTE)
        assert bare.phone_number is None and bare.display_name is None
        raises(auth.UidAlreadyExistsError, auth.create_user, uid="sdk-jim")
        raises(auth.EmailAlreadyExistsError, auth.create_user, email="jim@example.com")
        auth.delete_user("sdk-jim")
        raises(auth.UserNotFoundError, auth.get_user, "sdk-jim")

    @case("accounts: an anonymous player is linked and keeps the uid")
    def _():
        made = call("accounts:signUp", {"returnSecureToken": True})
        assert not auth.get_user(made["localId"]).provider_data
        linked = call("accounts:signUp", {
            "idToken": made["idToken"], "email": "linked@example.com", "password": "secret1", "returnSecureToken": True})
        assert linked["localId"] == made["localId"]
        assert [one.provider_id for one in auth.get_user(made["localId"]).provider_data] == ["password"]
        decoded = auth.verify_id_token(linked["idToken"], check_revoked=True)
        assert decoded["uid"] == made["localId"] and decoded["firebase"]["sign_in_provider"] == "password"

    @case("accounts: custom tokens, claims, revocation")
    def _():
        token = auth.create_custom_token("sdk-ann", {"premium": True}).decode()
        session = call("accounts:signInWithCustomToken", {"token": token, "returnSecureToken": True})
        claims = auth.verify_id_token(session["idToken"])
        assert claims["uid"] == "sdk-ann" and claims["premium"] is True
        auth.set_custom_user_claims("sdk-ann", {"rank": "captain"})
        assert auth.get_user("sdk-ann").custom_claims == {"rank": "captain"}
        time.sleep(1.1)
        auth.revoke_refresh_tokens("sdk-ann")
        raises(auth.RevokedIdTokenError, auth.verify_id_token, session["idToken"], check_revoked=True)
        auth.update_user("sdk-ann", disabled=True)
        raises(auth.UserDisabledError, auth.verify_id_token, session["idToken"], check_revoked=True)

    @case("accounts: many at once, by page, with hashes")
    def _():
        uids = [f"sdk-many-{number}" for number in range(3)]
        for uid in uids:
            auth.create_user(uid=uid, email=f"{uid}@example.com", password="secret1")
        found = {user.uid: user for user in auth.list_users().iterate_all()}
        assert all(found[uid].password_hash and found[uid].password_salt for uid in uids)
        many = auth.get_users([auth.UidIdentifier(uids[0]), auth.EmailIdentifier(f"{uids[1]}@example.com"), auth.UidIdentifier("x")])
        assert {user.uid for user in many.users} == set(uids[:2]) and len(many.not_found) == 1
        result = auth.delete_users(uids)
        assert result.success_count == 3 and result.failure_count == 0, result.errors

    @case("accounts: an import with Firebase's own hashes signs in")
    def _():
        import base64
        key = base64.b64decode(
            "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")
        password = base64.b64decode(
            "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==")
        user = auth.ImportUserRecord(uid="sdk-import", email="import@example.com", password_hash=password, password_salt=b"NaCl")
        scrypt = auth.UserImportHash.scrypt(key=key, salt_separator=base64.b64decode("Bw=="), rounds=8, memory_cost=14)
        result = auth.import_users([user], hash_alg=scrypt)
        assert result.success_count == 1, result.errors
        assert call("accounts:signInWithPassword", {"email": "import@example.com", "password": "password"})["localId"] == "sdk-import"

    @case("accounts: links for mails, and session cookies")
    def _():
        auth.create_user(uid="sdk-mail", email="mail@example.com", password="secret1")
        link = auth.generate_password_reset_link("mail@example.com")
        code = dict(part.split("=", 1) for part in link.split("?", 1)[1].split("&"))["oobCode"]
        assert call("accounts:resetPassword", {"oobCode": code, "newPassword": "fresh-1"})["email"] == "mail@example.com"
        session = call("accounts:signInWithPassword", {"email": "mail@example.com", "password": "fresh-1"})
        assert auth.get_user("sdk-mail").email_verified
        assert "mode=verifyEmail" in auth.generate_email_verification_link("mail@example.com")
        settings = auth.ActionCodeSettings("http://localhost/go", handle_code_in_app=False)
        assert "mode=signIn" in auth.generate_sign_in_with_email_link("mail@example.com", settings)
        cookie = auth.create_session_cookie(session["idToken"], 3600)
        assert auth.verify_session_cookie(cookie)["uid"] == "sdk-mail"

    return found
