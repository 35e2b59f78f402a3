import StorageCore
import TreeModel

/// Two accounts of one player that are to be one (spec: auth-protocol §4.3, §7: the credential led to another uid).
struct MergeOrder: Sendable {
  /// The account that the player leaves.
  let from: Key
  /// The account that the player goes on with.
  let into: Key
  let actor: Actor
  let reason: String
  /// Whether the coins go along.
  let movesBalances: Bool
  /// Whether what the other record does not have is copied.
  let copiesRecord: Bool
}
