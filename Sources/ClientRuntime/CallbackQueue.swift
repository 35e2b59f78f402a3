package import Dispatch
import Foundation

/// Where the app's closures run: one queue, the main queue unless the app names another.
package final class CallbackQueue: Sendable {
  /// How long a closure may wait before a line in the log names the queue, in milliseconds.
  package static let patience: Int64 = 5000

  /// What the app chose.
  package let queue: DispatchQueue
  private let clock: any ClientClock
  private let log: ClientLog
  private let state = Locked<(waiting: Bool, told: Bool)>((false, false))

  package init(queue: DispatchQueue, clock: any ClientClock, log: ClientLog) {
    self.queue = queue
    self.clock = clock
    self.log = log
  }

  /// Runs the closure on the queue, after those before.
  ///
  /// A command-line program whose main thread serves no queue would wait for ever without knowing why; it is told once.
  package func call(_ work: @escaping @Sendable () -> Void) {
    let watches = state.withLock { state in
      guard !state.waiting, !state.told else { return false }
      state.waiting = true
      return true
    }
    guard watches else { return queue.async(execute: work) }
    let timer = clock.schedule(after: Self.patience) { [self] in
      let isFirst = state.withLock { state in
        defer { state.told = true }
        return state.waiting && !state.told
      }
      guard isFirst else { return }
      log(
        .warning,
        "No callback ran for 5 seconds: nobody serves the queue \"\(queue.label)\". In a program without an event loop set "
          + "FirebaseOptions.callbackQueue to a queue of its own, use the async functions, or call dispatchMain().")
    }
    queue.async { [self] in
      timer.cancel()
      state.withLock { $0.waiting = false }
      work()
    }
  }
}

/// How much a line of the log matters.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  case debug, notice, warning, error

  package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// The library's log: lines for the app's developer, never a password, a token or a key.
package struct ClientLog: Sendable {
  private let write: @Sendable (LogLevel, String) -> Void

  package init(_ write: @escaping @Sendable (LogLevel, String) -> Void) { self.write = write }

  /// Whether lines of the level `debug` are written, by all apps of the process.
  package static let isVerbose = Locked(false)

  /// Whether a line of the level is to be written.
  package static func wants(_ level: LogLevel) -> Bool { level >= .notice || isVerbose.copy }

  /// Lines from `notice` on, and all of them where that was asked for, to standard error.
  package static let standardError = ClientLog { level, line in
    guard wants(level) else { return }
    FileHandle.standardError.write(Data("[Doubloon] \(level): \(line)\n".utf8))
  }

  package func callAsFunction(_ level: LogLevel, _ line: String) { write(level, line) }
}
