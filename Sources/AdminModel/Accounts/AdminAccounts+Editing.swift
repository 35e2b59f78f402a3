package import TreeModel

/// Accounts that administrators make and change, and the sessions of their players.
extension AdminAccounts {
  private static let account = EndpointParameter.capture("uid", text: "The account: its uid, or its e-mail address.")

  package static let create = Endpoint<NoQuery, Draft, Account>(
    .post, "/admin/v1/accounts", "Makes an account; nobody is signed in to it.", access: .admin)
  package static let update = Endpoint<NoQuery, Draft, Account>(
    .patch, "/admin/v1/accounts/{uid}", "Changes what is given of an account, and nothing else.", access: .admin,
    captures: [account])
  package static let sessions = Endpoint<NoQuery, NoBody, SessionList>(
    .get, "/admin/v1/accounts/{uid}/sessions", "Where the player is signed in: the sessions that go on, newest first.",
    captures: [account])
  package static let endSessions = Endpoint<ReasonQuery, NoBody, Account>(
    .delete, "/admin/v1/accounts/{uid}/sessions", "Ends every session of the player; tokens are void at once.",
    access: .support, captures: [account])
  package static let codes = Endpoint<NoQuery, NoBody, CodeList>(
    .get, "/admin/v1/accounts/{uid}/oob-codes", "The codes that went to the account's address and number (development only).",
    access: .adminInDevelopment, captures: [account])

  /// What an administrator says of an account; what is missing is left as it is.
  package struct Draft: AdminValue {
    package var uid: String?
    package var email: String?
    package var emailVerified: Bool?
    package var displayName: String?
    package var phoneNumber: String?
    package var password: String?
    package var disabled: Bool?
    package var claims: JSON?
    package var tenant: String?
    /// Why, for the record.
    package var reason: String?

    package init(
      uid: String? = nil, email: String? = nil, emailVerified: Bool? = nil, displayName: String? = nil,
      phoneNumber: String? = nil, password: String? = nil, disabled: Bool? = nil, claims: JSON? = nil, tenant: String? = nil,
      reason: String? = nil
    ) {
      self.uid = uid
      self.email = email
      self.emailVerified = emailVerified
      self.displayName = displayName
      self.phoneNumber = phoneNumber
      self.password = password
      self.disabled = disabled
      self.claims = claims
      self.tenant = tenant
      self.reason = reason
    }

    package static let notes: [String: FieldNote] = [
      "uid": .text("of a new account; a random one if it is not given"),
      "email": .text("an empty text takes it away"),
      "displayName": .text("an empty text takes it away"),
      "phoneNumber": .text("+4915112345678; an empty text takes it away"),
      "password": .text("in plain text; the record of the change does not hold it"),
      "disabled": .text("whether nobody can sign in"),
      "claims": .text("an object of at most 1000 characters, which every token of the player bears; {} takes them away"),
      "tenant": .text("of a new account: the tenant whose player it is; no account changes its own"),
      "reason": .text("why, for the record"),
    ]
  }

  /// Where a player is signed in. The token itself is not stored, and nobody can read it.
  package struct Session: AdminValue {
    /// How the player signed in: password, google.com, anonymous.
    package var provider: String
    package var signedInAt: Timestamp
    package var usedAt: Timestamp
    /// What was shown beside the first credential.
    package var secondFactor: String?

    package init(provider: String, signedInAt: Timestamp, usedAt: Timestamp, secondFactor: String? = nil) {
      self.provider = provider
      self.signedInAt = signedInAt
      self.usedAt = usedAt
      self.secondFactor = secondFactor
    }

    package static let notes: [String: FieldNote] = [
      "provider": .text("how the player signed in: password, google.com, anonymous"),
      "usedAt": .text("when it was last seen in use, to within a day"),
      "secondFactor": .text("what was shown beside the first credential"),
    ]
  }

  /// The sessions of an account.
  package struct SessionList: AdminValue {
    package var sessions: [Session]
    /// How many there are; the list has the newest.
    package var count: Int64

    package init(sessions: [Session], count: Int64) {
      self.sessions = sessions
      self.count = count
    }

    package static let notes: [String: FieldNote] = ["count": .text("how many there are; the list has the newest")]
  }

  /// A code that was sent to a player, as development shows it.
  package struct Code: AdminValue {
    /// What it does: EMAIL_SIGNIN, PASSWORD_RESET, VERIFY_EMAIL, PHONE.
    package var kind: String
    package var to: String
    package var code: String
    package var link: String?

    package init(kind: String, to: String, code: String, link: String? = nil) {
      self.kind = kind
      self.to = to
      self.code = code
      self.link = link
    }

    package static let notes: [String: FieldNote] = [
      "kind": .text("what it does: EMAIL_SIGNIN, PASSWORD_RESET, VERIFY_EMAIL, PHONE")
    ]
  }

  /// The codes that were sent to a player, newest first.
  package struct CodeList: AdminValue {
    package var codes: [Code]

    package init(codes: [Code]) {
      self.codes = codes
    }
  }
}
