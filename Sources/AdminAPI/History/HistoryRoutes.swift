import APISupport
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// The tree as it was, what changed between two moments, and which commits touched a place.
enum HistoryRoutes {
  /// Leaves that one answer may hold.
  private static let leavesMax = 100_000
  private static let leavesWords = "100,000"

  static let routes: [Route] = [
    Route.list("/admin/v1/data", "What stood at a place, as of a revision or a time.", get).described(
      RouteDescription(
        query: [
          .namespace, .path, revision("revision", "As of this revision; now if neither is given."),
          time("time", "As of this time, in milliseconds since 1970."),
          .init("format", .choice(["plain", "export"]), "With export, priorities are shown."),
        ],
        answer: .object([
          .always("path", .text), .always("revision", .count, "whose tree it is"), .maybe("time", .time, "of that revision"),
          .always("exists", .boolean), .always("value", .any), erased,
        ]))),
    Route.list("/admin/v1/data/diff", "What is different at a place and below between two revisions or times.", diff)
      .described(
        RouteDescription(
          query: [
            .namespace, .path, revision("from", "From this revision; 0 is the empty tree."),
            time("fromTime", "From this time."),
            revision("to", "To this revision; now if neither is given."), time("toTime", "To this time."), .limit(1000),
          ],
          answer: .object([
            .always("path", .text), .always("from", .count), .always("to", .count), .always("count", .count, "of differences"),
            .always("changes", .list(.named("Change")), "the first of them, in the tree's order"), erased,
          ]))),
    Route.list("/admin/v1/data/log", "The commits that touched a place or something below it, newest first.", log)
      .described(
        RouteDescription(
          query: [
            .namespace, .path, .init("before", .count, "Only commits before this revision: the next of an earlier page."),
            .since, .until, .limit(50),
          ],
          answer: .object([
            .always("path", .text), .always("commits", .list(CommitRow.schema)),
            .maybe("next", .count, "the next page's before"),
            .always("scannedThrough", .count, "every commit of this revision and later ones was looked at"),
            .always("complete", .boolean, "whether that was the beginning of what is remembered"),
            .maybe("prunedThrough", .count, "the log was pruned up to here"), erased,
          ]))),
  ]

  private static let erased = JSONSchema.Field.maybe(
    "erased", .list(ErasureRoutes.place), "places of players who left, of which nothing is known: the first of them")

  private static func revision(_ name: String, _ text: String) -> RouteDescription.Parameter {
    .init(name, .count, text)
  }

  private static func time(_ name: String, _ text: String) -> RouteDescription.Parameter { .init(name, .time, text) }

  // MARK: Answers

