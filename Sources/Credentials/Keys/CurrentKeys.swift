import Synchronization

/// The key ring as it is now: whoever signs and verifies asks here, and rotation replaces it.
public final class CurrentKeys: Sendable {
  private let current: Mutex<KeyRing>

  public init(_ ring: KeyRing) {
    current = Mutex(ring)
  }

  /// The ring.
  public var ring: KeyRing { current.withLock { $0 } }

  /// Puts another ring in its place; what is signed and verified from now on goes by it.
  public func replace(with ring: KeyRing) { current.withLock { $0 = ring } }
}
