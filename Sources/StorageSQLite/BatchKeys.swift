internal import RewardModel
internal import StorageCore

/// An event and a function: what executions and deliveries are kept by.
struct FunctionKey: Hashable, Comparable {
  let event: EventID
  let function: ExactText

  init(_ event: EventID, _ function: String) {
    self.event = event
    self.function = ExactText(function)
  }

  static func < (a: FunctionKey, b: FunctionKey) -> Bool {
    if a.event.epoch != b.event.epoch { return a.event.epoch < b.event.epoch }
    if a.event.revision != b.event.revision { return a.event.revision < b.event.revision }
    return a.event.path == b.event.path ? a.function < b.function : a.event.path < b.event.path
  }
}

/// An account and a unit.
struct BalanceKey: Hashable, Comparable {
  let account: ExactText
  let unit: ExactText

  init(_ account: LedgerAccount, _ unit: String) {
    self.account = ExactText(account.name)
    self.unit = ExactText(unit)
  }

  static func < (a: BalanceKey, b: BalanceKey) -> Bool {
    a.account == b.account ? a.unit < b.unit : a.account < b.account
  }
}

/// A room's record.
struct RecordKey: Hashable, Comparable {
  let kind: ExactText
  let key: ExactText

  init(_ kind: String, _ key: String) {
    self.kind = ExactText(kind)
    self.key = ExactText(key)
  }

  static func < (a: RecordKey, b: RecordKey) -> Bool {
    a.kind == b.kind ? a.key < b.key : a.kind < b.kind
  }
}
