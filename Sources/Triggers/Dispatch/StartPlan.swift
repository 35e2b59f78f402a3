import FunctionsKit
import StorageCore
import TreeModel

/// What a start has to do, from one look at storage.
struct StartPlan: Sendable {
  struct Namespace: Sendable {
    let id: NamespaceID
    let settled: Revision
  }

  /// A delivery that becomes another: under a new name, or a dead letter.
  struct Move: Sendable {
    let old: DeliveryRecord
    let new: DeliveryRecord
  }

  let table: TriggerTable
  private(set) var namespaces: [Namespace] = []
  private(set) var functions: [FunctionState]
  private(set) var missing: [MissingFunction] = []
  /// Records that storage does not have, or not so.
  private(set) var functionRecords: [FunctionRecord] = []
  /// Names that functions had before, and their names now.
  private var renamed: [String: String] = [:]
  var report = StartReport()
  /// Runs that the last process may have died of.
  var suspects: Set<ReplayItem> = []

  init(table: TriggerTable, inline: InlineOptions, now: Int64, snapshot: any Snapshot) throws(StorageError) {
    self.table = table
    functions = table.definitions.map { FunctionState(name: $0.name, pace: FunctionPace(inline, mode: $0.options.inline)) }
    var heads: [NamespaceID: Revision] = [:]
    for namespace in try snapshot.namespaces() {
      heads[namespace.id] = try snapshot.head(of: namespace.id).revision
      namespaces.append(Namespace(id: namespace.id, settled: try snapshot.settledRevision(of: namespace.id)))
    }
    let stored = Dictionary(try snapshot.functions().map { ($0.name, $0) }) { $1 }
    for (position, definition) in table.definitions.enumerated() {
      for name in definition.options.formerly { renamed[name] = definition.name }
      let names = [definition.name] + definition.options.formerly
      compare(position, with: names.lazy.compactMap { stored[$0] }.first, heads: heads, at: now)
    }
    for record in stored.values.sorted(by: { $0.name < $1.name }) {
      guard table.position(of: record.name) == nil, renamed[record.name] == nil else { continue }
      missing.append(MissingFunction(record))
      report.missing.append(record.name)
    }
  }

  private mutating func compare(
    _ position: Int, with stored: FunctionRecord?, heads: [NamespaceID: Revision], at now: Int64
  ) {
    guard let stored else {
      functions[position].since = heads
      report.new.append(functions[position].name)
      functionRecords.append(record(of: position, at: now))
      return
    }
    functions[position].since = stored.since
    if stored.isPaused {
      functions[position].phase = .paused
      functions[position].pauseReason = stored.pauseReason
      functions[position].isPausedByEngine = stored.pauseReason?.hasPrefix("paused by the engine") ?? false
      report.paused.append(functions[position].name)
    }
    let record = record(of: position, at: now)
    let isSame = record.pattern == stored.pattern && record.kinds == stored.kinds
    if !isSame { report.changed.append(record.name) }
    if !isSame || record.name != stored.name { functionRecords.append(record) }
  }

  mutating func pause(_ function: Int, because reason: String, at now: Int64) {
    functions[function].phase = .paused
    functions[function].pauseReason = reason
    functions[function].isPausedByEngine = true
    report.paused.append(functions[function].name)
  }

  /// The process died in a run of the function on the writer: there it does not run for now.
  mutating func bar(_ function: Int, for event: EventID) {
    functions[function].pace.bar()
    report.barred.append("\(functions[function].name) \(event)")
  }

  func record(of function: Int, at now: Int64) -> FunctionRecord {
    FunctionRecord(table.definitions[function], functions[function], at: now)
  }

