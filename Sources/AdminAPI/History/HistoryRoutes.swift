import APISupport
import AdminModel
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

/// The tree as it was, what changed between two moments, and which commits touched a path.
enum HistoryRoutes {
  /// Leaves that one answer may hold.
  private static let leavesMax = 100_000
  private static let leavesWords = "100,000"

  static let routes: [Route] = [
    .reading(AdminHistory.state, by: state), .reading(AdminHistory.difference, by: difference),
    .reading(AdminHistory.log, by: log),
  ]

  // MARK: Answers

  private static func state(_ call: RouteCall, query: AdminHistory.Query) throws -> AdminHistory.State {
    let (target, namespace) = (try target(query.path), try call.namespace())
    let moment = try Moment(revision: query.revision, time: query.time, named: ("revision", "time"))
    let format: TreeFormat = query.format == .export ? .export : .plain
    return try call.readChecked { (snapshot) -> Result<AdminHistory.State, APIError> in
      switch try moment.revision(in: namespace, snapshot: snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let revision):
        let erased: [ErasedPath]
        switch try missing(at: target.path, namespace: namespace, asOf: revision, in: snapshot) {
        case .failure(let error): return .failure(error)
        case .success(let paths): erased = paths
        }
        guard let node = try node(at: target, namespace, asOf: revision, in: snapshot) else { return .failure(tooMuch) }
        let commit = try snapshot.commit(in: namespace, at: revision)
        return .success(
          AdminHistory.State(
            path: target.description, revision: revision.rawValue, time: commit.map { Timestamp($0.time) },
            exists: node.exists, value: node.jsonValue(format), erased: listed(erased)))
      }
    }
  }

  private static func difference(_ call: RouteCall, query: AdminHistory.DifferenceQuery) throws -> AdminHistory.Difference {
    let (target, namespace, limit) = (try target(query.path), try call.namespace(), Int(query.limit ?? 1000))
    guard query.from != nil || query.fromTime != nil else {
      throw APIError.badRequest("Say from where: from (a revision) or fromTime (milliseconds since 1970).")
    }
    let from = try Moment(revision: query.from, time: query.fromTime, named: ("from", "fromTime"))
    let to = try Moment(revision: query.to, time: query.toTime, named: ("to", "toTime"))
    return try call.readChecked { (snapshot) -> Result<AdminHistory.Difference, APIError> in
      let ends: (Revision, Revision)
      switch (try from.revision(in: namespace, snapshot: snapshot), try to.revision(in: namespace, snapshot: snapshot)) {
      case (.success(let first), .success(let second)): ends = (first, second)
      case (.failure(let error), _), (_, .failure(let error)): return .failure(error)
      }
      let erased: [ErasedPath]
      switch try missing(at: target.path, namespace: namespace, asOf: min(ends.0, ends.1), in: snapshot) {
      case .failure(let error): return .failure(error)
      case .success(let paths): erased = paths
      }
      guard let before = try leaves(at: target, namespace: namespace, asOf: ends.0, in: snapshot),
        let after = try leaves(at: target, namespace: namespace, asOf: ends.1, in: snapshot)
      else { return .failure(tooMuch) }
      let changes = LeafChange.between(before, after: after)
      var shown = changes.prefix(limit).map { AdminEvents.Change($0) }
      if let textMax = query.cut {
        var cut = ChangeCut(textMax: Int(textMax))
        shown = cut.shown(shown)
      }
      return .success(
        AdminHistory.Difference(
          path: target.description, from: ends.0.rawValue, to: ends.1.rawValue, count: Int64(changes.count),
          changes: shown, erased: listed(erased)))
    }
  }

  private static func log(_ call: RouteCall, query: AdminHistory.LogQuery) throws -> AdminHistory.Log {
    let (target, namespace, limit) = (try target(query.path), try call.namespace(), Int(query.limit ?? 50))
    let path = target.isPriority ? PathBytes(target.path).priority : PathBytes(target.path)
    return try call.read { snapshot in
      var start = query.before.map { Revision($0) }
      if let until = query.until {
        let end = try snapshot.revision(in: namespace, at: until.milliseconds).next
        start = min(start ?? end, end)
      }
      let floor = try query.since.map { time in
        try snapshot.revision(in: namespace, at: time.milliseconds - 1).next
      }
      let touches = try snapshot.touches(in: namespace, under: path, before: start, limit: limit)
      var rows: [AdminEvents.Commit] = []
      for revision in touches.revisions where revision >= floor ?? .zero {
        guard let commit = try snapshot.commit(in: namespace, at: revision) else { continue }
        rows.append(AdminEvents.Commit(commit, under: path, changesMax: Int(query.changes ?? 20)))
      }
      if let textMax = query.cut {
        var cut = ChangeCut(textMax: Int(textMax))
        for index in rows.indices { rows[index].changes = rows[index].changes.map { cut.shown($0) } }
      }
      let around = try snapshot.erasedPath(in: namespace, around: target.path, asOf: .zero).map { [$0] }
      let below = try snapshot.erasedPaths(in: namespace, below: target.path, asOf: .zero, limit: erasedMax)
      let isComplete = touches.isComplete || touches.scannedThrough <= floor ?? .zero
      return AdminHistory.Log(
        path: target.description, commits: rows, next: isComplete ? nil : touches.scannedThrough.rawValue,
        scannedThrough: max(touches.scannedThrough, floor ?? .zero).rawValue, complete: isComplete,
        prunedThrough: touches.prunedThrough == .zero ? nil : touches.prunedThrough.rawValue,
        erased: listed(around ?? below))
    }
  }

  // MARK: What was erased

  /// Erased places that one answer tells of.
  private static let erasedMax = 20

  /// The places below a path of which something is missing at a revision; a failure if all of it may be. What is now is
  /// known, whatever was erased.
  static func missing(
    at path: Path, namespace: NamespaceID, asOf revision: Revision, in snapshot: any Snapshot
  ) throws -> Result<[ErasedPath], APIError> {
    guard try revision < snapshot.head(of: namespace).revision else { return .success([]) }
    if let erased = try snapshot.erasedPath(in: namespace, around: path, asOf: revision) {
      return .failure(.erased(erased))
    }
    return .success(
      try snapshot.erasedPaths(in: namespace, below: path, asOf: revision, limit: erasedMax))
  }

  /// What an answer says of erased places.
  static func listed(_ erased: [ErasedPath]) -> [AdminEvents.ErasedPath]? {
    erased.isEmpty ? nil : erased.map { AdminEvents.ErasedPath($0) }
  }

  // MARK: Reading

  private static func target(_ path: String) throws -> PathTarget {
    do {
      return try PathTarget(parsing: path)
    } catch {
      throw APIError.badRequest(error.description)
    }
  }

  /// The leaves at a path; nil if there are too many.
  private static func leaves(
    at target: PathTarget, namespace: NamespaceID, asOf revision: Revision, in snapshot: any Snapshot
  ) throws -> [Leaf]? {
    let path = target.isPriority ? PathBytes(target.path).priority : PathBytes(target.path)
    let leaves = try snapshot.leaves(in: namespace, under: path, asOf: revision, limit: leavesMax + 1)
    return leaves.count > leavesMax ? nil : leaves.map(\.leaf)
  }

  private static func node(
    at target: PathTarget, _ namespace: NamespaceID, asOf revision: Revision, in snapshot: any Snapshot
  ) throws -> TreeNode? {
    guard let leaves = try leaves(at: target, namespace: namespace, asOf: revision, in: snapshot) else { return nil }
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
  func readChecked<Value>(_ body: (any Snapshot) throws -> Result<Value, APIError>) throws -> Value {
    try read(body).get()
  }
}

/// A state of the tree, as a request names it: by a revision, by a time, or not at all, which is now.
struct Moment: Sendable {
  private let revision: Int64?
  private let time: Int64?
  /// How the parameter of the revision is called.
  private let name: String

  /// - `names`: what the two parameters are called.
  init(revision: Int64?, time: Timestamp?, named names: (revision: String, time: String)) throws {
    name = names.revision
    (self.revision, self.time) = (revision, time?.milliseconds)
    if revision != nil, time != nil {
      throw APIError.badRequest("\(names.revision) and \(names.time) exclude each other: name a revision, or a time.")
    }
  }

  /// The revision that is meant.
  func revision(in namespace: NamespaceID, snapshot: any Snapshot) throws -> Result<Revision, APIError> {
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
  static func between(_ before: [Leaf], after: [Leaf]) -> [LeafChange] {
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
