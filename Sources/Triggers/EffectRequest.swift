import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// Turns what a run asked for into one request: all of it is committed together with the record of the run, or nothing.
struct EffectRequest {
  let delivery: Delivery
  let definition: FunctionDefinition
  let currencies: [Currency]
  let reader: RunReader

  /// - Throws: `PermanentFailure` for a payment to a place that is no balance.
  func make(_ effects: FunctionEffects, _ execution: ExecutionRecord, at now: Int64) throws -> CommitRequest {
    let cause = Cause(event: delivery.event, function: definition.name, hop: delivery.facts.record.hop + 1)
    var request = CommitRequest(
      namespace: delivery.namespace, actor: .function(definition.name), operations: effects.operations)
    request.expectations = effects.assumptions.map { CommitRequest.Expectation(path: $0.path, node: $0.node) }
    request.records = records(effects)
    try remember(effects.postings, in: &request)
    request.transfers = try transfers(effects.postings, &request.records) + releases(effects.releases)
    request.outbox = effects.messages.map { message in
      OutboxRecord(
        key: "\(delivery.facts.text)/\(definition.name)/\(message.outlet)/\(message.label)", outlet: message.outlet,
        payload: String(decoding: message.payload.json(.plain), as: UTF8.self), cause: cause, state: .waiting, attempts: 0,
        nextAttemptAt: now, lastError: nil, createdAt: now)
    }
    request.execution = execution
    request.cause = cause
    return request
  }

  private func transfers(_ postings: [FunctionEffects.Posting], _ records: inout [RoomChange]) throws(PermanentFailure)
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
        records.append(
          RoomChange(kind: RewardRecord.unconfirmed, key: "\(player)/\(key)", value: account.name))
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
  private func records(_ effects: FunctionEffects) -> [RoomChange] {
    effects.records.map { change in
      RoomChange(
        kind: change.kind, key: change.key, value: change.value, expecting: change.expected.map { .value($0) } ?? .absent)
    }
  }

  /// Remembers for whom rewards are paid: by the account, or by the identities of one that is gone.
  private func remember(_ postings: [FunctionEffects.Posting], in request: inout CommitRequest) throws {
    // What nobody will look at is not remembered.
    guard reader.identities != nil else { return }
    var rewarded: [String: Set<String>] = [:]
    for posting in postings {
      if let player = posting.rewarded { rewarded[player, default: []].insert(posting.code) }
    }
    for (player, codes) in rewarded.sorted(by: { $0.key < $1.key }) {
      // An account that goes at the same moment takes along what it sees; whatever comes second must see the other.
      let place = AccountRecord.place(of: player).child(Key(unchecked: "uid"))
      let standing = try reader.latestNode(place)
      request.expectations.append(CommitRequest.Expectation(path: place, node: standing))
      if !standing.exists,
        let former = try reader.record(FormerIdentities.kind, player).flatMap({ FormerIdentities(stored: $0) })
      {
        for hash in former.hashes {
          request.records += try [adding(codes, to: PaidRewards.identityKind, hash, until: former.paidUntil)].compactMap(\.self)
        }
      } else {
        request.records += try [adding(codes, to: PaidRewards.playerKind, player, until: nil)].compactMap(\.self)
      }
    }
  }

  /// Adds codes to a record of what was paid; nil if they stand there.
  private func adding(_ codes: Set<String>, to kind: String, _ key: String, until end: Int64?) throws -> RoomChange? {
    let stored = try reader.record(kind, key)
    let before = stored.map { PaidRewards(stored: $0) } ?? PaidRewards(codes: [])
    let after = before.adding(codes, until: end)
    guard after != before else { return nil }
    return RoomChange(kind: kind, key: key, value: after.text, expecting: stored.map { .value($0) } ?? .absent)
  }

  /// What pays held coins out, or gives them back where the confirmed address turns out to be of somebody who was paid before;
  /// a hold that ended otherwise meanwhile is left out.
  private func releases(_ releases: [FunctionEffects.Release]) throws -> [LedgerTransfer] {
    try releases.compactMap { release in
      guard let hold = try reader.entry(release.key), hold.transfer.credit.isHold,
        try !reader.isPaid(BusinessKey.holdEnd(of: hold.sequence).text)
      else { return nil }
      let source = hold.transfer.debit
      // Payments that are made whoever comes back have left no record of theirs.
      let isReturning =
        try reader.paidCodes(of: release.player).contains(String(source.owner))
        && reader.wasPaidElsewhere(release.player, String(source.owner))
      return LedgerTransfer(
        debit: hold.transfer.credit, credit: isReturning ? source : LedgerAccount(release.receiver),
        amount: hold.transfer.amount, unit: hold.transfer.unit, code: isReturning ? "void" : "release",
        key: .holdEnd(of: hold.sequence), event: delivery.facts.text, function: definition.name,
        subject: hold.transfer.subject, reason: isReturning ? "returning_identity" : "the address was confirmed")
    }
  }

  /// The business key. One run may pay several players under one code: from the second on the account is part of the key.
  private func key(of posting: FunctionEffects.Posting, account: LedgerAccount?) -> BusinessKey {
    if let key = posting.key { return BusinessKey(key) }
    let key = "\(delivery.facts.text)/\(definition.name)/\(posting.code)"
    return BusinessKey(account.map { "\(key)/\($0)" } ?? key)
  }

  private func balance(at path: Path) throws(PermanentFailure) -> (LedgerAccount, unit: String) {
    for currency in currencies {
      if let account = currency.account(at: path) { return (account, currency.unit) }
    }
    throw PermanentFailure("\(path) is no currency's balance; nothing was paid. \(Currency.advice(beside: currencies))")
  }
}

extension String {
  fileprivate var nilIfEmpty: String? { isEmpty ? nil : self }
}
