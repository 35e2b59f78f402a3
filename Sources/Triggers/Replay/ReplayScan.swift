import FunctionsKit
import StorageCore
import Synchronization
import TreeModel

/// Goes through the dead letters, or through the log, and finds the pairs of event and function that an order is about.
///
/// One page is one look at storage, bounded in what it reads; the cursor says where the next one begins. A commit is never
/// cut in two.
struct ReplayScan: Sendable {
  struct Page: Sendable {
    var pairs: [ReplayPair] = []
    /// Where to go on; nil at the end.
    var next: ReplayCursor?
    /// Commits, or records, that were looked at.
    var scanned = 0
    /// Commits among them that were written with triggers suppressed.
    var suppressed = 0
    /// Dead letters of functions that nobody registered any more.
    var unknown = 0
  }

  let order: ReplayOrder
  let namespace: NamespaceID
  /// The last revision that counts.
  let through: Revision
  private let table: TriggerTable
  private let derived: DerivedEvents
  /// The functions that count, by position.
  private let functions: Set<Int>
  /// The first revisions of the functions in this namespace, by position.
  private let since: [Revision?]
  private let uid: Key?
  private let places: ReplayPlaces?

  /// Records that one page looks at.
  private static let recordsMax = 256
  /// Commits that one page looks at.
  private static let commitsMax = 64

  /// - Throws: `AdministrationError` if the order names a function that does not exist, or no legal key.
  init(_ order: ReplayOrder, in namespace: NamespaceID, through: Revision, of dispatcher: Dispatcher)
    throws(AdministrationError)
  {
    self.order = order
    self.namespace = namespace
    self.through = through
    table = dispatcher.table
    derived = DerivedEvents(table: dispatcher.table, limits: dispatcher.options.limits)
    since = dispatcher.state.withLock { state in state.functions.map { $0.since[namespace] } }
    if let name = order.function {
      guard let position = dispatcher.table.position(of: name) else { throw .unknownFunction(name) }
      functions = [position]
    } else {
      functions = Set(dispatcher.table.definitions.indices)
    }
    if let text = order.uid {
      guard let key = try? Key(text) else {
        throw AdministrationError(.invalid, "\"\(text)\" cannot be a player's id: it is no legal key.")
      }
      uid = key
    } else {
      uid = nil
    }
    do {
      places = try order.path.map { try ReplayPlaces($0) }
    } catch {
      throw AdministrationError(.invalid, "\"\(order.path ?? "")\" is no path and no pattern: \(error)")
    }
  }

  /// Where to begin.
  func start(in snapshot: any Snapshot) throws(StorageError) -> ReplayCursor {
    guard order.mode != .failed else { return .dead(after: nil) }
    let pruned = try snapshot.prunedRevision(of: namespace)
    if let event = order.event { return .log(after: max(event.revision.previous, pruned)) }
    guard let time = order.since else { return .log(after: pruned) }
    return .log(after: max(try snapshot.lastRevision(in: namespace, before: time), pruned))
  }

  /// The next page.
  func page(from cursor: ReplayCursor, in snapshot: any Snapshot) throws(StorageError) -> Page {
    switch cursor {
    case .dead(let last): try records(.dead, after: last, in: snapshot)
    case .waiting(let last): try records(.waiting, after: last, in: snapshot)
    case .log(let revision): try commits(after: revision, in: snapshot)
    }
  }

  // MARK: Dead letters, and failures that wait

  private func records(_ state: DeliveryRecord.State, after last: ReplayItem?, in snapshot: any Snapshot)
    throws(StorageError) -> Page
  {
    var page = Page()
    let records: [DeliveryRecord]
    if let event = order.event {
      records = try snapshot.deliveries(in: namespace, of: event).filter { $0.state == state }
    } else {
      records = try snapshot.deliveries(
        in: namespace, state: state, after: last.map(DeliveryRecord.init(place:)), limit: Self.recordsMax)
    }
    for record in records {
      page.scanned += 1
      guard order.function == nil || order.function == record.function, says(record), try admits(record.event, in: snapshot)
      else { continue }
      // What waits without having failed waits for another one of its key.
      guard record.isFailure else { continue }
      guard let function = table.position(of: record.function) else {
        page.unknown += 1
        continue
      }
      let event = EventRecord(namespace: namespace, id: record.event, kind: record.kind, hop: record.hop)
      page.pairs.append(ReplayPair(event: event, function: function, name: record.function, status: .failed(record)))
    }
    if order.event == nil, records.count == Self.recordsMax, let last = records.last {
      let item = ReplayItem(event: last.event, function: last.function)
      page.next = state == .dead ? .dead(after: item) : .waiting(after: item)
    } else if state == .dead {
      page.next = .waiting(after: nil)
    }
    return page
  }

  private func admits(_ event: EventID, in snapshot: any Snapshot) throws(StorageError) -> Bool {
    guard admits(event) else { return false }
    guard order.since != nil || order.until != nil || order.writer != nil else { return true }
    guard let commit = try snapshot.commit(in: namespace, at: event.revision), admits(commit) else { return false }
    return commit.time >= order.since ?? .min && commit.time <= order.until ?? .max
  }

