import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// Turns what a run asked for into one request: all of it is committed together with the record of the run, or nothing.
struct EffectRequest {
  let delivery: Delivery
  let definition: FunctionDefinition
  let currencies: [Currency]
  let reader: any RunReader

  /// - Throws: `PermanentError` for a payment to a path that is no balance.
  func make(_ effects: FunctionEffects, execution: ExecutionRecord, at now: Int64) throws -> CommitRequest {
    let cause = Cause(event: delivery.event, function: definition.name, hop: delivery.facts.record.hop + 1)
    var request = CommitRequest(
      namespace: delivery.namespace, actor: .function(definition.name), operations: effects.operations)
    request.preconditions.expectations = effects.assumptions.map { CommitRequest.Expectation(path: $0.path, node: $0.node) }
    request.rows.records = records(effects)
    request.rows.playerEvents = playerEvents(effects)
    var rewarded = rewarded(effects.postings)
    request.ledger.transfers =
      try transfers(effects.postings, records: &request.rows.records) + releases(effects.releases, rewarded: &rewarded)
    try RewardMemory(reader: reader).remember(rewarded, in: &request)
    request.rows.outbox = effects.messages.map { message in
      OutboxRecord(
        key: "\(delivery.facts.text)/\(definition.name)/\(message.outlet)/\(message.label)", outlet: message.outlet,
        payload: String(decoding: message.payload.json(.plain), as: UTF8.self), cause: cause, state: .waiting, attempts: 0,
        nextAttemptAt: now, lastError: nil, createdAt: now)
    }
    request.triggers.execution = execution
    request.log.cause = cause
    return request
  }

  private func transfers(_ postings: [FunctionEffects.Posting], records: inout [KeyedRecordChange]) throws(PermanentError)
    -> [LedgerTransfer]
  {
    var transfers: [LedgerTransfer] = []
    var codes: Set<String> = []
    for posting in postings {
      let (account, unit) = try balance(at: posting.path)
      let isFirst = posting.key != nil || codes.insert(posting.code).inserted
      let outside = LedgerAccount("\(posting.direction == .credit ? "issuance" : "redemption"):\(posting.code)")
      let key = key(of: posting, account: isFirst ? nil : account)
      // In the player's name: there administrators look for holds.
      let receiver = posting.hold == nil ? account : LedgerAccount.hold(String(account.owner))
      if let player = posting.hold?.confirmedBy {
        let reward = WaitingReward(receiver: account.name, isRemembered: posting.rewarded != nil)
        records.append(KeyedRecordChange(kind: RewardRecord.unconfirmed, key: "\(player)/\(key)", value: reward.text))
      }
      transfers.append(
        LedgerTransfer(
          debit: posting.direction == .credit ? outside : account, credit: posting.direction == .credit ? receiver : outside,
          amount: posting.amount, unit: unit, code: posting.hold == nil ? posting.code : LedgerAccount.holdKind, key: key,
          event: delivery.facts.text, function: definition.name, subject: posting.subject,
          reason: [posting.hold?.reason, posting.note].compactMap(\.self).joined(separator: "; ").nilIfEmpty))
    }
    return transfers
  }

  /// The records beside the tree that change: each must still be what the run saw.
  private func records(_ effects: FunctionEffects) -> [KeyedRecordChange] {
    effects.records.map { change in
      KeyedRecordChange(
        kind: change.kind, key: change.key, value: change.value, expecting: change.expected.map { .value($0) } ?? .absent)
    }
  }

  private func playerEvents(_ effects: FunctionEffects) -> [PlayerEvent] {
    effects.playerEvents.map { event in
      PlayerEvent(
        uid: event.player, name: event.name,
        parameters: event.parameters.sorted { $0.key < $1.key }.map { PlayerEvent.Parameter(name: $0.key, value: $0.value) },
        once: event.key ?? "\(delivery.facts.text)/\(definition.name)")
    }
  }

  /// For whom it is remembered that rewards of these codes were paid. What waits for a confirmation is not paid yet: who had
  /// somebody else's address would spoil it by leaving.
  private func rewarded(_ postings: [FunctionEffects.Posting]) -> [String: Set<String>] {
    postings.reduce(into: [:]) { found, posting in
      guard let player = posting.rewarded, posting.hold?.confirmedBy == nil else { return }
      found[player, default: []].insert(posting.code)
    }
  }

  /// What pays held coins out, or gives them back where the confirmed address turns out to be of somebody who was paid before;
  /// a hold that ended otherwise meanwhile is left out.
  private func releases(_ releases: [FunctionEffects.Release], rewarded: inout [String: Set<String>]) throws
    -> [LedgerTransfer]
  {
    var transfers: [LedgerTransfer] = []
    for release in releases {
      guard let hold = try reader.entry(release.key), hold.transfer.credit.isHold,
        try !reader.isPaid(BusinessKey.holdEnd(of: hold.sequence).text)
      else { continue }
      let source = hold.transfer.debit
      let code = String(source.owner)
      let isReturning = try release.reward.isRemembered && reader.wasPaid(release.player, code)
      if release.reward.isRemembered, !isReturning { rewarded[release.player, default: []].insert(code) }
      transfers.append(
        LedgerTransfer(
          debit: hold.transfer.credit, credit: isReturning ? source : LedgerAccount(release.reward.receiver),
          amount: hold.transfer.amount, unit: hold.transfer.unit, code: isReturning ? "void" : "release",
          key: .holdEnd(of: hold.sequence), event: delivery.facts.text, function: definition.name,
          subject: hold.transfer.subject, reason: isReturning ? "returning_identity" : "the address was confirmed"))
    }
    return transfers
  }

