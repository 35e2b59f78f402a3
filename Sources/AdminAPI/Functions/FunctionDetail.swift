import AdminModel
import PlayerLifecycle
import StorageCore
import TreeModel

/// The events that one function has not finished, in all namespaces: how many of each state, the oldest, the last error.
///
/// Deliveries stand by state and function in an index, so nobody else's are read; of each state ten thousand are counted.
struct UnfinishedDeliveries {
  private static let pageSize = 1000

  private(set) var answer = AdminFunctions.Deliveries(waiting: 0, paused: 0, dead: 0, complete: true)
  /// When the commit of the oldest waiting event was made.
  private var oldest: Int64?

  init(of function: String, in snapshot: any Snapshot) throws {
    for state in [DeliveryRecord.State.waiting, .paused, .dead] {
      var rest = DeliveryFailures.countMax
      for namespace in try snapshot.namespaces() {
        var last = Self.start(of: function, state)
        while rest > 0 {
          let asked = min(Self.pageSize, rest)
          let page = try snapshot.deliveries(in: namespace.id, state: state, after: last, limit: asked)
          let own = page.prefix { $0.function.utf8.elementsEqual(function.utf8) }
          for delivery in own { note(delivery, in: namespace) }
          if state == .waiting, last.event.epoch == 0, let first = own.first {
            try noteOldest(first, in: namespace, snapshot: snapshot)
          }
          rest -= own.count
          guard own.count == asked, let end = own.last else { break }
          last = end
        }
      }
      if rest == 0 { answer.complete = false }
    }
  }

  /// Stands before every delivery to the function.
  private static func start(of function: String, _ state: DeliveryRecord.State) -> DeliveryRecord {
    DeliveryRecord(
      event: EventID(epoch: 0, revision: .zero, path: .root), kind: .created, hop: 0, function: function, state: state,
      attempts: 0, crashes: 0, nextAttemptAt: 0, lastError: "", updatedAt: 0)
  }

  private mutating func note(_ delivery: DeliveryRecord, in namespace: NamespaceRecord) {
    switch delivery.state {
    case .waiting: answer.waiting += 1
    case .paused: answer.paused += 1
    case .dead: answer.dead += 1
    }
    guard !delivery.lastError.isEmpty, answer.lastError.map({ $0.time.milliseconds <= delivery.updatedAt }) ?? true else {
      return
    }
    answer.lastError = AdminFunctions.FailedDelivery(
      namespace: namespace.name, event: delivery.event.description, error: delivery.lastError,
      time: Timestamp(delivery.updatedAt))
  }

  /// Revisions of different namespaces do not compare; the times of their commits do.
  private mutating func noteOldest(_ delivery: DeliveryRecord, in namespace: NamespaceRecord, snapshot: any Snapshot) throws {
    let time = try snapshot.commit(in: namespace.id, at: delivery.event.revision)?.time
    guard answer.oldestWaiting == nil || (time ?? .max) < (oldest ?? .max) else { return }
    oldest = time
    answer.oldestWaiting = AdminFunctions.WaitingEvent(
      namespace: namespace.name, event: delivery.event.description, since: time.map { Timestamp($0) },
      attempts: Int64(delivery.attempts), nextAttemptAt: Timestamp(delivery.nextAttemptAt))
  }
}

extension AdminFunctions.Runs {
  init(_ tally: FunctionTally) {
    let isMeasured = tally.measuredRuns > 0
    self.init(
      outcomes: NamedValues(
        FunctionTally.Ending.allCases.map { NamedValues.Member($0.rawValue, Int64(tally.endings[$0] ?? 0)) }),
      timeouts: Int64(tally.timeouts), deadLetters: Int64(tally.deadLetters), inline: Int64(tally.inlineRuns),
      measured: Int64(tally.measuredRuns),
      meanNanoseconds: isMeasured ? tally.nanoseconds / Int64(tally.measuredRuns) : nil,
      slowestNanoseconds: isMeasured ? tally.slowest : nil, p50Nanoseconds: tally.p50, p95Nanoseconds: tally.p95,
      p99Nanoseconds: tally.p99)
  }
}

extension AdminFunctions.Setting {
  /// All settings of a function, in the order of the tree; one that is nil in the code is there if the configuration sets it.
  static func all(of description: FunctionDescription) -> [AdminFunctions.Setting] {
    var names = description.settings.children.map(\.key)
    names += description.defaults.children.map(\.key).filter { !names.contains($0) }
    return names.map { name in
      let (value, standard) = (description.settings[name], description.defaults[name])
      return AdminFunctions.Setting(
        name: name.text, value: value.jsonValue(.plain), standard: standard.jsonValue(.plain), overridden: value != standard)
    }
  }
}
