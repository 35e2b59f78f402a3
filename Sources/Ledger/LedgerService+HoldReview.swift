package import RewardModel
package import StorageCore

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
