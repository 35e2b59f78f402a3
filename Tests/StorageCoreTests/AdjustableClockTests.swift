import StorageCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct AdjustableClockTests {
  @Test("a frozen clock stands still until it is moved")
  func frozen() {
    let clock = AdjustableClock(frozenAt: 1000)
    #expect(clock.now() == 1000)
    clock.advance(by: 0)
    #expect(clock.now() == 1000)
    clock.advance(by: 86_400_000)
    #expect(clock.now() == 86_401_000)
  }

  @Test("a clock that runs shows the machine's time, shifted")
  func running() {
    let system = SystemClock()
    let clock = AdjustableClock()
    let before = system.now()
    #expect((before...before + 60_000).contains(clock.now()))
    clock.advance(by: 3_600_000)
    #expect((before + 3_600_000...before + 3_660_000).contains(clock.now()))
  }

  @Test("moving the clock wakes those whose time has come, the earliest first, and nobody else")
  func order() async throws {
    let clock = AdjustableClock(frozenAt: 0)
    let tasks = [300, 100, 200].map { time in (time, Task { try await clock.sleep(until: Int64(time)) }) }
    #expect(await eventually { clock.sleeperCount == 3 })
    clock.advance(by: 99)
    #expect(clock.sleeperCount == 3)
    for (left, (_, task)) in zip([2, 1, 0], tasks.sorted { $0.0 < $1.0 }) {
      clock.advance(by: left == 2 ? 1 : 100)
      try await task.value
      #expect(clock.sleeperCount == left)
    }
    #expect(clock.now() == 300)
  }

  @Test("one step wakes everybody it passes")
  func leap() async throws {
    let clock = AdjustableClock(frozenAt: 0)
    let tasks = (1...20).map { time in Task { try await clock.sleep(until: Int64(time)) } }
    #expect(await eventually { clock.sleeperCount == 20 })
    clock.advance(by: 1_000_000)
    #expect(clock.sleeperCount == 0)
    for task in tasks { try await task.value }
  }

  @Test(
    "sleeping until now, or until a time in the past, returns at once", arguments: [1000, 999, 0, .min] as [Int64])
  func past(_ time: Int64) async throws {
    let clock = AdjustableClock(frozenAt: 1000)
    try await clock.sleep(until: time)
    #expect(clock.sleeperCount == 0)
  }

  @Test("a clock that runs wakes at a step as a frozen one does")
  func runningLeap() async throws {
    let clock = AdjustableClock()
    let time = clock.now() + 3_600_000
    let task = Task { try await clock.sleep(until: time) }
    #expect(await eventually { clock.sleeperCount == 1 })
    clock.advance(by: 3_600_000)
    try await task.value
    #expect(clock.sleeperCount == 0)
  }

  @Test("a cancelled sleeper wakes with an error and is forgotten; the others sleep on")
  func cancellation() async throws {
    let clock = AdjustableClock(frozenAt: 0)
    let cancelled = Task { try await clock.sleep(until: 10) }
    let other = Task { try await clock.sleep(until: 10) }
    #expect(await eventually { clock.sleeperCount == 2 })
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(clock.sleeperCount == 1)
    clock.advance(by: 10)
    try await other.value
  }

  @Test("a task that was cancelled before does not fall asleep")
  func cancelledBefore() async {
    let clock = AdjustableClock(frozenAt: 0)
    let task = Task {
      _ = await eventually { Task.isCancelled }
      try await clock.sleep(until: 10)
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
  }
}

/// Gives way to others until the condition holds; false if it does not for very long.
func eventually(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<5_000_000 {
    if condition() { return true }
    await Task.yield()
  }
  return condition()
}
