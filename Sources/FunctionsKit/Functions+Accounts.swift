import TreeModel

/// Functions that run when players' accounts come, get an identity, and go: with coins, outbox and replay like all others.
extension Functions {
  private static let account = belowAccounts("{uid}")
  private static let link = belowAccounts("{uid}/links/{provider}")

  static func belowAccounts(_ pattern: PathPattern) -> Result<TriggerPath, TreePathError> {
    .success(TriggerPath(pattern: pattern.belowAccounts, players: ["uid"]) { nil })
  }

  /// Runs when an account comes into being: anonymous, with a password, by an administrator, by an import.
  public func onAccountCreated(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountCreated, FunctionContext) async throws -> Outcome
  ) {
    register(Self.account, trigger: .onCreate, name: name, filter: .any, defaults: NoSettings(), options: options) {
      run, context, _ in
      try await body(AccountCreated(account: run.after.decoded(), details: run.details), context)
    }
  }

  /// Runs when an account that existed gets an identity: an anonymous player who adds a password, a player who adds a second
  /// provider.
  public func onAccountLinked(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountLinked, FunctionContext) async throws -> Outcome
  ) {
    register(Self.link, trigger: .onCreate, name: name, filter: .any, defaults: NoSettings(), options: options) {
      run, context, _ in
      guard let accountPath = run.details.path.parent?.parent else { return .skipped("no_account") }
      let node = try await context.node(at: accountPath)
      // Gone in the same commit.
      guard node.exists else { return .skipped("no_account") }
      let event = AccountLinked(
        account: try node.decoded(), provider: run.captures.last ?? "",
        wasAnonymous: run.after.scalar?.stringValue == "anonymous", details: run.details)
      return try await body(event, context)
    }
  }

  /// Runs when an account goes: deleted by its player, by an administrator, or because nobody used it.
  public func onAccountDeleted(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountDeleted, FunctionContext) async throws -> Outcome
  ) {
    register(Self.account, trigger: .onDelete, name: name, filter: .any, defaults: NoSettings(), options: options) {
      run, context, _ in
      try await body(AccountDeleted(account: run.before.decoded(), details: run.details), context)
    }
  }
}

extension FunctionContext {
  /// A player's account as of the event's commit; nil if there is none.
  public func account(_ uid: UserID) async throws -> PlayerAccount? {
    let node = try await node(at: Self.accountPath(of: uid))
    return node.exists ? try TreeNodeDecoder.decode(PlayerAccount.self, from: node) : nil
  }

  /// Where the public part of an account is.
  static func accountPath(of uid: UserID) -> Path {
    // A percent sign is encoded in the path of an account.
    let key = uid.text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
    return Path(keys: [.accounts, Key(unchecked: key)])
  }
}

/// An account came into being.
public struct AccountCreated: Sendable {
  /// The account as of the event.
  public let account: PlayerAccount
  /// When, where and by whom.
  public let details: EventDetails
}

/// An account that existed got another identity: a password, a telephone, a Google account. Its uid stays.
public struct AccountLinked: Sendable {
  /// The account as of the event.
  public let account: PlayerAccount
  /// What was added: `password`, `phone`, `google.com`.
  public let provider: String
  /// Whether the account was anonymous until then: the player can no longer lose it with the device.
  public let wasAnonymous: Bool
  /// When, where and by whom.
  public let details: EventDetails
}

/// An account went.
public struct AccountDeleted: Sendable {
  /// The account as it was last.
  public let account: PlayerAccount
  /// When, where and by whom.
  public let details: EventDetails
}

