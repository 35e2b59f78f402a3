package import TreeModel

/// Who may administer, what the rules say, which mails were shown.
package enum AdminAccess {
  package static let serviceAccounts = Endpoint<NoQuery, NoBody, ServiceAccountList>(
    .get, "/admin/v1/service-accounts", "The service accounts, revoked ones too, oldest first.")
  package static let createServiceAccount = Endpoint<NoQuery, ServiceAccountOrder, CreatedServiceAccount>(
    .post, "/admin/v1/service-accounts",
    "Makes a service account; the answer holds its key file, which nobody can ask for again.", access: .admin)
  package static let revokeServiceAccount = Endpoint<ReasonQuery, NoBody, Done>(
    .delete, "/admin/v1/service-accounts/{name}", "Revokes a service account: its tokens are void from now on.",
    access: .admin, captures: [.capture("name", text: "The account's name.")]
  ).withProof

  package static let explainRules = Endpoint<NoQuery, ExplainOrder, Explanation>(
    .post, "/admin/v1/rules/explain",
    "Tries an operation in somebody's name and says what the rules say; nothing is done.", isScoped: true)
  package static let indexes = Endpoint<NoQuery, NoBody, IndexList>(
    .get, "/admin/v1/indexes", "The indexes of the rules and how far each is built; ns (all namespaces without).",
    isScoped: true)

  package static let mails = Endpoint<MailQuery, NoBody, MailList>(
    .get, "/admin/v1/mail", "The mails that were shown instead of sent, newest first (development only).",
    access: .adminInDevelopment)
  package static let testMail = Endpoint<NoQuery, TestMailOrder, OrderedMail>(
    .post, "/admin/v1/mail/test", "Has a mail sent, to see whether it arrives.", access: .admin)
  package static let mailOrder = Endpoint<NoQuery, NoBody, MailOrderState>(
    .get, "/admin/v1/mail/orders/{key...}", "What became of a mail that was ordered.",
    captures: [.capture("key", text: "The order's key.")])

  package static let routes = Endpoint<NoQuery, NoBody, [RouteEntry]>(.get, "/admin/v1", "This list.")

  /// Who may administer, as what.
  package struct ServiceAccount: AdminValue {
    package var name: String
    package var role: String
    package var email: String
    package var keyID: String
    package var tokenURI: String
    package var createdAt: Timestamp
    package var createdBy: String
    package var revokedAt: Timestamp?

    private enum CodingKeys: String, CodingKey {
      case name
      case role
      case email
      case keyID = "keyId"
      case tokenURI = "tokenUri"
      case createdAt
      case createdBy
      case revokedAt
    }

    package init(
      name: String, role: String, email: String, keyID: String, tokenURI: String, createdAt: Timestamp, createdBy: String,
      revokedAt: Timestamp? = nil
    ) {
      self.name = name
      self.role = role
      self.email = email
      self.keyID = keyID
      self.tokenURI = tokenURI
      self.createdAt = createdAt
      self.createdBy = createdBy
      self.revokedAt = revokedAt
    }
  }

  /// The service accounts, revoked ones too, oldest first.
  package struct ServiceAccountList: AdminValue {
    package var serviceAccounts: [ServiceAccount]

    package init(serviceAccounts: [ServiceAccount]) {
      self.serviceAccounts = serviceAccounts
    }
  }

  /// A service account to make.
  package struct ServiceAccountOrder: AdminValue {
    /// A small letter, then small letters, digits and hyphens.
    package var name: String
    package var role: String
    /// Part of the account's address; the server's project without it.
    package var project: String?
    /// This server's address as the account will reach it.
    package var server: String

    package init(name: String, role: String, project: String? = nil, server: String) {
      self.name = name
      self.role = role
      self.project = project
      self.server = server
    }

    package static let notes: [String: FieldNote] = [
      "name": .only(.form("^[a-z][a-z0-9-]{0,62}$"), text: "a small letter, then small letters, digits and hyphens"),
      "role": .only(.choice(["viewer", "support", "admin"])),
      "project": .only(.form("^[A-Za-z0-9-]{1,48}$"), text: "part of the account's address; the server's project without it"),
      "server": .only(.form("^https?://[^/?#]+.*$"), text: "this server's address as the account will reach it"),
    ]
  }

  /// A service account with its key.
  package struct CreatedServiceAccount: AdminValue {
    package var account: ServiceAccount
    /// The key file's content.
    package var key: JSON

    package init(account: ServiceAccount, key: JSON) {
      self.account = account
      self.key = key
    }

    package static let notes: [String: FieldNote] = [
      "key": .only(.object([.always("token_uri", schema: .text)]), text: "the key file's content")
    ]
  }

  /// What is tried.
  package enum Operation: String, AdminWord, Hashable {
    case read
    case set
    case update
    case delete
  }

  /// An operation to try in somebody's name.
  package struct ExplainOrder: AdminValue {
    /// What is tried.
    package var operation: Operation
    /// Where: /users/bob.
    package var path: String
    /// Of a set or an update.
    package var value: JSON?
    /// Who asks: an object, as rules see it; null or nothing: nobody.
    package var auth: JSON?
    /// Who asks: the account of this uid or e-mail address, signed in.
    package var account: String?
    /// Of a read: the query object of the socket protocol.
    package var query: JSON?

    package init(
      operation: Operation, path: String, value: JSON? = nil, auth: JSON? = nil, account: String? = nil, query: JSON? = nil
    ) {
      self.operation = operation
      self.path = path
      self.value = value
      self.auth = auth
      self.account = account
      self.query = query
    }

    package static let notes: [String: FieldNote] = [
      "operation": .text("what is tried"),
      "path": .text("where: /users/bob"),
      "value": .text("of a set or an update"),
      "auth": .text("who asks: an object, as rules see it; null or nothing: nobody"),
      "account": .only(.filled, text: "who asks, instead of auth: the account of this uid or e-mail address, signed in"),
      "query": .text("of a read: the query object of the socket protocol"),
    ]
  }

  /// What the rules say of an operation.
  package struct Explanation: AdminValue {
    package var operation: String
    package var allowed: Bool
    /// False where nobody has put any: then development allows everything, and production nothing.
    package var hasRules: Bool
    /// For people.
    package var text: String
    /// Every rule that was asked, in order, and what it looked at, as `rules test --json` prints it too.
    package var rules: [JSON]
    /// What the rules saw as `auth`; null for nobody.
    package var auth: JSON

    package init(operation: String, allowed: Bool, hasRules: Bool = true, text: String, rules: [JSON], auth: JSON) {
      self.operation = operation
      self.allowed = allowed
      self.hasRules = hasRules
      self.text = text
      self.rules = rules
      self.auth = auth
    }

    package static let notes: [String: FieldNote] = [
      "hasRules": .text("false where nobody has put any: then development allows everything, and production nothing"),
      "auth": .text("what the rules saw as auth; null for nobody"),
      "text": .text("for people"),
      "rules": .only(.list(.object([])), text: "every rule that was asked, in order, and what it looked at"),
    ]
  }

  /// How far an index is.
  package enum IndexState: String, AdminWord, Hashable {
    case building
    case ready
    case dropping
  }

  /// An index of the rules.
  package struct Index: AdminValue {
    package var namespace: String
    /// Where the parents stand.
    package var path: String
    /// What their children are ordered by.
    package var index: String
    package var state: IndexState
    package var childrenIndexed: Int64
    /// How far building is.
    package var at: String?
    /// Why it does not go on.
    package var problem: String?

    package init(
      namespace: String, path: String, index: String, state: IndexState, childrenIndexed: Int64, at: String? = nil,
      problem: String? = nil
    ) {
      self.namespace = namespace
      self.path = path
      self.index = index
      self.state = state
      self.childrenIndexed = childrenIndexed
      self.at = at
      self.problem = problem
    }

    package static let notes: [String: FieldNote] = [
      "path": .text("where the parents stand"),
      "index": .text("what their children are ordered by"),
      "at": .text("how far building is"),
      "problem": .text("why it does not go on"),
    ]
  }

  /// The indexes of the rules.
  package struct IndexList: AdminValue {
    package var indexes: [Index]

    package init(indexes: [Index]) {
      self.indexes = indexes
    }
  }

  /// How many mails are wanted.
  package struct MailQuery: AdminValue {
    package var limit: Int64?

    package init(limit: Int64? = nil) {
      self.limit = limit
    }

    package static let notes: [String: FieldNote] = [
      "limit": .limit(50)
    ]
  }

  /// A mail that was shown instead of sent.
  package struct Mail: AdminValue {
    package var time: Timestamp
    package var kind: String
    package var to: String
    package var from: String?
    package var subject: String
    package var text: String
    package var html: String?
    /// The first link in the text.
    package var link: String?

    package init(
      time: Timestamp, kind: String, to: String, from: String?, subject: String, text: String, html: String?, link: String?
    ) {
      self.time = time
      self.kind = kind
      self.to = to
      self.from = from
      self.subject = subject
      self.text = text
      self.html = html
      self.link = link
    }

    package static let notes: [String: FieldNote] = [
      "link": .text("the first link in the text")
    ]
  }

  /// Mails that were shown, newest first.
  package struct MailList: AdminValue {
    package var mails: [Mail]

    package init(mails: [Mail]) {
      self.mails = mails
    }
  }

  /// A mail to send, to see whether it arrives.
  package struct TestMailOrder: AdminValue {
    /// An address, with a name or without.
    package var to: String
    package var subject: String?
    package var text: String?
    package var html: String?

    package init(to: String, subject: String? = nil, text: String? = nil, html: String? = nil) {
      self.to = to
      self.subject = subject
      self.text = text
      self.html = html
    }

    package static let notes: [String: FieldNote] = [
      "to": .only(.filled, text: "an address, with a name or without")
    ]
  }

  /// A mail that was ordered.
  package struct OrderedMail: AdminValue {
    package var status: Done.Status
    /// Of the order in the outbox, whose record has the outcome.
    package var key: String

    package init(status: Done.Status, key: String) {
      self.status = status
      self.key = key
    }

    package static let notes: [String: FieldNote] = [
      "key": .text("of the order in the outbox; what became of it stands there")
    ]
  }

  /// What became of a mail.
  package enum MailState: String, AdminWord, Hashable {
    case waiting
    case delivered
    case dead
  }

  /// What became of a mail that was ordered.
  package struct MailOrderState: AdminValue {
    package var key: String
    package var state: MailState
    package var attempts: Int64
    package var lastError: String?

    package init(key: String, state: MailState, attempts: Int64, lastError: String? = nil) {
      self.key = key
      self.state = state
      self.attempts = attempts
      self.lastError = lastError
    }
  }

  /// An address of the surface.
  package struct RouteEntry: AdminValue {
    package var method: String
    package var path: String
    package var summary: String
    /// What it takes.
    package var role: String

    package init(method: String, path: String, summary: String, role: String) {
      self.method = method
      self.path = path
      self.summary = summary
      self.role = role
    }

    package static let notes: [String: FieldNote] = [
      "role": .text("what it takes")
    ]
  }
}
