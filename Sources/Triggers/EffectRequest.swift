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
    var rewarded = rewarded(effects.postings)
    request.transfers = try transfers(effects.postings, &request.records) + releases(effects.releases, &rewarded)
    try RewardMemory(reader: reader).remember(rewarded, in: &request)
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
        let reward = WaitingReward(receiver: account.name, isRemembered: posting.rewarded != nil)
        records.append(RoomChange(kind: RewardRecord.unconfirmed, key: "\(player)/\(key)", value: reward.text))
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
  private func releases(_ releases: [FunctionEffects.Release], _ rewarded: inout [String: Set<String>]) throws
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
