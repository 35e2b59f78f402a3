public import TreeModel

/// What was taken out of a commit's payload for a player who left.
///
/// The commit's own digest and hash stay: they are of what was written. What is left in the payload has a digest of its own,
/// which the erasure's seal covers (``ErasureSeal``).
public struct ErasedPart: Sendable, Hashable {
  /// The commit that ordered the erasure; names it.
  public let order: Revision
  /// Below which places nothing is left.
  public let places: [PathBytes]
  /// SHA-256 of the stored form of the changes that were left.
  public let digest: [UInt8]

  public init(order: Revision, places: [PathBytes], digest: [UInt8]) {
    self.order = order
    self.places = places
    self.digest = digest
  }

  /// Whether something at or below a path, or around it, may be missing.
  public func concerns(_ path: PathBytes) -> Bool {
    places.contains { $0.contains(path) || path.contains($0) }
  }
}
