package import TreeModel

/// Players' accounts, and players who leave.
package enum AdminAccounts {
  private static let account = EndpointParameter.capture("uid", text: "The account: its uid, or its e-mail address.")
  private static let player = EndpointParameter.capture("uid", text: "The player: the uid, or the account's e-mail address.")
  private static let left = EndpointParameter.capture(
    "uid", text: "The account that the player leaves: its uid, or its e-mail address.")

  package static let list = Endpoint<Query, NoBody, List>(
    .get, "/admin/v1/accounts", "The accounts, by uid; those that a search finds, with how far it looked.")
  package static let export = Endpoint<NoQuery, Query, List>(
    .post, "/admin/v1/accounts/export", "A page of the accounts for somebody who takes them along: the audit log records it.")
  package static let show = Endpoint<NoQuery, NoBody, Account>(
    .get, "/admin/v1/accounts/{uid}", "One account.", captures: [account])
  package static let disable = Endpoint<NoQuery, EmptyBody, Account>(
    .post, "/admin/v1/accounts/{uid}/disable", "Lets nobody sign in to an account; what was issued is void at once.",
    access: .support, captures: [account])
  package static let enable = Endpoint<NoQuery, EmptyBody, Account>(
    .post, "/admin/v1/accounts/{uid}/enable", "Lets the player sign in again.", access: .support, captures: [account])
  package static let removeSecondFactors = Endpoint<ReasonQuery, NoBody, Account>(
    .delete, "/admin/v1/accounts/{uid}/second-factors",
    "Takes every second factor from an account: the player lost the telephone. Its sessions end.", access: .admin,
    captures: [account])
  package static let delete = Endpoint<ReasonQuery, NoBody, Done>(
    .delete, "/admin/v1/accounts/{uid}", "Removes an account; the player's record and ledger stay.", access: .admin,
    captures: [account]
  ).withProof

  package static let erase = Endpoint<NoQuery, ErasureOrder, Erasure>(
    .post, "/admin/v1/accounts/{uid}/erase",
    "Erases a player who leaves: record, account and their past; the ledger and the chains of hashes stay.", access: .admin,
    captures: [player]
  ).withProof
  package static let previewErasure = Endpoint<NoQuery, ErasurePreviewOrder, ErasurePlan>(
    .post, "/admin/v1/accounts/{uid}/erase/preview", "What an erasure would take, and what still waits for the player.",
    captures: [player])
  package static let erasures = Endpoint<ErasureQuery, NoBody, ErasureList>(
    .get, "/admin/v1/erasures", "The players who were erased, by uid.", isScoped: true)

  package static let merge = Endpoint<NoQuery, MergeOrder, Merge>(
    .post, "/admin/v1/accounts/{uid}/merge",
    "Moves a player's referral, and if asked for coins and record, to another account of the player's, once.",
    access: .admin, captures: [left]
  ).withProof
  package static let previewMerge = Endpoint<NoQuery, MergePreviewOrder, Merge>(
    .post, "/admin/v1/accounts/{uid}/merge/preview", "What a merge would move, or what it did.", captures: [left])

  /// A player's account: a `UserInfo`, member for member as the Identity Toolkit's methods answer it to the player. That
  /// format has one writer, which is the surface's; here is what commands read of it.
  package struct Account: Sendable {
    package let userInfo: JSON

    package init(userInfo: JSON) {
      self.userInfo = userInfo
    }

    package var localID: String { userInfo["localId"]?.string ?? "" }
    package var email: String? { userInfo["email"]?.string }
    /// The tenant whose player it is.
    package var tenantID: String? { userInfo["tenantId"]?.string }
    package var displayName: String? { userInfo["displayName"]?.string }
    package var isDisabled: Bool { userInfo["disabled"]?.bool ?? false }
    /// Where it has identities; none of an anonymous one.
    package var providerIDs: [String] {
      (userInfo["providerUserInfo"]?.array ?? []).compactMap { $0["providerId"]?.string }
    }
  }

  /// How an account may be.
  package enum State: String, AdminWord, Hashable {
    case disabled
    case enabled
    case anonymous
  }

  /// What accounts are listed by.
  package enum Order: String, AdminWord, Hashable {
    case uid
    case email
  }

  /// Which accounts are wanted.
  package struct Query: AdminValue {
    package var limit: Int64?
    package var email: String?
    package var phone: String?
    package var cursor: String?
    package var q: String?
    package var provider: String?
    package var state: State?
    package var count: Bool?
    package var tenant: String?
    package var sort: Order?

    package init(
      limit: Int64? = nil, email: String? = nil, phone: String? = nil, cursor: String? = nil, q: String? = nil,
      provider: String? = nil, state: State? = nil, count: Bool? = nil, tenant: String? = nil, sort: Order? = nil
    ) {
      self.limit = limit
      self.email = email
      self.phone = phone
      self.cursor = cursor
      self.q = q
      self.provider = provider
      self.state = state
      self.count = count
      self.tenant = tenant
      self.sort = sort
    }

    package static let notes: [String: FieldNote] = [
      "limit": .limit(50),
      "email": .only(.filled, text: "Only the account with this e-mail address."),
      "phone": .only(.filled, text: "Only the account with this telephone number."),
      "cursor": .only(.filled, text: "The \"next\" of an earlier page, to go on behind it."),
      "q": .only(.filled, text: "Only accounts whose uid or e-mail address begins so."),
      "provider": .only(.filled, text: "Only accounts with an identity of this provider: password, google.com."),
      "state": .text("Only accounts in this state."),
      "count": .text("False: all accounts are not counted, which takes long where there are millions."),
      "tenant": .only(.filled, text: "Only accounts of this tenant; without it those of every tenant are listed, too."),
      "sort": .text("With email: by e-mail address, only accounts that have one, and of one tenant or of none; else by uid."),
    ]
  }

  /// Accounts, by uid or by e-mail address.
  package struct List: AdminValue {
    package var accounts: [Account]
    /// How many there are in all; where some were looked for: how many this page has. Nil where it was not asked for.
    package var count: Int64?
    /// The next page's cursor.
    package var next: String?
    /// How many accounts were looked at for those that are wanted.
    package var scanned: Int64?

    package init(accounts: [Account], count: Int64?, next: String? = nil, scanned: Int64? = nil) {
      self.accounts = accounts
      self.count = count
      self.next = next
      self.scanned = scanned
    }

    package static let notes: [String: FieldNote] = [
      "count": .text("how many there are in all; where some were looked for: how many this page has"),
      "next": .text("the next page's cursor"),
      "scanned": .text("how many accounts were looked at for those that are wanted"),
    ]
  }
}

extension AdminAccounts.Account: Codable, SchemaDeclaring {
  static var schema: JSONSchema {
    .object([
      .always("localId", schema: .text), .always("createdAt", schema: .text), .always("disabled", schema: .boolean),
      .maybe("email", schema: .text),
      .maybe("tenantId", schema: .text), .maybe("displayName", schema: .text), .maybe("providerUserInfo", schema: .list(.any)),
    ])
  }

  static var sample: AdminAccounts.Account { AdminAccounts.Account(userInfo: [:]) }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    userInfo = try container.decode(JSON.self)
    guard !localID.isEmpty else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"localId\" is missing")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(userInfo)
  }
}
