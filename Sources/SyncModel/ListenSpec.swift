package import TreeModel

/// A place and a window over its children: what a listener listens to.
package struct ListenSpec: Sendable, Hashable {
  /// The place.
  package let path: Path
  /// The window; without bounds and limit the whole node, in some order.
  package let query: Query

  /// A place and a window.
  package init(path: Path, query: Query = Query()) {
    self.path = path
    self.query = query
  }

  /// Whether the window may leave children out.
  package var isFiltered: Bool { !query.isUnfiltered }

  /// What is asked of the server: an order alone makes no difference to it.
  package var wire: ListenSpec { isFiltered ? self : ListenSpec(path: path) }

  /// Whether the place is the client's own and never reaches the server: `.info` and what is below it.
  package var isLocal: Bool { path.keys.first == Self.infoKey }

  /// The name of the client's own part of the tree.
  package static let infoKey = Key(unchecked: ".info")

  /// The last key of a place that stands for a node's priority, where the server says what changed.
  package static let priorityKey = Key(unchecked: ".priority")

  /// The part of a node that the window shows.
  package func shown(of node: TreeNode) -> TreeNode { isFiltered ? query.result(of: node) : node }
}

/// A listen as the server has it: a window has a tag, by which its data is told from that of others.
package struct WireListen: Sendable, Hashable {
  /// What is listened to.
  package let listened: ListenSpec
  /// The window's number; nil for a whole node.
  package let tag: Int?

  /// A listen of the server.
  package init(listened: ListenSpec, tag: Int?) {
    self.listened = listened
    self.tag = tag
  }
}

/// The number of a listener.
package struct ListenerID: Sendable, Hashable {
  /// The number, from 1.
  package let number: UInt

  /// The listener of a number.
  package init(_ number: UInt) { self.number = number }
}

/// The number of a write; writes of a later call have greater numbers.
package struct WriteID: Sendable, Hashable, Comparable {
  /// The number, from 1.
  package let number: Int

  /// The write of a number.
  package init(_ number: Int) { self.number = number }

  /// The order of the calls.
  package static func < (a: WriteID, b: WriteID) -> Bool { a.number < b.number }
}

/// The number of a transaction.
package struct TransactionID: Sendable, Hashable {
  /// The number, from 1.
  package let number: Int

  /// The transaction of a number.
  package init(_ number: Int) { self.number = number }
}

/// Why the server, or the client itself, did not do what was asked.
package struct Refusal: Sendable, Hashable {
  /// The word of the protocol: `permission_denied`, `datastale`, `write_canceled`, ….
  package let status: String
  /// What the server said about it; may be empty.
  package let reason: String

  /// A refusal.
  package init(status: String, reason: String = "") {
    self.status = status
    self.reason = reason
  }

  /// The rules do not allow it.
  package static let permissionDenied = Refusal(status: "permission_denied")
  /// The write was withdrawn before the server answered.
  package static let writeCancelled = Refusal(status: "write_canceled")
  /// A set at, above or below the transaction's place.
  package static let overridden = Refusal(status: "set")
  /// The value changed under the transaction too often.
  package static let maxRetries = Refusal(status: "maxretry")
  /// The connection was lost after the transaction was sent.
  package static let disconnected = Refusal(status: "disconnect")
}
