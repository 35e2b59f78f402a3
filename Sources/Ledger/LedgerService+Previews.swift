package import RewardModel
package import StorageCore

/// What a transfer would do if it were made now.
package struct TransferPreview: Sendable {
  /// A balance before and after; the same where the transfer would change nothing.
  package struct Change: Sendable, Hashable {
    package let account: LedgerAccount
    package let unit: String
    package let before: Int64
    package let after: Int64
  }

  /// Of the account that gives, then of the one that gets; one that cannot be is left out.
  package let changes: [Change]
  /// Whether a player's balance would go below zero: the coins are spent.
  package let isSpent: Bool
  /// The entry that was made under its key before, for the same: nothing would happen.
  package let earlier: LedgerEntry?
  /// Why it would be refused; nil if it would not.
  package let refusal: LedgerError?
}

/// What a reversal would do if it were made now.
package struct ReversalPreview: Sendable {
  /// The entry that it takes back.
  package let entry: LedgerEntry
  /// The entry that took it back already; nil if none did.
  package let reversal: LedgerEntry?
  /// What it does to the balances.
  package let transfer: TransferPreview
}

extension LedgerService {
  /// Judges a transfer as ``transfer(_:in:by:)`` does, on the writer, and takes it back: nothing changes, nobody is told.
  ///
  /// - Throws: ``LedgerError`` with `unavailable`; every other refusal is part of the preview.
  package func preview(_ transfer: LedgerTransfer, in namespace: NamespaceID, by actor: Actor) async throws -> TransferPreview {
    var request = CommitRequest(namespace: namespace, actor: actor)
    request.ledger.transfers = [transfer]
    switch await rehearse(request) {
    case .success(let committed):
      guard let entry = committed.receipt.entries.first(where: { $0.transfer.key == transfer.key }) else {
        preconditionFailure("A LedgerParticipant must be among the participants of the writer.")
      }
      let given = TransferPreview.Change(
        account: transfer.debit, unit: transfer.unit, before: entry.debitAfter + transfer.amount, after: entry.debitAfter)
      let taken = TransferPreview.Change(
        account: transfer.credit, unit: transfer.unit, before: entry.creditAfter - transfer.amount, after: entry.creditAfter)
      return TransferPreview(
        changes: [given, taken], isSpent: entry.debitAfter < 0 && currencies.isHolder(transfer.debit), earlier: nil,
        refusal: nil)
    case .failure(let error):
      if case .keyTaken(let entry) = error.code, entry.transfer.hasSameBody(as: transfer) {
        return TransferPreview(changes: unchanged(transfer, in: namespace), isSpent: false, earlier: entry, refusal: nil)
      }
      let refusal = LedgerError(error)
      if refusal.code == .unavailable { throw refusal }
      return TransferPreview(
        changes: unchanged(transfer, in: namespace),
        isSpent: refusal.code == .insufficientFunds && currencies.isHolder(transfer.debit), earlier: nil, refusal: refusal)
    }
  }

  /// Judges a hold as ``hold(_:in:by:)`` does, and takes it back.
  package func preview(_ order: HoldOrder, in namespace: NamespaceID, by actor: Actor) async throws -> TransferPreview {
    try await preview(order.transfer, in: namespace, by: actor)
  }

  /// Judges a reversal as ``reverse(_:in:by:reason:policy:)`` does, and takes it back.
  ///
  /// - `reason`: nil where nobody has given one yet.
  /// - Throws: ``LedgerError`` with `notFound` or `unavailable`; every other refusal is part of the preview.
  package func previewReversal(
    of sequence: Int64, in namespace: NamespaceID, by actor: Actor, reason: String?, policy: ReversalPolicy = .allowNegative
  ) async throws -> ReversalPreview {
    let original = try original(of: sequence, in: namespace)
    let reversal = original.reversal(reason: reason, policy: policy)
    let preview = try await preview(reversal, in: namespace, by: actor)
    guard let earlier = try read({ snapshot in try snapshot.reversal(in: namespace, of: sequence) }) else {
      return ReversalPreview(entry: original, reversal: nil, transfer: preview)
    }
    let repeated = TransferPreview(
      changes: unchanged(reversal, in: namespace), isSpent: false, earlier: preview.earlier,
      refusal: preview.earlier == nil ? LedgerError(reversalOf: sequence, was: earlier) : nil)
    return ReversalPreview(entry: original, reversal: earlier, transfer: repeated)
  }

