import Dispatch
import StorageCore
import Synchronization
import TreeDatabase
import TreeModel

/// A connection whose client mirrors everything that it listens to.
///
/// `@unchecked Sendable`: touched on its executor only; tests look through `TestExecutor.sync`.
final class MirrorSink: ListenSink, @unchecked Sendable {
  private(set) var mirrors: [ObjectIdentifier: ListenMirror] = [:]
  /// In their order; kept, so that identities stay unique.
  private var listenings: [Listening] = []
  /// Listens that have had no event yet, in their order.
  private var unbegun: [ObjectIdentifier] = []
  /// Whether a listen had its first event before one that began earlier.
  private(set) var isOutOfOrder = false
  /// Every event, as text.
  private(set) var log: [String] = []
  private(set) var changes: [ListenMessage] = []
  var events: Int { log.count }
  private(set) var flushes = 0
  /// Events for listens that were stopped.
  private(set) var strayEvents = 0
  private var isFlushed = true
  /// Whether its client reads nothing: what it is sent stays unwritten.
  var isStalled = false
  private(set) var unwritten = 0
  var listener: Listener?
  var isRevoked = false

  func begin(_ request: ListenRequest) -> Listening? {
    guard let listening = listener?.listen(request) else { return nil }
    listenings.append(listening)
    unbegun.append(ObjectIdentifier(listening))
    mirrors[ObjectIdentifier(listening)] = ListenMirror(request)
    return listening
  }

  /// Stops listening; what comes for it from now on is a mistake.
  func stop(_ listening: Listening) {
    unbegun.removeAll { $0 == ObjectIdentifier(listening) }
    listener?.stop(listening)
    mirrors[ObjectIdentifier(listening)] = nil
  }

  func receive(_ event: ListenEvent, for listening: Listening) -> Int {
    note(event)
    if mirrors[ObjectIdentifier(listening)] == nil { strayEvents += 1 }
    isFlushed = false
    if let place = unbegun.firstIndex(of: ObjectIdentifier(listening)) {
      unbegun.remove(at: place)
      if place > 0 { isOutOfOrder = true }
    }
    mirrors[ObjectIdentifier(listening)]?.apply(event)
    guard isStalled else { return 0 }
    let bytes =
      switch event {
      case .snapshot(let message), .change(let message): message.body.count + 10
      case .current, .ended: 10
      }
    unwritten += bytes
    return bytes
  }

  /// The body; what a merge names, by name.
  private static func sorted(_ message: ListenMessage) -> String {
    let text = String(decoding: message.body, as: UTF8.self)
    guard message.kind == .merge, let members = (try? JSONParser.parse(text))?.object else { return text }
    var writer = JSONWriter()
    writer.write(.object(members.sorted { $0.key < $1.key }))
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  func note(_ text: String) { log.append(text) }

  private func note(_ event: ListenEvent) {
    switch event {
    case .snapshot(let message): log.append("snapshot \(String(decoding: message.body, as: UTF8.self))")
    case .change(let message):
      changes.append(message)
      let path = message.path.isEmpty ? "/" : message.path
      log.append("\(message.kind) \(path) \(Self.sorted(message))")
    case .current: log.append("current")
    case .ended: log.append("ended")
    }
  }

  func flush() {
    flushes += 1
    isFlushed = true
  }

  func mayContinue(_ listening: Listening) -> Bool { !isRevoked }

  /// Notes what the mirrors hold when a write of this revision is acknowledged.
  func markAll(_ revision: Revision) {
    for id in mirrors.keys { mirrors[id]?.mark(revision) }
  }

  /// The client reads everything that waits, and goes on reading.
  func read() {
    isStalled = false
    let bytes = unwritten
    unwritten = 0
    listener?.didWrite(bytes)
  }

  var isFullyFlushed: Bool { isFlushed }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A executor that runs its work when the test says so, on the test's own thread, or at once on a queue of its own.
final class TestExecutor: DeliveryExecutor, Sendable {
  private let queue = DispatchQueue(label: "executor")

  var identity: ObjectIdentifier { ObjectIdentifier(self) }

  func execute(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Runs something on the executor and waits for it.
  func sync<T>(_ work: () throws -> T) rethrows -> T { try queue.sync(execute: work) }

  /// Holds everything up until the result is called.
  func block() -> @Sendable () -> Void {
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    return { gate.signal() }
  }
}
