import ClientNIO
import ClientRuntime
import Foundation

#if canImport(Darwin)
  import ClientApple
#endif

/// What all services of an app stand on.
final class AppRuntime: Sendable {
  /// Nil where no app was configured, or its server's address is none.
  let server: ServiceAddress?
  let options: FirebaseOptions
  let clock: any ClientClock
  let http: any HTTPTransport
  let sockets: any SocketTransport
  let callbacks: CallbackQueue
  let log: ClientLog

  init(_ options: FirebaseOptions, http: (any HTTPTransport)? = nil) {
    let members = options.copy
    self.options = options
    server = options.address
    clock = members.clock.map { AppClockAdapter(clock: $0) as any ClientClock } ?? SystemClock()
    log =
      members.log.map { write in ClientLog { level, line in if ClientLog.wants(level) { write("\(level): \(line)") } } }
      ?? .standardError
    let file = members.certificateFile.map { path in FileManager.default.contents(atPath: path).map { Array($0) } ?? [UInt8]() }
    let transport = Self.transport(members.usesOwnNetworkCode, authorities: file.map { [$0] } ?? [])
    self.http = http ?? transport
    sockets = transport
    callbacks = CallbackQueue(queue: members.queue, clock: clock, log: log)
  }

  /// The system's network code where it can do all that is needed, unless the app wants the library's own.
  private static func transport(_ isOwn: Bool, authorities: [[UInt8]]) -> any HTTPTransport & SocketTransport {
    #if canImport(Darwin)
      if !isOwn { return URLSessionTransport(authorities: authorities) }
    #endif
    return NIOTransport(authorities: authorities)
  }

  /// Where the session is: the app's own store, on Apple's systems the keychain, elsewhere a file that is named after the app
  /// and the server.
  func sessions(of app: String) -> any SessionStorage {
    if let store = options.copy.sessionStore { return SessionStoreAdapter(store: store) }
    guard let server else { return SessionMemory() }
    #if canImport(Darwin)
      return KeychainSession(service: options.bundleID, account: "\(app) \(server)")
    #else
      return sessionFile(of: app, at: server)
    #endif
  }

  private func sessionFile(of app: String, at server: ServiceAddress) -> SessionFile {
    let name = "session-\(app)-\(server.authority)".map { $0.isLetter || $0.isNumber || ".-".contains($0) ? $0 : "_" }
    return SessionFile(folder: options.storageFolder, name: String(name) + ".json")
  }

  /// Runs an async function for a caller with a completion closure, which then runs once on the callback queue.
  func complete<Value: Sendable>(
    _ completion: ((Value?, (any Error)?) -> Void)?, by body: @escaping @Sendable () async throws -> Value
  ) {
    let completion = completion.map { Boxed($0) }
    Task {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      guard let completion else { return }
      callbacks.call {
        switch result {
        case .success(let value): completion.value(value, nil)
        case .failure(let error): completion.value(nil, error)
        }
      }
    }
  }

  /// The same for calls that give nothing.
  func complete(_ completion: (((any Error)?) -> Void)?, by body: @escaping @Sendable () async throws -> Void) {
    let boxed = completion.map { Boxed($0) }
    complete({ (_: Bool?, error: (any Error)?) in boxed?.value(error) }) {
      try await body()
      return true
    }
  }
}

private struct AppClockAdapter: ClientClock {
  let clock: any AppClock

  var milliseconds: Int64 { Int64(clock.now.timeIntervalSince1970 * 1000) }
  var uptime: Int64 { milliseconds }

  func schedule(after milliseconds: Int64, _ work: @escaping @Sendable () -> Void) -> any ClientTimer {
    let clock = clock
    return TaskTimer(
      task: Task {
        try await clock.sleep(seconds: Double(milliseconds) / 1000)
        work()
      })
  }
}

private struct TaskTimer: ClientTimer {
  let task: Task<Void, any Error>

  func cancel() { task.cancel() }
}

private struct SessionStoreAdapter: SessionStorage {
  let store: any SessionStore

  func read() -> [UInt8]? { store.load().map { Array($0) } }
  func write(_ bytes: [UInt8]?) throws { try store.save(bytes.map { Data($0) }) }
}

/// Runs one async function after the other, in the order in which they were handed over.
final class SerialTasks: Sendable {
  private let last = Locked<Task<Void, Never>?>(nil)

  /// Waits for its turn, and for the function. A caller that is ended ends the function.
  func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let task = enqueue(body)
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private func enqueue<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    last.withLock { last in
      let before = last
      let task = Task {
        await before?.value
        return try await body()
      }
      last = Task { _ = await task.result }
      return task
    }
  }
}