  /// The business key. One run may pay several players under one code: from the second on the account is part of the key.
  private func key(of posting: FunctionEffects.Posting, account: LedgerAccount?) -> BusinessKey {
    if let key = posting.key { return BusinessKey(key) }
    let key = "\(delivery.facts.text)/\(definition.name)/\(posting.code)"
    return BusinessKey(account.map { "\(key)/\($0)" } ?? key)
  }

  private func balance(at path: Path) throws(PermanentError) -> (LedgerAccount, unit: String) {
    for currency in currencies {
      if let account = currency.account(at: path) { return (account, currency.unit) }
    }
    throw PermanentError("\(path) is no currency's balance; nothing was paid. \(Currency.advice(beside: currencies))")
  }
}

extension String {
  fileprivate var nilIfEmpty: String? { isEmpty ? nil : self }
}

/// Remembers for whom rewards are paid, in the request that pays them: by the account, or by the identities of one that is gone.
struct RewardMemory {
  let reader: any RunReader

  /// - `rewarded`: the codes of the rewards, by player.
  func remember(_ rewarded: [String: Set<String>], in request: inout CommitRequest) throws {
    // What nobody will look at is not remembered.
    guard let identities = reader.identities else { return }
    for (player, codes) in rewarded.sorted(by: { $0.key < $1.key }) {
      // An account that goes at the same moment takes along what it sees; whatever comes second must see the other.
      let place = AccountRecord.path(of: player).child(Key(unchecked: "uid"))
      let standing = try reader.latestNode(place)
      request.preconditions.expectations.append(CommitRequest.Expectation(path: place, node: standing))
      let former = standing.exists ? nil : try reader.record(FormerIdentities.kind, player)
      guard let former = former.flatMap({ FormerIdentities(stored: $0) }) else {
        try add(codes, to: PaidRewards.playerKind, key: player, of: nil, until: nil, in: &request)
        continue
      }
      for hash in former.hashes {
        try add(
          codes, to: PaidRewards.identityKind, key: hash, of: identities.player(player), until: former.paidUntil, in: &request)
      }
    }
  }

  private func add(
    _ codes: Set<String>, to kind: String, key: String, of player: String?, until end: Int64?,
    in request: inout CommitRequest
  ) throws {
    let stored = try reader.record(kind, key)
    let before = stored.map { PaidRewards(stored: $0) } ?? PaidRewards()
    let after = before.adding(codes, of: player, until: end)
    guard after != before else { return }
    request.rows.records.append(
      KeyedRecordChange(kind: kind, key: key, value: after.text, expecting: stored.map { .value($0) } ?? .absent))
  }
}

/// What a run that comes late may still write.
///
/// A retry, a replay or a redelivery may run long after its event. What adds up (payments, increments) is right at any
/// time, and a `transaction` looks at the latest value. A plain set or removal is not: it would put an old value over a
/// newer one. Such a write is *stale* if its path is not what it was at the event; it is withheld, and the execution says
/// so. The others get an expectation, so that the writer judges them again on the state that they are applied to.
struct LateWrites {
  let reader: any RunReader
  private(set) var expectations: [CommitRequest.Expectation] = []
  private var stale: [Path] = []

  init(reader: any RunReader) {
    self.reader = reader
  }

  /// What was withheld; nil if nothing was.
  var reason: String? {
    guard let first = stale.first else { return nil }
    let others = stale.count > 1 ? " and \(stale.count - 1) more" : ""
    return "stale: \(first)\(others) was changed since the event, and was left as it is"
  }

  /// The effects without the writes that are stale.
  mutating func withholdStale(in effects: FunctionEffects) throws -> FunctionEffects {
    var kept: [WriteOperation] = []
    let transactions = Set(effects.assumptions.map(\.operation))
    for (index, operation) in effects.operations.enumerated() {
      // A transaction brings its own expectation, on the latest value; but it went on from what the run wrote before.
      let isKept = try transactions.contains(index) ? !restsOnStale(operation) : isCurrent(operation)
      if isKept { kept.append(operation) }
    }
    return effects.replacingOperations(kept)
  }

  private mutating func restsOnStale(_ operation: WriteOperation) -> Bool {
    let place = PathBytes(operation.path)
    guard stale.contains(where: { PathBytes($0).contains(place) || place.contains(PathBytes($0)) }) else { return false }
    stale.append(operation.path)
    return true
  }

  private mutating func isCurrent(_ operation: WriteOperation) throws -> Bool {
    var expected: [CommitRequest.Expectation] = []
    for assignment in operation.assignments where !assignment.commutes {
      let known = try reader.nodeAtEvent(assignment.path)
      let latest = try reader.latestNode(assignment.path)
      // Writing the value that is there already does no harm.
      guard latest == known || latest == assignment.plainNode else {
        stale.append(assignment.path)
        return false
      }
      expected.append(CommitRequest.Expectation(path: assignment.path, node: latest))
    }
    expectations += expected
    return true
  }
}

extension WriteOperation.Assignment {
  /// The value at its path afterwards, if that is known.
  fileprivate var plainNode: TreeNode? {
    guard case .node(let write) = value, write.slots.isEmpty else { return nil }
    return write.node
  }

  /// Whether it comes to the same at any time: it only adds to a number.
  fileprivate var commutes: Bool {
    guard case .node(let write) = value, write.slots.count == 1, let slot = write.slots.first, slot.path.depth == 0,
      !slot.isPriority, case .increment = slot.value
    else { return false }
    return true
  }
}
