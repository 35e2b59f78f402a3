import HTTPServer
import StorageCore
import TreeModel

/// Pages through a namespace's trigger log, newest first, or counts it.
struct EventListing {
  /// Events that one listing looks at; a filter that admits few gives a short page and a cursor to go on with.
  static let scanMax = 5000
  /// Events that one count looks at.
  static let countMax = 50_000

  private var walk: EventWalk

  init(_ walk: EventWalk) {
    self.walk = walk
  }

  /// The rows, where to go on, and how far was looked.
  mutating func page(limit: Int) throws(StorageError) -> JSON {
    var rows: [JSON] = []
    while rows.count < limit, let found = try walk.next() {
      rows.append(Self.row(found.event, found.commit, found.executions, found.deliveries))
    }
    return .record([("events", .array(rows))] + (try walk.end()))
  }

  /// How many rows there are, and what became of them for the functions that the filter means.
  mutating func count() throws(StorageError) -> JSON {
    var count: Int64 = 0
    var outcomes: [String: Int64] = [:]
    while let found = try walk.next() {
      count += 1
      for execution in found.executions where walk.filter.admits(execution) {
        outcomes[execution.outcome.rawValue, default: 0] += 1
      }
      for delivery in found.deliveries where walk.filter.admits(delivery) {
        outcomes[delivery.state.rawValue, default: 0] += 1
      }
      if found.executions.isEmpty && found.deliveries.isEmpty { outcomes["pending", default: 0] += 1 }
    }
    let members = EventFilter.outcomes.compactMap { name in outcomes[name].map { JSON.Member(key: name, value: .int($0)) } }
    return .record([("count", .int(count)), ("outcomes", .object(members))] + (try walk.end()))
  }

  /// One event with what became of it.
  static func row(
    _ event: EventRecord, _ commit: CommitRecord?, _ executions: [ExecutionRecord], _ deliveries: [DeliveryRecord]
  ) -> JSON {
    .record([
      ("id", .string(event.id.description)), ("kind", .string(event.kind.rawValue)),
      ("path", event.id.path.path.map { .string($0.description) }), ("revision", .int(event.id.revision.rawValue)),
      ("hop", .int(Int64(event.hop))), ("time", commit.map { .int($0.time) }),
      ("actor", commit.map { .string($0.actor.description) }), ("requestId", commit?.requestID.map(JSON.string)),
      ("cause", commit?.cause.map { JSON($0) }), ("executions", .array(executions.map(JSON.init))),
      ("deliveries", .array(deliveries.map(JSON.init))),
    ])
  }
}