  private static func get(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (target, namespace) = (try target(call), try call.namespace())
    let moment = try Moment(call, revision: "revision", time: "time")
    let format: TreeFormat = call.query["format"] == "export" ? .export : .plain
    let found = try call.readChecked { (snapshot) throws(StorageError) -> Result<JSON, APIError> in
      switch try moment.revision(in: namespace, snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let revision):
        let erased: [ErasedPath]
        switch try missing(at: target, namespace, asOf: revision, in: snapshot) {
        case .failure(let error): return .failure(error)
        case .success(let places): erased = places
        }
        guard let node = try node(at: target, namespace, asOf: revision, in: snapshot) else { return .failure(tooMuch) }
        let commit = try snapshot.commit(in: namespace, at: revision)
        return .success(
          .record([
            ("path", .string(target.description)), ("revision", .int(revision.rawValue)),
            ("time", commit.map { .int($0.time) }), ("exists", .bool(node.exists)), ("value", node.jsonValue(format)),
            ("erased", json(erased)),
          ]))
      }
    }
    return .json(found)
  }

  private static func diff(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (target, namespace, limit) = (try target(call), try call.namespace(), try call.limit(default: 1000))
    guard call.query["from"] != nil || call.query["fromTime"] != nil else {
      throw .badRequest("Say from where: from (a revision) or fromTime (milliseconds since 1970).")
    }
    let (from, to) = (try Moment(call, revision: "from", time: "fromTime"), try Moment(call, revision: "to", time: "toTime"))
    let found = try call.readChecked { (snapshot) throws(StorageError) -> Result<JSON, APIError> in
      let ends: (Revision, Revision)
      switch (try from.revision(in: namespace, snapshot), try to.revision(in: namespace, snapshot)) {
      case (.success(let first), .success(let second)): ends = (first, second)
      case (.failure(let error), _), (_, .failure(let error)): return .failure(error)
      }
      let erased: [ErasedPath]
      switch try missing(at: target, namespace, asOf: min(ends.0, ends.1), in: snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let places): erased = places
      }
      guard let before = try leaves(at: target, namespace, asOf: ends.0, in: snapshot),
        let after = try leaves(at: target, namespace, asOf: ends.1, in: snapshot)
      else { return .failure(tooMuch) }
      let changes = LeafChange.between(before, after)
      return .success(
        .record([
          ("path", .string(target.description)), ("from", .int(ends.0.rawValue)), ("to", .int(ends.1.rawValue)),
          ("count", .int(Int64(changes.count))), ("changes", .array(changes.prefix(limit).map { JSON($0) })),
          ("erased", json(erased)),
        ]))
    }
    return .json(found)
  }

  private static func log(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let (target, namespace, limit) = (try target(call), try call.namespace(), try call.limit())
    let place = target.isPriority ? PathBytes(target.path).priority : PathBytes(target.path)
    let (since, until, before) = (try call.integer("since"), try call.integer("until"), try call.integer("before"))
    return .json(
      try call.read { (snapshot) throws(StorageError) in
        var start = before.map { Revision($0) }
        if let until {
          let end = try snapshot.revision(in: namespace, at: until).next
          start = min(start ?? end, end)
        }
        let floor = try since.map { (time) throws(StorageError) in try snapshot.revision(in: namespace, at: time - 1).next }
        let touches = try snapshot.touches(in: namespace, under: place, before: start, limit: limit)
        var rows: [JSON] = []
        for revision in touches.revisions where revision >= floor ?? .zero {
          guard let commit = try snapshot.commit(in: namespace, at: revision) else { continue }
          rows.append(CommitRow(commit, under: place, changesMax: 20).json)
        }
        let around = try snapshot.erasedPath(in: namespace, around: target.path, asOf: .zero).map { [$0] }
        let below = try snapshot.erasedPaths(in: namespace, below: target.path, asOf: .zero, limit: erasedMax)
        let isComplete = touches.isComplete || touches.scannedThrough <= floor ?? .zero
        return .record([
          ("path", .string(target.description)), ("commits", .array(rows)),
          ("next", isComplete ? nil : .int(touches.scannedThrough.rawValue)),
          ("scannedThrough", .int(max(touches.scannedThrough, floor ?? .zero).rawValue)), ("complete", .bool(isComplete)),
          ("prunedThrough", touches.prunedThrough == .zero ? nil : .int(touches.prunedThrough.rawValue)),
          ("erased", json(around ?? below)),
        ])
      })
  }

  // MARK: What was erased

  /// Erased places that one answer tells of.
  private static let erasedMax = 20

  /// The places below a target of which something is missing at a revision; a failure if all of it may be. What is now is
  /// known, whatever was erased.
  private static func missing(
    at target: PathTarget, _ namespace: NamespaceID, asOf revision: Revision, in snapshot: any Snapshot
  ) throws(StorageError) -> Result<[ErasedPath], APIError> {
    guard try revision < snapshot.head(of: namespace).revision else { return .success([]) }
    if let place = try snapshot.erasedPath(in: namespace, around: target.path, asOf: revision) {
      return .failure(.erased(place))
    }
    return .success(
      try snapshot.erasedPaths(in: namespace, below: target.path, asOf: revision, limit: erasedMax))
  }

  private static func json(_ erased: [ErasedPath]) -> JSON? { erased.isEmpty ? nil : .array(erased.map(\.json)) }

  // MARK: Reading

  private static func target(_ call: RouteCall) throws(APIError) -> PathTarget {
    do throws(PathError) {
      return try PathTarget(parsing: call.query["path"] ?? "")
    } catch {
      throw .badRequest(error.description)
    }
  }

  /// The leaves at a place; nil if there are too many.
  private static func leaves(
    at target: PathTarget, _ namespace: NamespaceID, asOf revision: Revision, in snapshot: any Snapshot
  ) throws(StorageError) -> [Leaf]? {
    let path = target.isPriority ? PathBytes(target.path).priority : PathBytes(target.path)
    let leaves = try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: leavesMax + 1)
    return leaves.count > leavesMax ? nil : leaves.map(\.leaf)
  }

  private static func node(
    at target: PathTarget, _ namespace: NamespaceID, asOf revision: Revision, in snapshot: any Snapshot
  ) throws(StorageError) -> TreeNode? {
    guard let leaves = try leaves(at: target, namespace, asOf: revision, in: snapshot) else { return nil }
    if target.isPriority { return leaves.first.map { .leaf($0.scalar) } ?? .absent }
    guard let node = TreeNode(leaves: leaves, at: PathBytes(target.path)) else {
      throw StorageError(.damaged, "A stored path cannot be read; verify the data, or restore a backup.")
    }
    return node
  }

  private static let tooMuch = APIError.badRequest(
    "There are more than \(leavesWords) values at the path; ask for a part of it.")
}

