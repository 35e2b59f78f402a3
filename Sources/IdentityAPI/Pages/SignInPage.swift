import Accounts
import HTTPServer
import NIOHTTP1
import StorageCore
import TextFormats
import TreeModel

/// The pages that `signInWithPopup` and `signInWithRedirect` open in development, where no provider is asked: one on which
/// the developer chooses who to be, and the frame that hands the choice to the SDK.
struct SignInPage {
  /// Identities that the page offers; the others can be typed in again.
  private static let offersMax = 50

  let surface: IdentitySurface

  /// `/emulator/auth/handler`: who is to sign in by this provider?
  func choice(_ query: QueryString, project: AccountProject) throws -> HTTPResponse {
    guard let provider = query["providerId"], !provider.isEmpty else {
      throw IdentityError("MISSING_PROVIDER_ID", "The address has no providerId; SDKs add it.")
    }
    let isNamed = ["appName", "clientId", "appId", "apn", "ibi"].contains { query[$0]?.isEmpty == false }
    guard isNamed, query["authType"]?.isEmpty == false else {
      throw IdentityError("INVALID_REQ_TYPE", "The address has no authType, or no application's name; SDKs add them.")
    }
    let known = try surface.accounts.federation.identities(at: provider, of: project, limit: Self.offersMax)
    let offers = known.map { identity in
      let name = identity.displayName ?? identity.email ?? identity.rawID
      let address = identity.email.map { " <small>\(HTMLText.escaped($0))</small>" } ?? ""
      return
        "<p><button data-claims=\"\(HTMLText.escaped(Self.claims(identity)))\">\(HTMLText.escaped(name))</button>\(address)</p>"
    }
    let body = """
      <h1>Sign in by \(HTMLText.escaped(provider))</h1>
      <p>This is a development server: nobody is asked who you are. Choose.</p>
      \(offers.joined(separator: "\n"))
      <form><h2>Somebody new</h2>
      <p><label>Address <input name="email" type="email" autocomplete="off" placeholder="ann@example.com"></label></p>
      <p><label>Name <input name="name" autocomplete="off"></label></p>
      <p><label>Picture <input name="picture" type="url" autocomplete="off"></label></p>
      <p><label><input name="verified" type="checkbox" checked> the provider has verified the address</label></p>
      <p><button>Sign in</button></p></form>
      <p id="fault" role="alert"></p>
      """
    return Self.page("Sign in by \(provider)", body: body, script: Self.choiceScript)
      .adding("Content-Security-Policy", value: "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
      .adding("Referrer-Policy", value: "no-referrer").adding("X-Frame-Options", value: "DENY")
  }

  /// `/emulator/auth/iframe`: stands hidden in the application's page and passes on what was chosen. The SDK talks to it by
  /// Google's frame library, which it loads from there as the application's page has done.
  static let frame = page(
    "Sign-in relay", body: "", script: frameScript, after: "<script src=\"https://apis.google.com/js/api.js\"></script>")

  /// What the SDK is told about an identity: as a provider would have signed it.
  private static func claims(_ identity: AccountRecord.Provider) -> String {
    let claims = JSON(fields: [
      ("sub", .string(identity.rawID)), ("email", identity.email.map(JSON.string)),
      ("email_verified", identity.email == nil ? nil : true), ("name", identity.displayName.map(JSON.string)),
      ("picture", identity.photoURL.map(JSON.string)), ("screen_name", identity.screenName.map(JSON.string)),
    ])
    var writer = JSONWriter()
    writer.write(claims)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func page(_ title: String, body: String, script: String, after: String = "") -> HTTPResponse {
    let html = """
      <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta name="robots" content="noindex"><title>\(HTMLText.escaped(title))</title>
      <body style="font-family:sans-serif;max-width:32em;margin:3em auto;padding:0 1em">
      \(body)
      <script>\(script)</script>\(after)
      </body></html>
      """
    return HTTPResponse(.ok, content: .html, body: Array(html.utf8))
  }
}

extension SignInPage {
  /// Makes an answer of what was chosen, and takes it to where the SDK waits: to the frame beside the application (popup),
  /// into the session's storage, where that frame finds it (redirect), or to a telephone's application.
  static let choiceScript = #"""
    (function () {
      var asked = new URLSearchParams(location.search);
      var fault = document.getElementById('fault');
      function complain(text) { fault.textContent = text; }

      function answer(claims) {
        return {
          type: asked.get('authType'), eventId: asked.get('eventId'), sessionId: 'unused-in-development', postBody: '',
          urlResponse: location.origin + location.pathname + '?providerId=' + encodeURIComponent(asked.get('providerId')) +
            '&id_token=' + encodeURIComponent(JSON.stringify(claims)),
          tenantId: asked.get('tid') || asked.get('tenantId') || null, error: null
        };
      }

      function key() { return asked.get('apiKey') + ':' + asked.get('appName'); }

      function isRelay(frame) {
        try {
          var its = new URLSearchParams(frame.location.search);
          return frame.location.origin === location.origin && its.get('apiKey') + ':' + its.get('appName') === key();
        } catch (foreign) {
          return false;
        }
      }

      function toPopupOpener(event) {
        var frames = window.opener ? window.opener.frames : [];
        for (var index = 0; index < frames.length; index++) {
          if (!isRelay(frames[index])) continue;
          frames[index].postMessage({doubloon: 'auth-event', key: key(), event: event}, location.origin);
          return;
        }
        complain('The page that opened this window is gone, or is another application\'s. Close this window and try again.');
      }

      function toRedirect(event) {
        var target = new URL(asked.get('redirectUrl'));
        if (target.protocol !== 'http:' && target.protocol !== 'https:') return complain('redirectUrl is no web address.');
        sessionStorage.setItem('doubloon:' + key(), JSON.stringify(event));
        location.href = target.href;
      }

      function toAndroid(event) {
        var parts = ['scheme=genericidp', 'package=' + encodeURIComponent(asked.get('apn')), 'S.authType=' + event.type];
        if (event.eventId) parts.push('S.eventId=' + event.eventId);
        parts.push('S.link=' + encodeURIComponent(event.urlResponse), 'B.encryptionEnabled=false');
        location.replace('intent://firebase.auth/#Intent;' + parts.join(';') + ';end;');
      }

      function toIOS(event) {
        var link = location.origin + '/__/auth/callback?authType=' + encodeURIComponent(event.type) +
          '&link=' + encodeURIComponent(event.urlResponse) +
          (event.eventId ? '&eventId=' + encodeURIComponent(event.eventId) : '');
        var client = asked.get('clientId'), app = asked.get('appId');
        var scheme = client ? client.split('.').reverse().join('.') : app ? 'app-' + app.replace(/:/g, '-') : asked.get('ibi');
        if (!/^[a-z][a-z0-9+.-]*$/i.test(scheme)) return complain('The application has no usable scheme.');
        location.replace(scheme + '://' + (client || app ? 'firebaseauth' : 'google') + '/link?deep_link_id=' +
          encodeURIComponent(link));
      }

      function finish(claims) {
        var event = answer(claims);
        if (/popup/i.test(event.type)) return toPopupOpener(event);
        if (asked.get('apn')) return toAndroid(event);
        if (asked.get('ibi')) return toIOS(event);
        if (asked.get('redirectUrl')) return toRedirect(event);
        complain('The address does not say where to go on to: it has no redirectUrl.');
      }

      document.querySelectorAll('[data-claims]').forEach(function (button) {
        button.addEventListener('click', function () { finish(JSON.parse(button.dataset.claims)); });
      });
      document.querySelector('form').addEventListener('submit', function (submission) {
        submission.preventDefault();
        var form = submission.target;
        var digits = Array.from(crypto.getRandomValues(new Uint8Array(21)), function (byte) { return byte % 10; });
        var claims = {sub: digits.join('')};
        if (form.email.value) {
          claims.email = form.email.value;
          claims.email_verified = form.verified.checked;
        }
        if (form.elements.name.value) claims.name = form.elements.name.value;
        if (form.picture.value) claims.picture = form.picture.value;
        finish(claims);
      });
    })();
    """#

  /// Waits for a choice and for the SDK, whichever comes first, and gives the one to the other.
  static let frameScript = #"""
    (function () {
      var asked = new URLSearchParams(location.search);
      var key = asked.get('apiKey') + ':' + asked.get('appName');
      var place = 'doubloon:' + key;
      var application = null;

      function tell(event) {
        var message = {type: 'authEvent', authEvent: event || {type: 'unknown', error: {code: 'auth/no-auth-event'}}};
        application.send('authEvent', message, function (heard) {
          var last = heard && heard[heard.length - 1];
          if (!last || last.status !== 'ACK') console.error('The application did not take the sign-in.');
        }, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
      }

      window.addEventListener('message', function (message) {
        if (message.origin !== location.origin || !message.data || message.data.doubloon !== 'auth-event') return;
        if (message.data.key !== key) return;
        if (application) return tell(message.data.event);
        sessionStorage.setItem(place, JSON.stringify(message.data.event));
      });

      window.gapi_onload = function () {
        gapi.load('gapi.iframes', {
          timeout: 10000,
          ontimeout: function () { console.error('apis.google.com cannot be reached, by which the SDK talks to this frame.'); },
          callback: function () {
            application = gapi.iframes.getContext().getParentIframe();
            application.register('webStorageSupport', function () {
              return {status: 'ACK', webStorageSupport: true};
            }, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
            var kept = sessionStorage.getItem(place);
            sessionStorage.removeItem(place);
            tell(kept ? JSON.parse(kept) : null);
          }
        });
      };
    })();
    """#
}
