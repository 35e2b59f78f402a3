import TreeModel

/// Functions that run when players' accounts come, get an identity, and go: with coins, outbox and replay like all others.
extension Functions {
  private static let account = belowAccounts("{uid}")
  private static let link = belowAccounts("{uid}/links/{provider}")

  static func belowAccounts(_ pattern: PathPattern) -> Result<TriggerPlace, TreePathError> {
    .success(TriggerPlace(pattern: pattern.belowAccounts, players: ["uid"]) { nil })
  }

  /// Runs when an account comes into being: anonymous, with a password, by an administrator, by an import.
  public func onAccountCreated(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountCreated, FunctionContext) async throws -> Outcome
  ) {
    register(Self.account, .onCreate, name, .any, NoSettings(), options) { run, context, _ in
      try await body(AccountCreated(account: run.after.decoded(), details: run.details), context)
    }
  }

  /// Runs when an account that existed gets an identity: an anonymous player who adds a password, a player who adds a second
  /// provider.
  public func onAccountLinked(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountLinked, FunctionContext) async throws -> Outcome
  ) {
    register(Self.link, .onCreate, name, .any, NoSettings(), options) { run, context, _ in
      guard let place = run.details.path.parent?.parent else { return .skipped("no_account") }
      let node = try await context.node(at: place)
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
    register(Self.account, .onDelete, name, .any, NoSettings(), options) { run, context, _ in
      try await body(AccountDeleted(account: run.before.decoded(), details: run.details), context)
    }
  }
}

extension FunctionContext {
  /// A player's account as of the event's commit; nil if there is none.
  public func account(_ uid: UserID) async throws -> PlayerAccount? {
    let node = try await node(at: Self.accountPlace(of: uid))
    return node.exists ? try TreeNodeDecoder.decode(PlayerAccount.self, from: node) : nil
  }

  /// Where the public part of an account stands.
  static func accountPlace(of uid: UserID) -> Path {
    // A percent sign stands encoded in the place of an account.
    let key = uid.text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%25")
    return Path(keys: [.accounts, Key(unchecked: key)])
  }
}