/// A player's account, as far as functions may know it: nothing of passwords and tokens.
public struct PlayerAccount: Codable, Sendable, Hashable {
  /// What the tree and the ledger call the player.
  public let uid: UserID
  /// When it was made, in milliseconds since 1970.
  public let createdAt: Int64
  /// Whether nothing but a token on some device proves who it belongs to.
  public let isAnonymous: Bool
  /// In lower case.
  public let email: String?
  /// Whether the address was seen to be the player's.
  public let isEmailVerified: Bool
  /// The name to show.
  public let displayName: String?
  /// With its plus.
  public let phoneNumber: String?
  /// Whether nobody can sign in.
  public let isDisabled: Bool
  /// An administrator's claims, as JSON text.
  public let claims: String?
  /// Who the player is elsewhere, by provider: `password`, `phone`, `google.com`.
  public let providers: [String: String]

  /// A keyed hash of the client network that the account was made from: the same for players behind one address. Nil if an
  /// administrator or an import made it.
  public let network: String?
  /// The tenant whose player it is; nil for a player of the project itself.
  public let tenantID: String?

  private enum CodingKeys: String, CodingKey {
    case uid, createdAt, email, displayName, phoneNumber, claims, providers, network
    case tenantID = "tenantId"
    case isAnonymous = "anonymous"
    case isEmailVerified = "emailVerified"
    case isDisabled = "disabled"
  }

  /// Reads what the engine stored, where what is false or empty is left out.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    uid = try fields.decode(UserID.self, forKey: .uid)
    createdAt = try fields.decode(Int64.self, forKey: .createdAt)
    isAnonymous = try fields.decodeIfPresent(Bool.self, forKey: .isAnonymous) ?? false
    email = try fields.decodeIfPresent(String.self, forKey: .email)
    isEmailVerified = try fields.decodeIfPresent(Bool.self, forKey: .isEmailVerified) ?? false
    displayName = try fields.decodeIfPresent(String.self, forKey: .displayName)
    phoneNumber = try fields.decodeIfPresent(String.self, forKey: .phoneNumber)
    isDisabled = try fields.decodeIfPresent(Bool.self, forKey: .isDisabled) ?? false
    claims = try fields.decodeIfPresent(String.self, forKey: .claims)
    providers = try fields.decodeIfPresent([String: String].self, forKey: .providers) ?? [:]
    network = try fields.decodeIfPresent(String.self, forKey: .network)
    tenantID = try fields.decodeIfPresent(String.self, forKey: .tenantID)
  }
}

extension Functions {
  private static let verified = belowAccounts("{uid}/emailVerified")
  /// The function that pays out what waited for a confirmed address.
  private static let releaseName = "releaseConfirmedRewards"

  /// Runs when an account's mail address is confirmed, and when an account comes into being with a confirmed one.
  public func onAccountConfirmed(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountConfirmed, FunctionContext) async throws -> Outcome
  ) {
    register(Self.verified, trigger: .onCreate, name: name, filter: .any, defaults: NoSettings(), options: options) {
      run, context, _ in
      guard let accountPath = run.details.path.parent else { return .skipped("no_account") }
      let node = try await context.node(at: accountPath)
      guard node.exists else { return .skipped("no_account") }
      return try await body(AccountConfirmed(account: node.decoded(), details: run.details), context)
    }
  }

  /// Has rewards paid out that wait for a confirmed address: registers `releaseConfirmedRewards`, once.
  ///
  /// - Returns: what ``RewardTerms/confirmation`` asks for.
  public func confirmation() -> Confirmation {
    if !definitions.contains(where: { $0.name == Self.releaseName }) {
      onAccountConfirmed(name: Self.releaseName) { event, context in
        try context.releaseRewards(awaiting: event.account.uid) ? .done : .skipped("nothing_held")
      }
    }
    return Confirmation()
  }
}

/// An account's mail address was confirmed: by a code that was mailed, by a provider, by an administrator.
public struct AccountConfirmed: Sendable {
  /// The account as of the event.
  public let account: PlayerAccount
  /// When, where and by whom.
  public let details: EventDetails
}

/// What pays out rewards that wait until a player's address is confirmed. Made by ``Functions/confirmation()`` only, so that
/// nothing waits that nobody would pay out.
public struct Confirmation: Sendable {
  init() {}
}
