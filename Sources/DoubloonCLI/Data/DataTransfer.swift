import AdminClient
import NIOCore
import TreeModel

/// Removes parts of the tree that are too large for one commit, a part after the other.
///
/// A part that the server still finds too large is halved until it fits: only the server knows what is below it.
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
  private var progress: ProgressLine

  init(client: AdminClient, query: [QueryItem], output: CommandOutput) {
    self.client = client
    self.query = query
    progress = ProgressLine(output)
  }

  /// Removes the value at a path.
  mutating func remove(_ path: PathArgument) async throws {
    defer { progress.clear() }
    if try await fits({ _ = try await client.delete(path.urlPath, query: query, timeout: Self.timeout) }) { return }
    try await removeChildren(of: path)
  }

  /// Removes the children of a place, the last ones first: as long as the first child stands, the server sees at once that
  /// the place is not empty yet.
  private mutating func removeChildren(of path: PathArgument) async throws {
    while true {
      var names = try await client.childNames(of: path, query: query)
      if names.isEmpty { return }
      let count = names.count
      while !names.isEmpty {
        let part = Array(names.suffix(Self.removalMax))
        names.removeLast(part.count)
        try await remove(part, of: path)
        if count > Self.removalMax { progress.show("Removed \((count - names.count).grouped) of \(count.grouped) children") }
      }
    }
  }

  /// Removes some children of a place; halves them if that is too much for one commit.
  private mutating func remove(_ names: [Key], of path: PathArgument) async throws {
    guard let first = names.first else { return }
    let update = JSON.object(names.map { JSON.Member(key: $0.text, value: .null) })
    if try await fits({ _ = try await client.patch(path.urlPath, update, query: query, timeout: Self.timeout) }) { return }
    if names.count == 1 { return try await removeChildren(of: try path.child(first.text)) }
    let middle = names.count / 2
    try await remove(Array(names[..<middle]), of: path)
    try await remove(Array(names[middle...]), of: path)
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
  /// The place one level down.
  func child(_ name: String) throws -> PathArgument {
    PathArgument(target.path.child(try Key(name)))
  }
}