  /// The balances as they are; of an account that has no place there is none.
  private func unchanged(_ transfer: LedgerTransfer, in namespace: NamespaceID) -> [TransferPreview.Change] {
    [transfer.debit, transfer.credit].compactMap { account in
      guard let balance = try? balance(in: namespace, of: account, unit: transfer.unit) else { return nil }
      return TransferPreview.Change(account: account, unit: transfer.unit, before: balance, after: balance)
    }
  }

  private func rehearse(_ request: CommitRequest) async -> Result<CommittedRequest, CommitError> {
    await rehearse([request])[0]
  }

  /// What would become of each request, as many results as requests.
  func rehearse(_ requests: [CommitRequest]) async -> [Result<CommittedRequest, CommitError>] {
    await withCheckedContinuation { continuation in
      writer.rehearse(requests) { results in
        let ending = CommitError(.unavailable, "The server is shutting down. Try again later.")
        continuation.resume(returning: results.count == requests.count ? results : requests.map { _ in .failure(ending) })
      }
    }
  }
}

/// Which open holds are meant; everything that is given must hold.
package struct HoldFilter: Sendable, Hashable {
  /// Whose coins are held, or go back.
  package var player: String?
  /// The currency.
  package var unit: String?
  /// A part of why they are held, whatever its case.
  package var reason: String?
  /// Made not before this time, in milliseconds since 1970.
  package var since: Int64?
  /// Made not after this time, in milliseconds since 1970.
  package var until: Int64?
  /// Made after this entry.
  package var after: Int64?
  /// Made by this entry or earlier: what came since is not meant.
  package var through: Int64?

  /// All of them.
  package init() {}

  fileprivate func admits(_ hold: LedgerEntry) -> Bool {
    if let unit, !hold.transfer.unit.utf8.elementsEqual(unit.utf8) { return false }
    if let reason, !(hold.transfer.reason ?? "").lowercased().contains(reason.lowercased()) { return false }
    return hold.time >= since ?? .min && hold.time <= until ?? .max && hold.sequence > after ?? .min
      && hold.sequence <= through ?? .max
  }
}

/// What became of one of several holds, or would become.
package struct HoldOutcome: Sendable {
  /// The entry that made it.
  package let hold: Int64
  /// How it ended, or why it did not.
  package let result: Result<HoldEnding, LedgerError>
}

extension LedgerService {
  /// Holds that one request ends at most.
  package static let holdsAtOnceMax = 1000
  /// Requests that wait for the writer together: they share transactions.
  static let inFlightMax = 64
  /// Requests that the writer judges in one turn, while nobody else's are.
  private static let rehearsedMax = 100

  /// The open holds that a filter admits, oldest first.
  package func openHolds(_ filter: HoldFilter, in namespace: NamespaceID) throws -> [LedgerEntry] {
    try read { snapshot in
      let open = OpenHolds(in: namespace, snapshot)
      let holds =
        if let player = filter.player {
          try open.of(player: player, holders: Set(declaredCurrencies.map(\.holder)))
        } else {
          try open.all()
        }
      return holds.filter(filter.admits)
    }
  }

  /// Ends many holds, each by itself and once: what one is refused does not keep back the others, and what ended the same way
  /// before is repeated.
  ///
  /// - Returns: what became of each, in the order of their entries.
  package func end(
    _ sequences: Set<Int64>, by decision: HoldDecision, in namespace: NamespaceID, by actor: Actor, reason: String
  ) async -> [HoldOutcome] {
    let outcomes = await concurrently(Array(sequences)) { sequence in
      HoldOutcome(
        hold: sequence,
        result: await Self.caught {
          try await end(sequence, by: decision, in: namespace, by: actor, reason: reason)
        })
    }
    return outcomes.sorted { $0.hold < $1.hold }
  }

