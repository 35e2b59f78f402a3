import Glibc
import Logging
import StorageCore
import StorageSQLite
import Synchronization
import TestSupport
import Testing

@testable import Backups

@Suite("Scheduled backups")
struct ScheduledBackupTests {
  private static let day: Int64 = 86_400_000

  let source: BackedUpFolder
  let identity = BackupIdentity.generate()
  let clock = AdjustableClock(frozenAt: 1_795_500_000_000)
  let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

  init() throws {
    source = try BackedUpFolder()
    mkdir(source.folder.file("to"), 0o700)
  }

  private var to: String { source.folder.file("to") }
  private var names: [String] { FileSystem.names(in: to) ?? [] }

  private func backups(
    _ destination: BackupSettings.Destination, keep: BackupRetention? = nil, every: Int64 = day, timeout: Int64 = 20_000,
    observer: @escaping @Sendable (BackupReport) -> Void = { _ in }
  ) -> ScheduledBackups {
    let settings = BackupSettings(
      schedule: BackupSchedule(every: every), destination: destination, recipient: identity.recipient, retention: keep,
      timeout: timeout)
    let maker = BackupMaker(engine: source.engine, folder: source.data, clock: clock)
    return ScheduledBackups(
      settings, maker: maker, store: "0123456789abcdef", clock: clock, logger: logger, observer: observer)
  }

  private func isMade(_ report: BackupReport) -> Bool {
    if case .made = report.result { true } else { false }
  }

  private func reason(_ report: BackupReport) -> String {
    if case .failed(let reason) = report.result { reason } else { "" }
  }

  @Test("into a folder: sealed, readable by the owner, and the old ones go; others' files stay")
  func folder() async throws {
    let foreign = [
      "doubloon-ffffffffffff-20260101T000000.000Z.backup", "notes.txt", "doubloon-monday.backup", "x.backup.partial",
    ]
    for name in foreign { try source.folder.write("mine", to: "to/\(name)") }
    symlink("/etc/hostname", "\(to)/doubloon-0123456789ab-20200101T000000.000Z.backup")
    try source.folder.write("rest", to: "to/doubloon-0123456789ab-20200102T000000.000Z.backup.partial")
    let backups = backups(.folder(to), keep: BackupRetention(last: 2, daily: 0, weekly: 0))
    for _ in 0..<4 {
      #expect(await isMade(backups.attempt()))
      clock.advance(by: Self.day)
    }
    let own = names.compactMap(BackupName.init).filter { $0.store == "0123456789ab" && $0.time > 1_700_000_000_000 }
    #expect(own.count == 2)
    let listed = backups.copies(limit: 10)
    #expect(listed.map(\.place) == own.sorted { $0.time > $1.time }.map { "\(to)/\($0.text)" })
    #expect(listed.allSatisfy { $0.bytes > 0 } && backups.copies(limit: 1).count == 1)
    #expect(Set(foreign).isSubset(of: names) && names.count == foreign.count + 3)
    var status = stat()
    #expect(lstat("\(to)/\(own[0].text)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    let restored = try RestoredFolder(of: "\(to)/\(own[1].text)", to: nil, opener: .identity(identity))
    #expect(restored.manifest?.holdsKeys == true)
    restored.remove()
    #expect(!FileSystem.exists(restored.path))
  }

