import FunctionsKit
import RewardModel
import StorageCore
import TreeModel

/// Turns what a run asked for into one request: all of it is committed together with the record of the run, or nothing.
struct EffectRequest {
  let delivery: Delivery
  let definition: FunctionDefinition
  let currencies: [Currency]

  /// - Throws: `PermanentFailure` for a payment to a place that is no balance.
  func make(_ effects: FunctionEffects, _ execution: ExecutionRecord, at now: Int64) throws(PermanentFailure)
    -> CommitRequest
  {
    let cause = Cause(event: delivery.event, function: definition.name, hop: delivery.facts.record.hop + 1)
    var request = CommitRequest(
      namespace: delivery.namespace, actor: .function(definition.name), operations: effects.operations)
    request.transfers = try transfers(effects.postings)
    request.expectations = effects.assumptions.map { CommitRequest.Expectation(path: $0.path, node: $0.node) }
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

  private func transfers(_ postings: [FunctionEffects.Posting]) throws(PermanentFailure) -> [LedgerTransfer] {
    var transfers: [LedgerTransfer] = []
    var codes: Set<String> = []
    for posting in postings {
      let (account, unit) = try balance(at: posting.path)
      let isFirst = posting.key != nil || codes.insert(posting.code).inserted
      let outside = LedgerAccount("\(posting.direction == .credit ? "issuance" : "redemption"):\(posting.code)")
      transfers.append(
        LedgerTransfer(
          debit: posting.direction == .credit ? outside : account, credit: posting.direction == .credit ? account : outside,
          amount: posting.amount, unit: unit, code: posting.code,
          key: key(of: posting, account: isFirst ? nil : account), event: delivery.facts.text,
          function: definition.name, subject: posting.subject, reason: posting.note))
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
