import Synchronization

/// The key ring as it is now: whoever signs and verifies asks here, and rotation replaces it.
public final class CurrentKeys: Sendable {
  private let current: Mutex<KeyRing?>
  private let make: @Sendable () -> KeyRing

  public init(_ ring: KeyRing) {
    current = Mutex(ring)
    make = { ring }
  }

  /// A ring that is made when it is first asked for: a server that signs nothing need not wait for a key.
  public init(making make: @escaping @Sendable () -> KeyRing) {
    current = Mutex(nil)
    self.make = make
  }

  /// The ring.
  public var ring: KeyRing {
    current.withLock { current in
      if let current { return current }
      let made = make()
      current = made
      return made
    }
  }

  /// Puts another ring in its place; what is signed and verified from now on goes by it.
  public func replace(with ring: KeyRing) { current.withLock { $0 = ring } }
}
