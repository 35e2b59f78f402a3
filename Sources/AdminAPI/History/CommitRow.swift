import HTTPServer
import StorageCore
import TreeModel

/// A commit as administrators see it.
struct CommitRow {
  let commit: CommitRecord
  /// Changes that are shown; the count tells how many there are.
  let changesMax: Int
  /// Of which place.
  let place: PathBytes

  init(_ commit: CommitRecord, under place: PathBytes = .root, changesMax: Int) {
    self.commit = commit
    self.place = place
    self.changesMax = changesMax
  }

  var json: JSON {
    let changes = commit.changes?.filter { place.contains($0.path) }
    return .record([
      ("revision", .int(commit.revision.rawValue)), ("time", .int(commit.time)), ("actor", .string(commit.actor.description)),
      ("requestId", commit.requestID.map(JSON.string)), ("cause", commit.cause.map { JSON($0) }),
      ("triggers", .bool(!commit.suppressesTriggers)),
      ("changeCount", changes.map { .int(Int64($0.count)) }),
      ("changes", changes.map { .array($0.prefix(changesMax).map { JSON($0) }) }),
      ("forgotten", changes == nil ? .bool(true) : nil),
      ("erased", erased.isEmpty ? nil : .array(erased.map(JSON.string))),
    ])
  }

  /// Places below this one of which changes were erased.
  private var erased: [String] {
    commit.erased.flatMap(\.places).filter { place.contains($0) || $0.contains(place) }.compactMap { $0.path?.description }
  }

  static let schema = Schema.object([
    .always("revision", .count), .always("time", .time), .always("actor", .text), .maybe("requestId", .text),
    .maybe("cause", .named("Cause")), .always("triggers", .boolean, "false if functions were told to sleep through it"),
    .maybe("changeCount", .count), .maybe("changes", .list(.named("Change")), "the first of them"),
    .maybe("forgotten", .boolean, "true once the log was pruned"),
    .maybe("erased", .list(.text), "places whose changes were erased, for players who left"),
  ])
}
