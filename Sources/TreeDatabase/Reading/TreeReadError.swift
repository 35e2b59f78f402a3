public import StorageCore
public import TreeModel

/// Why a read gives no answer.
public enum TreeReadError: Error, Sendable {
  /// The store failed.
  case storage(StorageError)
  /// The answer, or the search for it, exceeds ``ReadBounds``.
  case tooLarge
  /// ``ReadBounds/isUnwanted`` said so.
  case stopped
}

/// Turns a fault of the store into a fault of the read that met it.
func reading<Result>(_ body: () throws(StorageError) -> Result) throws(TreeReadError) -> Result {
  do throws(StorageError) {
    return try body()
  } catch {
    throw .storage(error)
  }
}

/// A query that the rules have no index for (Firebase, "Index Your Data").
public struct MissingIndex: Error, Sendable, Hashable {
  /// By what the children would have to be indexed.
  public let order: NodeOrder
  /// The node whose children are asked for.
  public let path: Path
  /// What holds where no rules are set; nil where there are rules to add the index to.
  public let unruled: Unruled?

  /// What holds in a namespace without rules.
  public enum Unruled: Sendable, Hashable {
    /// Everyone may do everything, as in development.
    case open
    /// Only administrators may.
    case closed
  }

  public init(order: NodeOrder, path: Path, unruled: Unruled? = nil) {
    self.order = order
    self.path = path
    self.unruled = unruled
  }

  /// The hosted service's own words, which developers look for; where no rules are set, with what to write into which file.
  public var message: String {
    let words = "Index not defined, add \".indexOn\": \"\(order.indexName)\", for path \"\(path)\", to the rules"
    guard let unruled else { return words }
    let dev = unruled == .open ? ", or start with \"doubloon dev --rules rules.json\"" : ""
    return "\(words). There are none yet: write \(rules(unruled)) into a file rules.json, and load it with "
      + "\"doubloon rules put rules.json\"\(dev)."
  }

  /// The smallest rules with the index that leave who may do what as it is.
  private func rules(_ unruled: Unruled) -> String {
    var node: JSON = [".indexOn": .string(order.indexName)]
    for key in path.keys.reversed() { node = .object([.init(key: key.text, value: node)]) }
    let access: [JSON.Member] = [".read", ".write"].map { .init(key: $0, value: .bool(unruled == .open)) }
    var writer = JSONWriter()
    writer.write(.object([.init(key: "rules", value: .object(access + (node.object ?? [])))]))
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