  /// The deliveries that wait in a namespace: those to load, and those of functions that have another name or none.
  func deliveries(in namespace: NamespaceID, from snapshot: any Snapshot) throws(StorageError)
    -> (ready: [DeliveryRecord], moved: [Move])
  {
    var ready: [DeliveryRecord] = []
    var moved: [Move] = []
    for state in [DeliveryRecord.State.waiting, .paused] {
      var last: DeliveryRecord?
      while true {
        let page = try snapshot.deliveries(in: namespace, state: state, after: last, limit: 512)
        for delivery in page {
          let name = renamed[delivery.function] ?? delivery.function
          guard let function = table.position(of: name) else {
            moved.append(Move(old: delivery, new: delivery.dead))
            continue
          }
          // A function's deliveries are all in the state that goes with its own: that is where they are looked for.
          let state: DeliveryRecord.State = functions[function].phase == .paused ? .paused : .waiting
          let own = delivery.moved(to: name, state: state)
          if own != delivery { moved.append(Move(old: delivery, new: own)) }
          if functions[function].phase == .active { ready.append(own) }
        }
        guard page.count == 512 else { break }
        last = page.last
      }
    }
    if !renamed.isEmpty { moved += try letters(in: namespace, from: snapshot) }
    // Each key in the order of its events, whatever the state that they were found in.
    ready.sort { ($0.event.revision, $0.event.path) < ($1.event.revision, $1.event.path) }
    return (ready, moved)
  }
}

extension StartPlan {
  /// The dead letters of functions that have another name now: they can be tried again under that.
  private func letters(in namespace: NamespaceID, from snapshot: any Snapshot) throws(StorageError) -> [Move] {
    var moved: [Move] = []
    for letter in try snapshot.allDeliveries(in: namespace, state: .dead) {
      guard let name = renamed[letter.function] else { continue }
      // What was handled under the new name needs no second chance; the old dead letter says so when it is acknowledged.
      guard try snapshot.execution(in: namespace, of: letter.event, by: name) == nil,
        try snapshot.delivery(in: namespace, of: letter.event, to: name) == nil
      else { continue }
      moved.append(Move(old: letter, new: letter.moved(to: name, state: .dead)))
    }
    return moved
  }
}

extension DeliveryRecord {
  /// The same for another function, or in another state.
  fileprivate func moved(to name: String, state: State) -> DeliveryRecord {
    DeliveryRecord(
      event: event, kind: kind, hop: hop, function: name, state: state, attempts: attempts, crashes: crashes,
      nextAttemptAt: nextAttemptAt, lastError: lastError, updatedAt: updatedAt)
  }

  /// The same as a dead letter of a function that is not there any more.
  fileprivate var dead: DeliveryRecord {
    let unknown =
      "unknown_function: \(function) is not registered any more. Register it, or name it in `formerly` of the "
      + "function that took its place. The last error before: \(lastError)"
    return DeliveryRecord(
      event: event, kind: kind, hop: hop, function: function, state: .dead, attempts: attempts, crashes: crashes,
      nextAttemptAt: 0, lastError: unknown, updatedAt: updatedAt)
  }
}

/// What the start found out about the registered functions, compared with what storage remembers.
package struct StartReport: Sendable, Hashable {
  /// Functions that were not there before: they see events from now on.
  package var new: [String] = []
  /// Functions that nobody registered any more.
  package var missing: [String] = []
  /// Functions whose pattern or kind is another.
  package var changed: [String] = []
  /// Functions that are paused.
  package var paused: [String] = []
  /// Runs that the last process died of, as `function event`: nothing else ran.
  package var crashed: [String] = []
  /// Runs that were under way, with others, when the last process died, as `function event`.
  package var suspects: [String] = []
  /// Runs on the writer in which the last process died, as `function event`: the function runs on threads for now.
  package var barred: [String] = []
  /// Waiting deliveries that became dead letters because their function is missing.
  package var deadLetters = 0
  /// Deliveries that wait for a retry.
  package var waiting = 0

  package init() {}
}

/// A function that storage knows and nobody registered any more.
struct MissingFunction: Sendable {
  let record: FunctionRecord
  /// What it wanted; nil if it cannot be read any more.
  let pattern: PathPattern?
  let triggers: [FunctionDefinition.Trigger]

  init(_ record: FunctionRecord) {
    self.record = record
    pattern = try? PathPattern(parsingInternal: record.pattern)
    triggers = record.kinds.split(separator: ",").compactMap { FunctionDefinition.Trigger(rawValue: String($0)) }
  }

  /// Whether it would have handled an event. Filters are code, and gone with it.
  func wanted(_ event: EventRecord, at path: Path) -> Bool {
    guard let pattern, triggers.contains(where: { $0.admits(event.kind) }), pattern.match(path) != nil else { return false }
    return record.since[event.namespace].map { event.id.revision > $0 } ?? true
  }
}
