import Synchronization

/// The key ring as it is now: whoever signs and verifies asks here, and rotation replaces it.
public final class CurrentKeys: Sendable {
  private struct State {
    var ring: KeyRing?
    var published: PublishedKeys?
  }

  private let state: Mutex<State>
  private let make: @Sendable () -> KeyRing

  public init(_ ring: KeyRing) {
    state = Mutex(State(ring: ring))
    make = { ring }
  }

  /// Keys that are made when they are first asked for: a server in development may never need them, and making one takes
  /// longer than all the rest of its start.
  public init(whenNeeded make: @escaping @Sendable () -> KeyRing) {
    state = Mutex(State())
    self.make = make
  }

  /// The ring.
  public var ring: KeyRing {
    state.withLock { ring(of: &$0) }
  }

  /// Whether there are keys by now.
  public var areMade: Bool { state.withLock { $0.ring != nil } }

  /// Puts another ring in its place; what is signed and verified from now on goes by it.
  public func replace(with ring: KeyRing) { state.withLock { $0 = State(ring: ring) } }

  /// The public keys in the forms that others read; made once for each ring.
  public func published() throws(TokenFault) -> PublishedKeys {
    let made = state.withLock { state -> Result<PublishedKeys, TokenFault> in
      if let published = state.published { return .success(published) }
      let ring = ring(of: &state)
      return Result { () throws(TokenFault) -> PublishedKeys in
        let published = try PublishedKeys(ring)
        state.published = published
        return published
      }
    }
    return try made.get()
  }

  private func ring(of state: inout State) -> KeyRing {
    if let ring = state.ring { return ring }
    let ring = make()
    state.ring = ring
    return ring
  }
}
