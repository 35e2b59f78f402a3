"""Points the Firebase admin SDK for Python at a Doubloon server: one import, one call, before anything else of the SDK is used.

    import doubloon_admin
    app = doubloon_admin.initialize("game-server.json", "https://game.example.com")

The key file is a service account's (`doubloon service-account create game-server --role admin`). The SDK reads where to get access
tokens from it; where accounts and public keys are is a constant in each of its modules, which this file replaces. Seen to work with
firebase-admin 6.5 to 7. One process talks to one server: do not use it beside a project at Firebase.
"""

import json

import firebase_admin
from firebase_admin import _auth_providers, _token_gen, _user_mgt, credentials


def point(server):
    """Replaces the addresses of Google's. Raises AttributeError where a version of the SDK keeps them elsewhere."""
    server = server.rstrip("/")
    for holder, name in ((_token_gen.TokenGenerator, "ID_TOOLKIT_URL"), (_user_mgt.UserManager, "ID_TOOLKIT_URL"),
                         (_auth_providers.ProviderConfigClient, "PROVIDER_CONFIG_URL"), (_token_gen, "ID_TOKEN_CERT_URI"),
                         (_token_gen, "COOKIE_CERT_URI")):
        path = getattr(holder, name).split("googleapis.com", 1)[1]
        setattr(holder, name, server + path)


def initialize(key_file, server, namespace=None, **options):
    """An app whose accounts and database are the server's.

    `namespace` is the tree, `PROJECT-default-rtdb` if none is given; `options` go to the SDK, `name` as the app's name.
    """
    point(server)
    with open(key_file, encoding="utf-8") as file:
        project = json.load(file)["project_id"]
    name = options.pop("name", firebase_admin._DEFAULT_APP_NAME)
    url = f"{server.rstrip('/')}/?ns={namespace or project + '-default-rtdb'}"
    return firebase_admin.initialize_app(credentials.Certificate(key_file), {"databaseURL": url, **options}, name=name)
