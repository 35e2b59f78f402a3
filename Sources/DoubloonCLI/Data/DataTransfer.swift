import AdminClient
import NIOCore
import TreeModel

/// Writes and removes parts of the tree that are too large for one commit, a part after the other.
///
/// A part that the server still finds too large is halved until it fits: the replaced value counts as well, and only
/// the server knows it.
struct DataTransfer {
  /// Bytes of one answer: a read of a million leaves, and then some.
  static let responseBytesMax = 1 << 30
  /// How long one part may take.
  static let timeout = TimeAmount.minutes(5)
  /// Names of children that are asked for at once.
  static let namesMax = 100_000
  /// Children that one request removes at first. Other writers wait while a commit is made.
  static let removalMax = 200

  let client: AdminClient
  /// The parameters of every write.
  let query: [QueryItem]
  let chunk: ImportWeight.Limit
  /// Leaves to write, for the progress.
  let total: Int
  private var done = 0
  private var progress: ProgressLine

  init(
    client: AdminClient, query: [QueryItem], output: CommandOutput, chunk: ImportWeight.Limit = .plain, total: Int = 0
  ) {
    self.client = client
    self.query = query
    self.chunk = chunk
    self.total = total
    progress = ProgressLine(output)
  }

  /// Removes the value at a path.
  mutating func remove(_ path: PathArgument) async throws {
    defer { progress.clear() }
    if try await fits({ _ = try await client.delete(path.urlPath, query: query, timeout: Self.timeout) }) { return }
    try await removeChildren(of: path)
  }

  /// Replaces the value at a path.
  mutating func replace(_ path: PathArgument, by json: JSON) async throws {
    defer { progress.clear() }
    try await put(path, json)
  }

  // MARK: Parts

  private mutating func put(_ path: PathArgument, _ json: JSON) async throws {
    let weight = ImportWeight(json, pathBytes: path.text.utf8.count)
    let isOne = weight.fits(chunk) || !json.isSplittable
    if isOne, try await fits({ _ = try await client.put(path.urlPath, json, query: query, timeout: Self.timeout) }) {
      return count(weight.leaves)
    }
    guard json.isSplittable else {
      // A single value is never too large by itself: the one that it replaces is.
      try await removeChildren(of: path)
      _ = try await client.put(path.urlPath, json, query: query, timeout: Self.timeout)
      return count(weight.leaves)
    }
    try await putChildren(of: path, json: json)
  }

  /// Writes an object child by child, and removes the children that it does not have.
  private mutating func putChildren(of path: PathArgument, json: JSON) async throws {
    let members = json.treeMembers
    let names = Set(members.lazy.map { Key(unchecked: $0.key) })
    var parts: [JSON.Member] = try await client.childNames(of: path, query: query)
      .filter { !names.contains($0) }
      .map { JSON.Member(key: $0.text, value: .null) }
    var weight = ImportWeight.zero
    for member in members where member.key != ".priority" {
      let added = ImportWeight(member.value, pathBytes: path.text.utf8.count + member.key.utf8.count)
      if !(weight + added).fits(chunk) || parts.count >= chunk.leaves {
        try await patch(path, parts)
        parts = []
        weight = .zero
      }
      parts.append(member)
      weight = weight + added
    }
    try await patch(path, parts)
    if path.target.isPriority { return }
    let priority = members.last { $0.key == ".priority" }?.value ?? .null
    try await putPriority(of: path, priority: priority)
  }

  /// Sets the priority of a path, or removes the one that the replaced value has left.
  private func putPriority(of path: PathArgument, priority: JSON) async throws {
    let target = PathArgument(priorityOf: path)
    if priority.isNull {
      // A place that is gone has no priority, and the server takes none for it, not even null.
      let old = try await client.get(target.urlPath, query: query.filter { $0.name == "ns" }, timeout: Self.timeout)
      if old.isNull { return }
    }
    _ = try await client.put(target.urlPath, priority, query: query, timeout: Self.timeout)
  }

