import TreeModel

extension Functions {
  private static let verified = belowAccounts("{uid}/emailVerified")
  /// The function that pays out what waited for a confirmed address.
  private static let releaseName = "releaseConfirmedRewards"

  /// Runs when an account's mail address is confirmed, and when an account comes into being with a confirmed one.
  public func onAccountConfirmed(
    name: String, options: FunctionOptions = FunctionOptions(),
    _ body: @escaping @Sendable (AccountConfirmed, FunctionContext) async throws -> Outcome
  ) {
    register(Self.verified, .onCreate, name, .any, NoSettings(), options) { run, context, _ in
      guard let place = run.details.path.parent else { return .skipped("no_account") }
      let node = try await context.node(at: place)
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