  /// What ``end(_:by:in:by:reason:)-(Set<Int64>,_,_,_,_)`` would do: judged on the writer, and taken back.
  ///
  /// - Throws: ``LedgerError`` with `unavailable`.
  package func previewEnding(
    _ sequences: Set<Int64>, by decision: HoldDecision, in namespace: NamespaceID, by actor: Actor
  ) async throws -> [HoldOutcome] {
    var outcomes: [HoldOutcome] = []
    var waiting: [(hold: LedgerEntry, request: CommitRequest)] = []
    func judge() async throws {
      let results = await rehearse(waiting.map(\.request))
      for (one, result) in zip(waiting, results) {
        outcomes.append(HoldOutcome(hold: one.hold.sequence, result: try Self.forecast(one.request, result: result)))
      }
      waiting = []
    }
    for sequence in sequences.sorted() {
      do throws(LedgerError) {
        let (hold, transfers) = try Self.told { try ending(sequence, by: decision, in: namespace, reason: nil) }
        var request = CommitRequest(namespace: namespace, actor: actor)
        request.ledger.transfers = transfers
        waiting.append((hold, request))
      } catch {
        outcomes.append(HoldOutcome(hold: sequence, result: .failure(error)))
      }
      if waiting.count == Self.rehearsedMax { try await judge() }
    }
    if !waiting.isEmpty { try await judge() }
    return outcomes.sorted { $0.hold < $1.hold }
  }

  private static func forecast(_ request: CommitRequest, result: Result<CommittedRequest, CommitError>) throws
    -> Result<HoldEnding, LedgerError>
  {
    switch result {
    case .success(let committed):
      let entries = request.ledger.transfers.compactMap { transfer in
        committed.receipt.entries.first { $0.transfer.key == transfer.key }
      }
      guard let first = entries.first else {
        preconditionFailure("A LedgerParticipant must be among the participants of the writer.")
      }
      return .success(HoldEnding(entry: first, rest: entries.dropFirst().first, isRepeated: false))
    case .failure(let error):
      let refusal = LedgerError(error)
      if refusal.code == .unavailable { throw refusal }
      guard refusal.code == .keyConflict, let entry = refusal.entry else { return .failure(refusal) }
      return .failure(
        LedgerError(
          .holdEnded, "It ended with entry \(entry.sequence) (\(entry.transfer.code)). A hold ends once.", entry: entry))
    }
  }

  // MARK: Many requests

  /// Does something for every element, a few at a time; the results stand in any order.
  func concurrently<Element: Sendable, Outcome: Sendable>(
    _ elements: [Element], _ body: @escaping @Sendable (Element) async -> Outcome
  ) async -> [Outcome] {
    await withTaskGroup(of: Outcome.self) { group in
      var outcomes: [Outcome] = []
      outcomes.reserveCapacity(elements.count)
      for (index, element) in elements.enumerated() {
        if index >= Self.inFlightMax, let outcome = await group.next() { outcomes.append(outcome) }
        group.addTask { await body(element) }
      }
      for await outcome in group { outcomes.append(outcome) }
      return outcomes
    }
  }

  /// What a call gives or throws; the ledger throws nothing but ``LedgerError``.
  static func caught<Success>(_ body: () async throws -> Success) async -> Result<Success, LedgerError> {
    do {
      return .success(try await body())
    } catch let error as LedgerError {
      return .failure(error)
    } catch {
      return .failure(LedgerError(.unavailable, "\(error)"))
    }
  }

  private static func told<Success>(_ body: () throws -> Success) throws(LedgerError) -> Success {
    do {
      return try body()
    } catch let error as LedgerError {
      throw error
    } catch {
      throw LedgerError(.unavailable, "\(error)")
    }
  }
}
