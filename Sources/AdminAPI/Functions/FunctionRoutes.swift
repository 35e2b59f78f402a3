import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import PlayerLifecycle
import StorageCore
import TreeDatabase
import TreeModel

/// The functions: what there is, and their brakes.
enum FunctionRoutes {
  static let routes: [Route] = [
    .reading(AdminFunctions.list, by: list), .reading(AdminFunctions.show, by: show),
    .changing(AdminFunctions.pause, audit: "functions.pause", answer: pause),
    .changing(AdminFunctions.resume, audit: "functions.resume", answer: resume),
    .changing(AdminFunctions.retry, audit: "functions.retry", answer: retry),
  ]

  private static func pause(_ call: RouteCall, order: AdminFunctions.PauseOrder) async throws -> Done {
    let functions = try functions(call)
    try await functions.pause(
      call.captures["name"] ?? "", reason: order.reason ?? "paused by \(call.caller.actor)", by: call.caller.actor)
    return Done()
  }

  private static func resume(_ call: RouteCall, body _: EmptyBody) async throws -> Done {
    let functions = try functions(call)
    try await functions.resume(call.captures["name"] ?? "", by: call.caller.actor)
    return Done()
  }

  private static func retry(_ call: RouteCall, body _: EmptyBody) async throws -> AdminFunctions.Retried {
    let functions = try functions(call)
    let namespace = try call.namespace()
    let count = try await functions.retryDeadLetters(of: call.captures["name"] ?? "", in: namespace, by: call.caller.actor)
    return AdminFunctions.Retried(status: .ok, retried: Int64(count))
  }

  private static func list(_ call: RouteCall, query: AdminFunctions.WindowQuery) throws -> AdminFunctions.List {
    AdminFunctions.List(functions: try rows(call, window: query.window ?? .day))
  }

  private static func show(_ call: RouteCall, query: AdminFunctions.WindowQuery) throws -> AdminFunctions.Detail {
    let name = call.captures["name"] ?? ""
    guard let function = try rows(call, window: query.window ?? .day).first(where: { $0.name.utf8.elementsEqual(name.utf8) })
    else {
      throw APIError(
        .notFound, "not_found", "There is no function \(name.prefix(80)); \"doubloon functions list\" shows all there are.")
    }
    let unfinished = try call.read { snapshot in try UnfinishedDeliveries(of: function.name, in: snapshot) }
    let description = call.services.functions?.descriptions.first { $0.name == function.name }
    let tally = call.services.functions?.tallies.first { $0.function == function.name }
    return AdminFunctions.Detail(
      function: function, settings: description.map { AdminFunctions.Setting.all(of: $0) } ?? [],
      runs: tally.map { AdminFunctions.Runs($0) }, deliveries: unfinished.answer)
  }

  private static func rows(_ call: RouteCall, window: AdminFunctions.Window) throws -> [AdminFunctions.Function] {
    let records: [FunctionRecord]
    if let functions = call.services.functions {
      records = try functions.functionRecords()
    } else {
      records = try call.read { snapshot in try snapshot.functions() }
    }
    let (dead, retries) = try call.read { snapshot in
      (try DeliveryFailures(.dead, in: snapshot), try DeliveryFailures(.waiting, in: snapshot))
    }
    let descriptions = call.services.functions?.descriptions ?? []
    let paces = call.services.functions?.paces ?? []
    let (services, now) = (call.services, call.services.database.clock.now())
    let tallies = services.functionSeries.note(services.functions?.tallies ?? [], at: now)
    let recent = { (name: String) -> AdminFunctions.Recent? in
      guard tallies.contains(where: { $0.function == name }) else { return nil }
      return services.functionSeries.recent(name, window: window, now: now, startedAt: services.startedAt)
    }
    return records.map { record in
      AdminFunctions.Function(
        name: record.name, pattern: record.pattern, kinds: record.kinds, paused: record.isPaused,
        pauseReason: record.pauseReason, updatedAt: Timestamp(record.updatedAt),
        settings: descriptions.first { $0.name == record.name }?.settingsJSON, deadLetters: dead[record.name],
        retries: retries[record.name], pace: paces.first { $0.function == record.name }.map(AdminFunctions.Pace.init),
        recent: recent(record.name))
    }
  }

