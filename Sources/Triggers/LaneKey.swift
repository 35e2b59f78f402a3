import StorageCore
import TreeModel

/// The order key of a delivery: events with the same one wait for each other (design §5).
struct LaneKey: Hashable, Sendable {
  let function: Int
  let namespace: NamespaceID
  /// The first capture, compared by its bytes; empty if the pattern has none.
  let capture: Key
}
