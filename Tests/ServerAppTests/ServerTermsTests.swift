import Logging
import StorageCore
import Synchronization
import TestSupport
import Testing

@testable import ServerApp
@testable import ServerConfiguration

/// When one server follows another in a process.
@Suite struct ServerTermsTests {
  /// Nobody waits by it: a sleep only counts, and ends what sleeps for ever.
  final class CountingClock: WallClock {
    private let sleeps = Mutex(0)
    var count: Int { sleeps.withLock(\.self) }

    func now() -> Int64 { 0 }
    func sleep(until time: Int64) async throws {
      let count = sleeps.withLock { sleeps in
        sleeps += 1
        return sleeps
      }
      if count == 10_000 { throw CancellationError() }
    }
  }

  private static let full = StorageError(.full, "The disk is full.")

  /// The looks that it takes until a writer may go on whose disk is full after so many looks.
  private static func looks(_ watch: DiskSpaceWatch, _ clock: CountingClock, good: Int = 0) async throws -> Int {
    let first = clock.count
    try await watch.wait { clock.count - first < good ? nil : full }
    return clock.count - first
  }

  @Test("the next server begins as soon as there is room; a disk that fills up again and again is tried more and more seldom")
  func pauses() async throws {
    let clock = CountingClock()
    let watch = DiskSpaceWatch(clock: clock) { true }
    var looks: [Int] = []
    for _ in 0..<7 { looks.append(try await Self.looks(watch, clock)) }
    #expect(looks == [0, 1, 3, 7, 15, 30, 30])
    let good = DiskSpaceWatch.goodLooks
    #expect(try await Self.looks(watch, clock, good: good) == good, "after ten good minutes at once")
    #expect(try await Self.looks(watch, clock) == 0)
    #expect(try await Self.looks(watch, clock, good: 5) == 6)
  }

  @Test("it waits for room, and for nothing where the writer works or has stopped for another reason")
  func waits() async throws {
    let clock = CountingClock()
    let asked = Mutex(0)
    let watch = DiskSpaceWatch(clock: clock) {
      asked.withLock { asked in
        asked += 1
        return asked == 5
      }
    }
    #expect(try await Self.looks(watch, clock, good: 3) == 7)
    for failure in [nil, StorageError(.failed, "The disk refused an fsync.")] {
      await #expect(throws: CancellationError.self) {
        try await DiskSpaceWatch(clock: CountingClock()) { true }.wait { failure }
      }
    }
  }

  @Test("a folder on a disk with room has room, and nothing is left of the try; a folder that is not there has none")
  func space() throws {
    let folder = TemporaryFolder()
    #expect(DiskSpaceWatch.hasSpace(in: folder.path))
    #expect(!FileBytes.exists(folder.file(".space")))
    #expect(!DiskSpaceWatch.hasSpace(in: folder.file("missing")))
  }

  @Test("the word to end ends those that wait, those that come later, and nobody's wait twice")
  func ends() async {
    let end = EndSignal()
    #expect(!end.isGiven)
    let cancelled = Task { await end.wait() }
    cancelled.cancel()
    await cancelled.value
    await withTaskGroup { group in
      for _ in 0..<3 { group.addTask { await end.wait() } }
      group.addTask { end.give() }
    }
    end.give()
    await end.wait()
    #expect(end.isGiven)
  }

  @Test("a server that is told to end says once where it listens, and leaves its data to the next")
  func oneTerm() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    for _ in 0..<2 {
      let end = EndSignal()
      var ports: [Int] = []
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let terms = ServerTerms(configuration: configuration, logger: logger) { _ in }
      try await terms.run(until: end, space: nil) { port in
        ports.append(port)
        end.give()
      }
      #expect(ports.count == 1 && ports.allSatisfy { $0 > 0 })
    }
  }
}
