#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Dispatch
import StorageCore
import StorageSQLite
import Synchronization
import TreeDatabase
import TreeModel

/// One measurement.
struct FanOutRun {
  let shape: Shape
  let listeners: Int
  let writes: Int

  func run() async throws -> String {
    let engine = try SQLiteEngine.inMemory()
    let hub = ListenerHub(engine: engine)
    let database = try Database(engine: engine, participants: [], observers: [hub], clock: SystemClock())
    defer {
      database.shutDown()
      hub.stop()
      engine.close()
    }
    let namespace = try await database.openNamespace(named: "bench")
    let before = Self.memory()
    let sinks = try await connect(to: hub, namespace)
    let bytes = (Self.memory() - before) / listeners

    let (begin, cpuBegin, deliveredBefore) = (
      Self.seconds(CLOCK_MONOTONIC), Self.seconds(CLOCK_PROCESS_CPUTIME_ID), hub.counts.deliveries
    )
    try await write(database, namespace)
    // One of each executor, which does in order what it is handed.
    for sink in sinks.prefix(2) { await sink.settled() }
    let seconds = Self.seconds(CLOCK_MONOTONIC) - begin
    let cpu = Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - cpuBegin
    let delivered = hub.counts.deliveries - deliveredBefore
    let wanted = shape == .ownPaths ? writes : writes * listeners
    // Writes overtake each other; one that comes too late to be among the highest changes no window.
    let isRight = shape == .sameWindow ? delivered <= wanted && delivered > wanted / 2 : delivered == wanted
    guard isRight || hub.counts.resyncs > 0 else {
      throw BenchmarkError("\(delivered) deliveries instead of \(wanted)")
    }
    let name = shape.rawValue + String(repeating: " ", count: 12 - shape.rawValue.count)
    return "\(listeners) listeners  \(name) \(Int(Double(delivered) / seconds)) deliveries/s  "
      + "\(Double(Int(cpu * 1e9 / Double(delivered))) / 1000) µs of CPU each  \(hub.counts.resyncs) resyncs  \(bytes) bytes a listener"
  }

  /// A connection for each listener.
  private func connect(to hub: ListenerHub, _ namespace: NamespaceID) async throws -> [CountingSink] {
    let executors = [QueueExecutor(), QueueExecutor()]
    let sinks = try (0..<listeners).map { index in
      let request =
        switch shape {
        case .samePath: ListenRequest(namespace: namespace, path: "/scores", format: .export)
        case .sameWindow:
          ListenRequest(
            namespace: namespace, path: "/scores", query: Query(order: .child("score"), limit: .last(10)), format: .export)
        case .ownPaths:
          ListenRequest(namespace: namespace, path: try Path(parsing: "scores/p\(index % listeners)"), format: .export)
        }
      return CountingSink(hub: hub, on: executors[index % 2], request)
    }
    for sink in sinks { await sink.settled() }
    return sinks
  }

  /// 64 writes on their way at a time, each higher than the one before.
  private func write(_ database: Database, _ namespace: NamespaceID) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<writes {
        if number >= 64 { try await group.next() }
        let path = try Path(parsing: "scores/p\(number % (shape == .ownPaths ? 1 : 20))")
        let node: TreeNode = ["score": .leaf(.int(Int64(number))), "name": "somebody"]
        let request = CommitRequest(namespace: namespace, actor: .admin("bench"), operations: [.set(path, node)])
        group.addTask { _ = try await database.commit(request) }
      }
      try await group.waitForAll()
    }
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The process's resident memory in bytes, where the system tells it.
  private static func memory() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, 128, file) != nil else { return 0 }
    let words = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: " "))
    return words.count > 1 ? (Int(String(decoding: words[1], as: UTF8.self)) ?? 0) * 4096 : 0
  }
}

/// A connection that counts what comes.
///
/// `@unchecked Sendable`: used on its executor only, but for `listener`, which is set before anything comes.
final class CountingSink: ListenSink, @unchecked Sendable {
  private var listener: Listener?
  private(set) var bytes = 0

  init(hub: ListenerHub, on executor: QueueExecutor, _ request: ListenRequest) {
    listener = hub.attach(self, on: executor)
    executor.queue.sync { _ = listener?.listen(request) }
  }

  func receive(_ event: ListenEvent, for listening: Listening) -> Int {
    if case .change(let message) = event { bytes += message.body.count }
    return 0
  }

  func flush() {}

  /// Waits until everything that was committed has come.
  func settled() async {
    await withCheckedContinuation { continuation in listener?.afterDeliveries { continuation.resume() } }
  }
}

/// A thread of control, as an event loop is one.
final class QueueExecutor: DeliveryExecutor {
  let queue = DispatchQueue(label: "executor")
  var identity: ObjectIdentifier { ObjectIdentifier(self) }
  func execute(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

/// Why a benchmark ended early.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
