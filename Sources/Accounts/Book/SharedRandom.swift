import Synchronization

/// One generator for several who draw: each number goes to one of them.
final class SharedRandom: RandomNumberGenerator, Sendable {
  private let generator: Mutex<any RandomNumberGenerator & Sendable>

  init(_ generator: any RandomNumberGenerator & Sendable) {
    self.generator = Mutex(generator)
  }

  func next() -> UInt64 { generator.withLock { $0.next() } }
}
