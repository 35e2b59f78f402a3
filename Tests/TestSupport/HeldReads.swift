import Dispatch
public import StorageCore
import Synchronization

/// Stops the reading of what listens begin with, so that a test decides what happens meanwhile.
public final class HeldReads: Sendable {
  private let opened = DispatchSemaphore(value: 0)
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation
  private let state = Mutex((held: 0, begun: 0))

  public init() {
    (arrivals, arrived) = AsyncStream.makeStream()
  }

  /// How many reads have begun so far.
  public var begun: Int { state.withLock { $0.begun } }

  /// The next so many reads stop.
  public func hold(_ count: Int = 1) { state.withLock { $0.held += count } }

  /// Waits until one has stopped.
  public func arrival() async {
    for await _ in arrivals { return }
  }

  /// Lets one go on.
  public func open() { opened.signal() }

  /// Lets all go on, those that come later too: a test that has failed must be able to end.
  public func free() {
    state.withLock { $0.held = 0 }
    for _ in 0..<100 { opened.signal() }
  }

  fileprivate func pass() {
    let isHeld = state.withLock { state in
      state.begun += 1
      guard state.held > 0 else { return false }
      state.held -= 1
      return true
    }
    guard isHeld else { return }
    arrived.yield()
    opened.wait()
  }
}

/// A store whose reads may be held; all else is the store's.
public final class HeldEngine: StorageEngine {
  private let engine: any StorageEngine
  private let reads: HeldReads

  public init(_ engine: any StorageEngine, reads: HeldReads) {
    self.engine = engine
    self.reads = reads
  }

  public func read<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> Result {
    reads.pass()
    return try engine.read(body)
  }

  public func readAhead<Result, E: Error>(_ body: (any Snapshot) throws(E) -> Result) throws(E) -> (
    result: Result, position: Int
  ) {
    try engine.readAhead(body)
  }

  public func whenDurable(_ position: Int, _ proceed: @escaping @Sendable (Bool) -> Void) {
    engine.whenDurable(position, proceed)
  }
  public func makeWriteSession() throws(StorageError) -> any WriteSession { try engine.makeWriteSession() }
  public func backup(to path: String) throws(StorageError) { try engine.backup(to: path) }
  public func check() throws(StorageError) -> StoreReport { try engine.check() }
  public var isCheckpointDue: Bool { engine.isCheckpointDue }
  public func checkpoint() throws(StorageError) { try engine.checkpoint() }
  public func compact() throws(StorageError) -> Bool { try engine.compact() }
  public func releaseUnusedMemory() { engine.releaseUnusedMemory() }
  public func close() { engine.close() }
}