  /// Whether who wrote it is meant.
  private func admits(_ commit: CommitRecord) -> Bool {
    guard let writer = order.writer else { return true }
    let actor = commit.actor.description
    return actor == writer || actor.hasPrefix(writer + ":")
  }

  /// Whether a failure says what is looked for.
  private func says(_ record: DeliveryRecord) -> Bool {
    guard let error = order.error else { return true }
    return record.lastError.contains(error)
  }

  private func admits(_ event: EventID) -> Bool {
    if let wanted = order.event, wanted != event { return false }
    guard uid != nil || places != nil else { return true }
    guard let path = event.path.path else { return false }
    return uid.map { path.keys.contains($0) } ?? true && places?.contain(path) ?? true
  }

  // MARK: The log

  private func commits(after revision: Revision, in snapshot: any Snapshot) throws(StorageError) -> Page {
    var page = Page()
    let settled = try snapshot.settledRevision(of: namespace)
    let commits = try snapshot.commits(in: namespace, after: revision, limit: order.event == nil ? Self.commitsMax : 1)
    for commit in commits {
      guard commit.revision <= through, commit.time <= order.until ?? .max else { return page }
      page.scanned += 1
      guard admits(commit) else { continue }
      if commit.suppressesTriggers, !order.takesSuppressed { page.suppressed += 1 }
      let events = try derived.events(
        of: commit, for: functions, includingSuppressed: order.takesSuppressed, in: snapshot)
      for (event, functions) in events where admits(event.id) {
        // What was written with triggers suppressed was never on its way to a function.
        let underway = commit.suppressesTriggers ? Revision(.max) : settled
        page.pairs += try pairs(event, functions: functions, settled: underway, in: snapshot)
      }
    }
    if order.event == nil, commits.count == Self.commitsMax, let last = commits.last { page.next = .log(after: last.revision) }
    return page
  }

  private func pairs(_ event: EventRecord, functions: [Int], settled: Revision, in snapshot: any Snapshot)
    throws(StorageError) -> [ReplayPair]
  {
    let executions = try snapshot.executions(in: namespace, of: event.id)
    let deliveries = try snapshot.deliveries(in: namespace, of: event.id)
    let isInTable = try snapshot.event(in: namespace, id: event.id) != nil
    var pairs: [ReplayPair] = []
    for function in functions {
      let definition = table.definitions[function]
      let names = [definition.name] + definition.options.formerly
      let isNew = since[function].map { event.id.revision <= $0 } ?? false
      let status: ReplayPair.Status =
        if let execution = executions.first(where: { names.contains($0.function) }) {
          .finished(execution)
        } else if let delivery = deliveries.first(where: { names.contains($0.function) }) {
          delivery.isFailure ? .failed(delivery) : .resting(delivery)
        } else if event.id.revision > settled, !isNew {
          .underway
        } else {
          .never
        }
      guard isMeant(status), isSaid(by: status) else { continue }
      pairs.append(
        ReplayPair(
          event: event, function: function, name: definition.name, status: status,
          handledBy: executions.map(\.function).filter { !names.contains($0) }, isInTable: isInTable))
    }
    return pairs
  }

  private func isSaid(by status: ReplayPair.Status) -> Bool {
    guard order.error != nil else { return true }
    if case .failed(let record) = status { return says(record) }
    return false
  }

  private func isMeant(_ status: ReplayPair.Status) -> Bool {
    guard order.mode == .gaps else { return true }
    switch status {
    case .never, .underway: return true
    case .failed, .resting, .finished: return false
    }
  }
}

/// Where an order's events are.
private enum ReplayPlaces: Sendable {
  case below(Path)
  case matching(PathPattern)

  init(_ text: String) throws {
    let isPattern = text.utf8.contains { [UInt8(ascii: "{"), UInt8(ascii: "*")].contains($0) }
    self = isPattern ? .matching(try PathPattern(parsingInternal: text)) : .below(try Path(parsingInternal: text))
  }

  func contain(_ path: Path) -> Bool {
    switch self {
    case .below(let prefix): prefix.contains(path)
    case .matching(let pattern): pattern.match(path) != nil
    }
  }
}

extension DeliveryRecord {
  /// Whether an attempt has failed, and the next one waits for its time or for a person.
  fileprivate var isFailure: Bool { state == .dead || (state == .waiting && attempts > 0) }
}

/// An event and a function that an order is about, with what became of them so far.
struct ReplayPair: Sendable {
  enum Status: Sendable {
    /// No record at all: the function has never had the event.
    case never
    /// A dead letter, or a failure that waits for its retry.
    case failed(DeliveryRecord)
    /// Waits behind another event of its key, or for its function to be resumed: its turn comes by itself.
    case resting(DeliveryRecord)
    /// Handled.
    case finished(ExecutionRecord)
    /// On its way through the dispatcher.
    case underway
  }

  let event: EventRecord
  /// The function's position in the table.
  let function: Int
  let name: String
  let status: Status
  /// Other functions that have handled the event.
  var handledBy: [String] = []
  /// Whether the log's table has the event; if not, it was derived from the commit.
  var isInTable = true

  var item: ReplayItem { ReplayItem(event: event.id, function: name) }

  /// Whether a replay gives it to the function.
  var isToRun: Bool {
    switch status {
    case .never, .failed: true
    case .resting, .finished, .underway: false
    }
  }
}