extension RouteCall {
  /// Reads, where what is read decides whether the request was right.
  func readChecked<Value>(_ body: (any Snapshot) throws(StorageError) -> Result<Value, APIError>) throws(APIError) -> Value {
    try read(body).get()
  }
}

/// A state of the tree, as a request names it: by a revision, by a time, or not at all, which is now.
struct Moment: Sendable {
  private let revision: Int64?
  private let time: Int64?
  /// How the parameter of the revision is called.
  private let name: String

  /// Reads one of two parameters.
  init(_ call: RouteCall, revision: String, time: String) throws(APIError) {
    name = revision
    self.revision = try call.integer(revision)
    self.time = try call.integer(time)
    if self.revision != nil, self.time != nil {
      throw .badRequest("\(revision) and \(time) exclude each other: name a revision, or a time.")
    }
  }

  /// The revision that is meant.
  func revision(in namespace: NamespaceID, _ snapshot: any Snapshot) throws(StorageError) -> Result<Revision, APIError> {
    let head = try snapshot.head(of: namespace).revision
    if let time { return .success(try snapshot.revision(in: namespace, at: time)) }
    guard let revision else { return .success(head) }
    guard revision <= head.rawValue else {
      // Not there yet, as anything else that does not exist: nothing is wrong with the request itself.
      return .failure(
        APIError(.notFound, "not_found", "There is no revision \(revision): \(name) must be 0 to \(head), the newest."))
    }
    return .success(Revision(revision))
  }
}

extension LeafChange {
  /// What makes one list of leaves the other; both are in path order.
  static func between(_ before: [Leaf], _ after: [Leaf]) -> [LeafChange] {
    var changes: [LeafChange] = []
    var (old, new) = (before[...], after[...])
    while let path = [old.first?.path, new.first?.path].compactMap(\.self).min() {
      let was = old.first?.path == path ? old.popFirst()?.scalar : nil
      let isNow = new.first?.path == path ? new.popFirst()?.scalar : nil
      if was != isNow { changes.append(LeafChange(path: path, before: was, after: isNow)) }
    }
    return changes
  }
}

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

  static let schema = JSONSchema.object([
    .always("revision", .count), .always("time", .time), .always("actor", .text), .maybe("requestId", .text),
    .maybe("cause", .named("Cause")), .always("triggers", .boolean, "false if functions were told to sleep through it"),
    .maybe("changeCount", .count), .maybe("changes", .list(.named("Change")), "the first of them"),
    .maybe("forgotten", .boolean, "true once the log was pruned"),
    .maybe("erased", .list(.text), "places whose changes were erased, for players who left"),
  ])
}