  @Test("when the new one fails nothing old is removed; it is tried again, later each time, and then goes on")
  func failures() async throws {
    let backups = backups(.folder(to), keep: BackupRetention(last: 1, daily: 0, weekly: 0))
    #expect(await isMade(backups.attempt()))
    let kept = names
    rename(to, to + ".away")
    clock.advance(by: Self.day)
    var waits: [Int64] = []
    for _ in 0..<9 {
      #expect(await reason(backups.attempt()).contains("No such file"))
      waits.append((backups.due - clock.now()) / 60_000)
      clock.advance(by: backups.due - clock.now())
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    rename(to + ".away", to)
    #expect(names == kept)
    #expect(await isMade(backups.attempt()))
    #expect(names.count == 1 && names != kept)
    #expect(backups.due == clock.now() + Self.day)
  }

  @Test("a clock that was set back puts nothing off by as much: it counts on from the look that found it so")
  func clockSetBack() async throws {
    let backups = backups(.folder(to))
    #expect(await isMade(backups.attempt()))
    clock.setBack(by: 1000 * Self.day)
    let due = backups.due
    #expect(due == clock.now() + Self.day)
    clock.advance(by: Self.day / 2)
    #expect(backups.due == due)
    rename(to, to + ".away")
    #expect(await !isMade(backups.attempt()))
    clock.setBack(by: Self.day)
    let retry = backups.due
    #expect(retry == clock.now() + ScheduledBackups.retryMax)
    clock.advance(by: 60_000)
    #expect(backups.due == retry)
  }

  @Test("a backup that an earlier process made while the clock was ahead keeps no later process from making one")
  func clockWasAhead() async throws {
    #expect(await isMade(backups(.folder(to)).attempt()))
    clock.setBack(by: 1000 * Self.day)
    #expect(backups(.folder(to)).due == clock.now())
  }

  @Test("to a command: all of it on its standard input, its name among the arguments, no shell")
  func command() async throws {
    let target = source.folder.file("out $(touch x)")
    let backups = backups(.command(["dd", "status=none", "of=\(target) {name}"]))
    #expect(await isMade(backups.attempt()))
    let name = "\(target) \(BackupName(store: "0123456789abcdef", time: clock.now()).text)"
    let restored = try RestoredFolder(of: name, to: nil, opener: .identity(identity))
    restored.remove()
    #expect(!FileSystem.exists(source.folder.file("x")) && !FileSystem.exists("x"))
  }

  /// Commands that fail, and what is said of them.
  static let failing: [([String], String)] = [
    (["sh", "-c", "cat >/dev/null; echo first >&2; echo no room >&2; exit 3"], "exit code 3. It said: no room"),
    (["sh", "-c", "exit 0"], "ended before it had read"), (["/no/such/program"], "cannot be started"),
    (["sh", "-c", "kill -9 $$"], "signal 9"), (["sh", "-c", "cat > /dev/null; kill -15 $$"], "signal 15"),
  ]

  @Test("a command that fails is a failure, with what it said last", arguments: failing)
  func failingCommand(words: [String], part: String) async throws {
    for _ in 0..<40 { try source.put(Int64.random(in: 1...1_000_000)) }
    let report = await backups(.command(words)).attempt()
    #expect(reason(report).contains(part), "\(reason(report))")
    #expect(FileSystem.names(in: source.data)?.contains { $0.hasPrefix("backup-") } == false)
  }

  @Test(
    "a command that takes too long is stopped, with what it has started",
    arguments: ["sleep 600 & sleep 600", "cat >/dev/null; sleep 600"])
  func slowCommand(script: String) async throws {
    let mark = source.folder.file("pid")
    let report = await backups(.command(["sh", "-c", "echo $$ > \(mark); \(script)"]), timeout: 700).attempt()
    #expect(reason(report).contains("took longer"), "\(reason(report))")
    let pid = try #require(Int32(String(decoding: DiskFiles.bytes(mark), as: UTF8.self).filter(\.isNumber)))
    // The group is gone, as soon as the system has noticed.
    var left = Self.running(inGroup: pid)
    let end = ContinuousClock.now + .seconds(120)
    while !left.isEmpty, ContinuousClock.now < end {
      await Task.yield()
      left = Self.running(inGroup: pid)
    }
    #expect(left.isEmpty, "\(left)")
  }

  @Test(
    "a server that stops does not wait for a command that does not read, or does not end",
    arguments: ["exec sleep 600", "cat >/dev/null; exec sleep 600"])
  func stoppedCommand(script: String) async throws {
    for _ in 0..<40 { try source.put(Int64.random(in: 1...1_000_000)) }
    let mark = source.folder.file("pid")
    let backups = backups(.command(["sh", "-c", "echo $$ > \(mark); \(script)"]), timeout: 600_000)
    let attempt = Task { await backups.attempt() }
    let latest = ContinuousClock.now + .seconds(120)
    while !FileSystem.exists(mark), ContinuousClock.now < latest { await Task.yield() }
    try #require(FileSystem.exists(mark), "the command was started")
    let begin = ContinuousClock.now
    attempt.cancel()
    #expect(await reason(attempt.value).contains("is stopping"))
    #expect(ContinuousClock.now - begin < .seconds(300))
  }

  /// The processes of a group that still run. Those that ended and that nobody has asked for yet do not count: a container's first
  /// process may never ask.
  private static func running(inGroup group: pid_t) -> [String] {
    (FileSystem.names(in: "/proc") ?? []).filter { name in
      guard Int32(name) != nil else { return false }
      // "PID (NAME) STATE PARENT GROUP ...", and the name may hold anything.
      let text = String(decoding: (try? DiskFiles.bytes("/proc/\(name)/stat")) ?? [], as: UTF8.self)
      guard let end = text.lastIndex(of: ")") else { return false }
      let fields = text[end...].dropFirst().split(separator: " ")
      return fields.count > 2 && Int32(fields[2]) == group && !["Z", "X"].contains(fields[0])
    }
  }

  @Test("they run when they are due, by the clock that is given, and a start remembers the last")
  func run() async throws {
    let made = Mutex<[Int64]>([])
    let backups = backups(.folder(to)) { report in made.withLock { $0.append(report.time) } }
    let start = clock.now()
    let task = Task { try await backups.run() }
    func wait(for count: Int) async {
      while made.withLock(\.count) < count || clock.sleeperCount == 0 { await Task.yield() }
    }
    await wait(for: 1)
    #expect(made.withLock { $0 } == [start])
    clock.advance(by: Self.day / 2)
    await wait(for: 1)
    // Ten days at once: one is made, not ten.
    clock.advance(by: 10 * Self.day)
    await wait(for: 2)
    #expect(made.withLock { $0 } == [start, start + 21 * Self.day / 2])
    task.cancel()
    _ = await task.result
    #expect(self.backups(.folder(to)).due == start + 23 * Self.day / 2)
    clock.setBack(by: 20 * Self.day)
    #expect(backups.due == clock.now() + Self.day)
    clock.advance(by: 20 * Self.day)
    #expect(self.backups(.folder(to)).lastMade == start + 21 * Self.day / 2)
    // Without the note the newest file tells.
    unlink("\(source.data)/backups.state")
    #expect(self.backups(.folder(to)).due == start + 23 * Self.day / 2)
  }
}