  static func functions(_ call: RouteCall) throws -> any FunctionOperating {
    guard let functions = call.services.functions else {
      throw APIError(.notImplemented, "not_available", "This server runs no functions.")
    }
    return functions
  }
}

/// What functions gave up on, and what they failed on and try again, in all namespaces: so many, and the last of them.
struct DeliveryFailures {
  /// Deliveries of one state that are counted.
  static let countMax = 10_000
  private static let pageSize = 1000

  /// What one function has of one state.
  private struct Count {
    let function: String
    var count: Int64 = 0
    /// The one that was written last.
    var latest: DeliveryRecord
    var namespace: String
  }

  /// By function.
  private var counts: [Count] = []
  /// Of each namespace the first commit with an event that was counted.
  private(set) var oldest: [FunctionBacklog.Place] = []
  /// Whether all were counted.
  private(set) var isComplete = true

  init(_ state: DeliveryRecord.State, in snapshot: any Snapshot) throws {
    var rest = Self.countMax
    for namespace in try snapshot.namespaces() {
      var last: DeliveryRecord?
      while rest > 0 {
        let page = try snapshot.deliveries(in: namespace.id, state: state, after: last, limit: min(Self.pageSize, rest))
        // What waits without having failed waits for another one of its key.
        for delivery in page where state == .dead || delivery.attempts > 0 {
          add(delivery, namespace.name)
          note(delivery.event.revision, in: namespace.id)
        }
        rest -= page.count
        last = page.last
        if page.count < Self.pageSize { break }
      }
    }
    isComplete = rest > 0
  }

  private mutating func note(_ revision: Revision, in namespace: NamespaceID) {
    if let last = oldest.last, last.namespace == namespace {
      guard revision < last.revision else { return }
      oldest.removeLast()
    }
    oldest.append(FunctionBacklog.Place(namespace: namespace, revision: revision))
  }

  /// For the metrics and the alerts.
  var byFunction: [StoreWatch.Count] {
    counts.map { StoreWatch.Count(function: $0.function, count: Int($0.count), error: $0.latest.lastError) }
  }

  private mutating func add(_ delivery: DeliveryRecord, _ namespace: String) {
    let position = counts.firstIndex { $0.function == delivery.function }
    let index = position ?? counts.count
    if position == nil { counts.append(Count(function: delivery.function, latest: delivery, namespace: namespace)) }
    counts[index].count += 1
    guard delivery.updatedAt >= counts[index].latest.updatedAt else { return }
    (counts[index].latest, counts[index].namespace) = (delivery, namespace)
  }

  subscript(function: String) -> AdminFunctions.DeliveryFailures? {
    counts.first { $0.function == function }.map { found in
      AdminFunctions.DeliveryFailures(
        count: found.count, namespace: found.namespace, event: found.latest.event.description,
        attempts: Int64(found.latest.attempts), error: found.latest.lastError, time: Timestamp(found.latest.updatedAt))
    }
  }

  /// Of all functions.
  var summary: AdminSystem.Failures {
    AdminSystem.Failures(
      count: counts.reduce(0) { $0 + $1.count }, complete: isComplete,
      functions: counts.map { found in
        AdminSystem.FunctionFailures(
          function: found.function, count: found.count, namespace: found.namespace,
          event: found.latest.event.description, attempts: Int64(found.latest.attempts), error: found.latest.lastError,
          time: Timestamp(found.latest.updatedAt))
      })
  }
}

extension AdminFunctions.Pace {
  fileprivate init(_ report: FunctionPaceReport) {
    self.init(
      inline: report.isInline, inlineRuns: Int64(report.inlineRuns),
      meanNanoseconds: report.meanTime)
  }
}

extension FunctionDescription {
  /// The settings with their values; nil if it has none.
  fileprivate var settingsJSON: JSON? {
    settings.exists ? try? JSONParser.parse(settings.json(.plain)) : nil
  }
}
