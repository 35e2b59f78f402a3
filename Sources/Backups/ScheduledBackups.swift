import Glibc
package import Logging
package import StorageCore
import Synchronization
import TextFormats
import TreeModel

/// Makes backups when they are due, and removes old ones when the new one is good.
///
/// Everything that blocks happens on a thread of its own; the writer goes on meanwhile. A failure is logged and tried again,
/// after a minute first, then twice as long each time, at most an hour.
package final class ScheduledBackups: Sendable {
  /// The longest sleep, in milliseconds: after it a clock that was moved is noticed.
  static let napMax: Int64 = 60_000
  static let retryMin: Int64 = 60_000
  static let retryMax: Int64 = 3_600_000
  private static let stateName = "backups.state"

  private struct State {
    var last: Int64?
    var failures = 0
    var retryAt: Int64?
  }

  private let maker: BackupMaker
  package let settings: BackupSettings
  /// What the store is known by.
  private let store: String
  private let clock: any WallClock
  private let logger: Logger
  /// Told of every backup that was tried: where metrics and alerts are hung in.
  private let observer: @Sendable (BackupReport) -> Void
  private let state: Mutex<State>
  private let isStopping = Atomic<Bool>(false)

  package init(
    _ settings: BackupSettings, maker: BackupMaker, store: String, clock: any WallClock, logger: Logger,
    observer: @escaping @Sendable (BackupReport) -> Void = { _ in }
  ) {
    self.settings = settings
    self.maker = maker
    self.store = store
    self.clock = clock
    self.logger = logger
    self.observer = observer
    // One that is still to come was made while the clock was ahead: when that was is not known.
    let last = Self.readState(maker.folder) ?? Self.newest(of: settings, store: store)
    let now = clock.now()
    state = Mutex(State(last: last.flatMap { $0 <= now ? $0 : nil }))
  }

  /// When the last good one was begun, in milliseconds since 1970, an earlier process's too; nil if none is known.
  package var lastMade: Int64? { state.withLock(\.last) }

  /// When the next one is due, in milliseconds since 1970.
  package var due: Int64 {
    state.withLock { state in
      let now = clock.now()
      // A clock that was set back must not put anything off by as much. What is found is kept: counted from each look's own time
      // it would never come.
      state.last = state.last.map { min($0, now) }
      state.retryAt = state.retryAt.map { min($0, now + Self.retryMax) }
      return state.retryAt ?? settings.schedule.next(after: state.last, now: now)
    }
  }

  /// Makes what is due until the task is cancelled.
  @Sendable package func run() async throws {
    while true {
      // A first one that is due some time is not due again at every look.
      let due = self.due
      while clock.now() < due {
        try await clock.sleep(until: min(due, clock.now() + Self.napMax))
        if self.due != due { break }
      }
      try Task.checkCancellation()
      if clock.now() >= due { await attempt() }
    }
  }

  /// Makes one now.
  ///
  /// - Returns: what came of it; the observer was told of it too.
  @discardableResult
  package func attempt() async -> BackupReport {
    let begin = clock.now()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<Int64, any Error>, Never>) in
        BlockingThread { [self] in continuation.resume(returning: Result { try make(at: begin) }) }.detach()
      }
    } onCancel: {
      isStopping.store(true, ordering: .relaxed)
    }
    let report = note(result, begun: begin)
    observer(report)
    return report
  }

  private func note(_ result: Result<Int64, any Error>, begun: Int64) -> BackupReport {
    let (now, place) = (clock.now(), settings.place(of: BackupName(store: store, time: begun)))
    switch result {
    case .success(let bytes):
      state.withLock { $0 = State(last: begun) }
      return BackupReport(time: begun, duration: max(0, now - begun), place: place, result: .made(bytes: bytes))
    case .failure(let error):
      let wait = state.withLock { state -> Int64 in
        let wait = min(Self.retryMin << Int64(min(state.failures, 10)), Self.retryMax)
        state.failures += 1
        state.retryAt = now + wait
        return wait
      }
      let reason = (error as? StorageError)?.message ?? "\(error)"
      logger.error(
        "the scheduled backup failed", metadata: ["reason": "\(reason)", "next attempt": "in \(wait / 60_000) min"])
      return BackupReport(time: begun, duration: max(0, now - begun), place: place, result: .failed(reason))
    }
  }

  // MARK: Making one

  /// On a thread of its own. Returns the backup's size.
  private func make(at time: Int64) throws -> Int64 {
    let name = BackupName(store: store, time: time)
    let bytes: Int64
    switch settings.destination {
    case .folder(let folder): bytes = try write(name, into: folder)
    case .command(let words): bytes = try send(name, to: words)
    }
    writeState(time)
    logger.notice("a scheduled backup was made", metadata: ["name": "\(name.text)", "bytes": "\(bytes)"])
    if case .folder(let folder) = settings.destination { removeOld(in: folder, newest: name) }
    return bytes
  }

  private func write(_ name: BackupName, into folder: String) throws -> Int64 {
    removePartials(in: folder)
    let file = try FileReplacement("\(folder)/\(name.text)", notIn: maker.folder)
    let output = StoppableOutput(file.output, isStopping: { [self] in isStopping.load(ordering: .relaxed) })
    do {
      _ = try maker.write(settings.contents, to: output)
      try file.commit()
    } catch {
      file.abandon()
      throw error
    }
    // Only what was read again makes an older one needless.
    try BackupReader.check(file.target, sha256: file.output.sha256)
    return file.output.count
  }

  private func send(_ name: BackupName, to words: [String]) throws -> Int64 {
    let isEnded: () -> Bool = { [self] in isStopping.load(ordering: .relaxed) }
    let filled = words.map { Self.filled($0, name: name.text) }
    let command = try PipedCommand(filled, timeout: settings.timeout, isStopping: isEnded)
    let output = StoppableOutput(command, isStopping: isEnded)
    do {
      _ = try maker.write(settings.contents, to: output)
      try command.finish()
    } catch {
      command.end()
      throw error
    }
    return output.count
  }

  /// An argument with the backup's name in it.
  static func filled(_ word: String, name: String) -> String {
    var (rest, text) = (word[...], "")
    let mark = "{name}"
    while let start = rest.indices.first(where: { rest[$0...].hasPrefix(mark) }) {
      text += rest[..<start] + name
      rest = rest[start...].dropFirst(mark.count)
    }
    return text + rest
  }

  // MARK: Removing old ones

  /// Of this store's own, by their names; regular files only. A failure is logged: the new one is there.
  private func removeOld(in folder: String, newest: BackupName) {
    guard let retention = settings.retention else { return }
    let own = Self.own(in: folder, store: newest.store)
    let kept = retention.kept(of: own.map(\.time))
    for name in own where !kept.contains(name.time) && name != newest {
      let path = "\(folder)/\(name.text)"
      if unlink(path) == 0 {
        logger.notice("an old backup was removed", metadata: ["name": "\(name.text)"])
      } else {
        logger.warning(
          "an old backup cannot be removed",
          metadata: ["name": "\(name.text)", "reason": "\(String(cString: strerror(errno)))"])
      }
    }
  }

  private static func own(in folder: String, store: String) -> [BackupName] {
    (FileSystem.names(in: folder) ?? []).compactMap(BackupName.init).filter { name in
      var status = stat()
      return name.store == store && lstat("\(folder)/\(name.text)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
  }

  /// What a process left that was killed while it wrote: nobody holds it any more.
  private func removePartials(in folder: String) {
    let ending = ".partial"
    for text in FileSystem.names(in: folder) ?? [] where text.hasSuffix(ending) {
      guard let name = BackupName(String(text.dropLast(ending.count))), name.store == BackupName(store: store, time: 0).store
      else { continue }
      let descriptor = open("\(folder)/\(text)", O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink("\(folder)/\(text)") }
      close(descriptor)
    }
  }

  /// The scheduled copies that are in the folder, newest first; none where a command takes them.
  ///
  /// - Parameter limit: at most so many.
  package func copies(limit: Int) -> [(place: String, time: Int64, bytes: Int64)] {
    guard case .folder(let folder) = settings.destination else { return [] }
    let own = Self.own(in: folder, store: BackupName(store: store, time: 0).store).sorted { $0.time > $1.time }
    return own.prefix(limit).compactMap { name in
      let path = settings.place(of: name)
      var status = stat()
      return lstat(path, &status) == 0 ? (path, name.time, Int64(status.st_size)) : nil
    }
  }

  // MARK: What is remembered

  private static func newest(of settings: BackupSettings, store: String) -> Int64? {
    guard case .folder(let folder) = settings.destination else { return nil }
    return own(in: folder, store: BackupName(store: store, time: 0).store).map(\.time).max()
  }

  private static func readState(_ folder: String?) -> Int64? {
    guard let folder, let input = try? FileInput("\(folder)/\(stateName)"), let bytes = try? input.read(upTo: 4096) else {
      return nil
    }
    return (try? JSONParser.parse(String(decoding: bytes, as: UTF8.self)))?["last"]?.int
  }

  /// When the last good one was made. Where it cannot be kept, the next start makes one too many.
  private func writeState(_ time: Int64) {
    guard let folder = maker.folder else { return }
    let (path, partial) = ("\(folder)/\(Self.stateName)", "\(folder)/\(Self.stateName).partial")
    let state: JSON = ["last": .int(time)]
    do {
      unlink(partial)
      let output = try FileOutput(creating: partial)
      try output.write(Array(state.compactText.utf8))
      try output.finish()
      guard rename(partial, path) == 0 else { throw FileSystem.failed("renaming", path: partial) }
    } catch {
      logger.warning("when the last backup was made cannot be kept", metadata: ["reason": "\(error)"])
    }
  }
}

/// Passes bytes on until the server is told to end; counts them.
private final class StoppableOutput: BackupOutput {
  private let output: any BackupOutput
  private let isStopping: () -> Bool
  private(set) var count: Int64 = 0

  init(_ output: any BackupOutput, isStopping: @escaping () -> Bool) {
    self.output = output
    self.isStopping = isStopping
  }

  func write(_ bytes: [UInt8]) throws {
    guard !isStopping() else { throw PipedCommand.stopping }
    try output.write(bytes)
    count += Int64(bytes.count)
  }
}
