public import TreeModel

/// Where a ``FunctionContext`` reads from; the engine provides it.
public protocol FunctionReader: Sendable {
  /// The node as of the event's commit: what a replay will see again.
  func nodeAtEvent(_ path: Path) throws -> TreeNode
  /// Whether anything is there as of the event's commit; reads no more than it needs to know that.
  func existsAtEvent(_ path: Path) throws -> Bool
  /// Whether anything was there at a moment, in milliseconds since 1970. Before what the log still holds: when it begins.
  func exists(_ path: Path, at time: Int64) throws -> Bool
  /// Whether a user has an account on this server, as it is now.
  func hasAccount(_ uid: String) throws -> Bool
  /// The node as it is now.
  func latestNode(_ path: Path) throws -> TreeNode
  /// What stood there just before the event's commit.
  func nodeBeforeEvent(_ path: Path) throws -> TreeNode
  /// A record beside the tree, as it is now.
  func record(_ kind: String, _ key: String) throws -> String?
  /// Records of a kind whose keys begin like this, as they are now; at most 1000.
  func records(_ kind: String, under start: String) throws -> [(key: String, value: String)]
  /// Whether the reward of a code was paid to somebody else who had one of the player's identities, and left or gave it up.
  func wasPaid(_ player: String, _ code: String) throws -> Bool
}
