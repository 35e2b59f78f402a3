import AdminClient
import TreeModel

extension AdminClient {
  /// The names of a place's children, in key order, read page by page; none for a leaf and for nothing.
  ///
  /// - Parameter query: of which the namespace counts.
  func childNames(of place: TreeLocation, query: [QueryItem]) async throws -> [Key] {
    let namespace = query.filter { $0.name == "ns" }
    var names: [Key] = []
    while true {
      let wanted = DataTransfer.namesMax
      var page = namespace + [QueryItem("shallow", "true"), QueryItem("limitToFirst", String(wanted))]
      if let last = names.last { page.append(QueryItem("startAfter", last.text)) }
      let found = try await get(place.urlPath, query: page).treeMembers.map { Key(unchecked: $0.key) }
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
      // The hosted service's words, which the surface keeps (spec: rtdb-protocol §2); and the engine's for events.
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

extension TreeLocation {
  /// The priority of a node.
  init(priorityOf place: TreeLocation) {
    target = PathTarget(path: place.target.path, isPriority: true)
  }

  /// The place one level down.
  func child(_ name: String) throws -> TreeLocation {
    TreeLocation(target.path.child(try Key(name)))
  }
}
