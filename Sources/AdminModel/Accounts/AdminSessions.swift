import TreeModel

/// Sessions of administrators at the server's own pages.
package enum AdminSessions {
  package static let current = Endpoint<NoQuery, NoBody, Current>(
    .get, "/admin/v1/session", "Whose session the console's page has, if it has one.", access: .open)
  package static let signIn = Endpoint<NoQuery, SignInOrder, Current>(
    .post, "/admin/v1/session", "Begins a session of the console with a credential; its cookie comes along.", access: .open)
  package static let signOut = Endpoint<NoQuery, NoBody, Done>(
    .delete, "/admin/v1/session", "Ends the session of the console's page.", access: .open)
  package static let list = Endpoint<NoQuery, NoBody, List>(
    .get, "/admin/v1/sessions", "The sessions of the console, newest first.", access: .admin)
  package static let end = Endpoint<NoQuery, NoBody, Done>(
    .delete, "/admin/v1/sessions/{id}", "Ends a session of the console.", access: .admin,
    captures: [.capture("id", text: "The session's name in the list.")])

  /// The two ways to run the server.
  package enum Mode: String, AdminWord, Hashable {
    case development
    case production
  }

  /// How one can sign in.
  package enum Way: String, AdminWord, Hashable {
    /// In development on this machine, without a credential.
    case owner
    /// With an administrator's token, or the access token of a service account.
    case key
    /// With a player's account that has a role: its ID token.
    case account
  }

  /// Whose session a page has.
  package struct Current: AdminValue {
    package var signedIn: Bool
    package var mode: Mode
    package var ways: [Way]
    package var actor: String?
    package var role: String?
    /// What requests that change something carry in X-Doubloon-CSRF.
    package var csrf: String?
    /// When the session ends if nobody does anything.
    package var idleUntil: Timestamp?
    /// When it ends, whatever happens.
    package var until: Timestamp?
    /// The namespace of requests that name none.
    package var namespace: String?
    package var version: String?

    /// Nobody's.
    package init(mode: Mode, ways: [Way]) {
      signedIn = false
      self.mode = mode
      self.ways = ways
    }

    package static let notes: [String: FieldNote] = [
      "csrf": .text("what requests that change something carry in X-Doubloon-CSRF"),
      "idleUntil": .text("when the session ends if nobody does anything"),
      "until": .text("when it ends, whatever happens"),
      "namespace": .text("of requests that name none"),
    ]
  }

  /// A credential to begin a session with; one of the three.
  package struct SignInOrder: AdminValue {
    /// An administrator's token, or the access token of a service account.
    package var key: String?
    /// Of a player whose account has a role, and who signed in a moment ago.
    package var idToken: String?
    /// `owner`, in development on this machine.
    package var `as`: Way?

    package init(key: String? = nil, idToken: String? = nil, as way: Way? = nil) {
      self.key = key
      self.idToken = idToken
      self.as = way
    }

    package static let notes: [String: FieldNote] = [
      "key": .text("an administrator's token, or the access token of a service account"),
      "idToken": .text("of a player whose account has a role, and who signed in a moment ago"),
      "as": .text("owner: in development on this machine"),
    ]
  }

  /// The sessions, newest first.
  package struct List: AdminValue {
    package var sessions: [Session]

    package init(sessions: [Session]) {
      self.sessions = sessions
    }
  }

  /// One administrator's session at one browser.
  package struct Session: AdminValue {
    package var id: String
    package var actor: String
    package var role: String
    package var createdAt: Timestamp
    package var lastActiveAt: Timestamp
    package var until: Timestamp
    /// Where it began.
    package var address: String
    /// Whether it is the session that asks.
    package var current: Bool

    package init(id: String, actor: String, role: String, address: String, current: Bool, times: Times) {
      self.id = id
      self.actor = actor
      self.role = role
      self.address = address
      self.current = current
      createdAt = times.created
      lastActiveAt = times.active
      until = times.end
    }

    /// When it began, when somebody was last active in it, and when it ends.
    package struct Times {
      package var created: Timestamp
      package var active: Timestamp
      package var end: Timestamp

      package init(created: Timestamp, active: Timestamp, end: Timestamp) {
        self.created = created
        self.active = active
        self.end = end
      }
    }

    package static let notes: [String: FieldNote] = [
      "lastActiveAt": .text("when a person last did something in it"),
      "address": .text("where it began"),
      "current": .text("whether it is the session that asks"),
    ]
  }
}