  /// Removes the children of a place, the last ones first: as long as the first child stands, the server sees at once that
  /// the place is not empty yet.
  private mutating func removeChildren(of path: PathArgument) async throws {
    while true {
      var names = try await client.childNames(of: path, query: query)
      if names.isEmpty { return }
      let count = names.count
      while !names.isEmpty {
        let part = names.suffix(Self.removalMax).map { JSON.Member(key: $0.text, value: .null) }
        names.removeLast(part.count)
        try await patch(path, part)
        if count > Self.removalMax { progress.show("Removed \((count - names.count).grouped) of \(count.grouped) children") }
      }
    }
  }

  /// Writes some children of a place; halves them if that is too much for one commit.
  private mutating func patch(_ path: PathArgument, _ members: [JSON.Member]) async throws {
    guard !members.isEmpty else { return }
    let weight = ImportWeight(.object(members), pathBytes: path.text.utf8.count)
    if members.count == 1, !weight.fits(chunk) || path.target.isPriority {
      return try await put(try path.child(members[0].key), members[0].value)
    }
    if try await fits({ _ = try await client.patch(path.urlPath, .object(members), query: query, timeout: Self.timeout) }) {
      return count(weight.leaves)
    }
    if members.count == 1 {
      let child = try path.child(members[0].key)
      guard members[0].value.isNull else { return try await put(child, members[0].value) }
      return try await removeChildren(of: child)
    }
    let middle = members.count / 2
    try await patch(path, Array(members[..<middle]))
    try await patch(path, Array(members[middle...]))
  }

  /// Whether the server took a write; false if it is too large for one commit.
  private func fits(_ write: () async throws -> Void) async throws -> Bool {
    do {
      try await write()
      return true
    } catch let error as AdminClientError where error.isTooLarge {
      return false
    }
  }

  private mutating func count(_ leaves: Int) {
    done += leaves
    if total > 0 { progress.show("Imported \(done.grouped) of \(total.grouped) values") }
  }
}

extension AdminClient {
  /// The names of a place's children, in key order, read page by page; none for a leaf and for nothing.
  ///
  /// - `query`: of which the namespace counts.
  func childNames(of path: PathArgument, query: [QueryItem]) async throws -> [Key] {
    let namespace = query.filter { $0.name == "ns" }
    var names: [Key] = []
    while true {
      let wanted = DataTransfer.namesMax
      var page = namespace + [QueryItem("shallow", "true"), QueryItem("limitToFirst", String(wanted))]
      if let last = names.last { page.append(QueryItem("startAfter", last.text)) }
      let found = try await get(path.urlPath, query: page).treeMembers.map { Key(unchecked: $0.key) }
      names += found
      if found.count < wanted { return names }
    }
  }
}

extension AdminClientError {
  /// Whether a smaller write, or a smaller read, would be taken.
  var isTooLarge: Bool {
    switch code {
    case .refused(status: 400):
      // The first two are the hosted service's words, which the surface keeps, the third the engine's.
      message.hasPrefix("Data to write exceeds") || message.hasPrefix("Data requested exceeds")
        || message.hasPrefix("The write would cause more than")
    case .refused(status: 413): true
    default: false
    }
  }
}

extension JSON {
  /// Whether the value can be written child by child: a map or a list, not a leaf with its priority or a server value.
  var isSplittable: Bool {
    switch self {
    case .object(let members): !members.contains { $0.key == ".value" || $0.key == ".sv" }
    case .array: true
    default: false
    }
  }

  /// The members of a map; a list's elements under their numbers. Nulls, which are no children, are left out.
  var treeMembers: [JSON.Member] {
    switch self {
    case .object(let members): members.filter { !$0.value.isNull }
    case .array(let elements):
      elements.enumerated().filter { !$0.element.isNull }.map { JSON.Member(key: String($0.offset), value: $0.element) }
    default: []
    }
  }
}

extension PathArgument {
  /// The priority of a node.
  init(priorityOf path: PathArgument) {
    target = PathTarget(path: path.target.path, isPriority: true)
  }

  /// The place one level down.
  func child(_ name: String) throws -> PathArgument {
    PathArgument(target.path.child(try Key(name)))
  }
}
