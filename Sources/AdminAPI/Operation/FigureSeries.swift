package import StorageCore
import Synchronization

/// What the server counts at one moment: what was counted since its start, and what is there now.
package struct Figures: Sendable {
  /// Since the start.
  package var commits: Int64 = 0
  package var events: Int64 = 0
  package var entries: Int64 = 0
  package var deadLetters: Int64 = 0
  /// Effects by how long they took, of each bucket of `ServerMetrics`' histogram.
  package var effects: [Int64] = []
  /// Now.
  package var listens: Int64 = 0
  package var connections: Int64 = 0
  package var queue: Int64 = 0
  package var waiting: Int64 = 0

  package init() {}
}

/// The figures of the last day, in memory: of each second of a quarter of an hour, of each ten seconds of six hours, and of each
/// minute of a day.
///
/// A sample stands for the time from the look before it. Where that is longer than a look can be late, or the clock was moved,
/// nobody knows when things were counted: such a time has no sample, and what was counted in it is in none.
package final class FigureSeries: Sendable {
  /// From one look to the next, in milliseconds.
  static let interval: Int64 = 1000
  /// A look that comes later than this after the one before has seen nothing of the time between.
  static let lateMax: Int64 = 3500

  /// What was counted in a part of the time.
  struct Sample: Sendable {
    /// Buckets that a sample keeps; more are counted in the last.
    static let bucketsMax = 16

    /// Effects by how long they took.
    var effects = SIMD16<UInt32>()
    /// Which part it is: its first moment, in units of the ring's.
    var slot: Int64 = -1
    /// Milliseconds that it stands for.
    var covered: UInt32 = 0
    var commits: UInt32 = 0
    var events: UInt32 = 0
    var entries: UInt32 = 0
    var deadLetters: UInt32 = 0
    var listens: UInt32 = 0
    var connections: UInt32 = 0
    var queue: UInt32 = 0
    var waiting: UInt32 = 0

    /// Takes in what came after it.
    mutating func add(_ later: Sample) {
      covered = Self.sum(covered, later.covered)
      commits = Self.sum(commits, later.commits)
      events = Self.sum(events, later.events)
      entries = Self.sum(entries, later.entries)
      deadLetters = Self.sum(deadLetters, later.deadLetters)
      effects = effects &+ later.effects
      listens = max(listens, later.listens)
      connections = max(connections, later.connections)
      queue = max(queue, later.queue)
      waiting = max(waiting, later.waiting)
    }

    private static func sum(_ one: UInt32, _ other: UInt32) -> UInt32 {
      let (sum, overflows) = one.addingReportingOverflow(other)
      return overflows ? .max : sum
    }
  }

  /// Samples of parts of equal time, as many as there is space for.
  struct Ring: Sendable {
    /// How long a part is, in milliseconds.
    let unit: Int64
    private var samples: [Sample]

    init(unit: Int64, count: Int) {
      self.unit = unit
      samples = Array(repeating: Sample(), count: count)
    }

    var count: Int64 { Int64(samples.count) }
    /// Bytes of its memory.
    var bytes: Int { samples.count * MemoryLayout<Sample>.stride }

    mutating func add(_ sample: Sample, at time: Int64) {
      let slot = time / unit
      let index = Int(slot % count)
      if samples[index].slot != slot {
        samples[index] = Sample()
        samples[index].slot = slot
      }
      samples[index].add(sample)
    }

    subscript(slot: Int64) -> Sample? {
      guard slot >= 0 else { return nil }
      let sample = samples[Int(slot % count)]
      return sample.slot == slot ? sample : nil
    }
  }

  private struct State {
    var last: (time: Int64, figures: Figures)?
    var rings = [Ring(unit: 1000, count: 900), Ring(unit: 10_000, count: 2160), Ring(unit: 60_000, count: 1440)]
  }

  private let state = Mutex(State())

  package init() {}

  /// Bytes of all samples.
  package var bytes: Int { state.withLock { $0.rings.reduce(0) { $0 + $1.bytes } } }

  /// Takes in a look.
  ///
  /// - `time`: milliseconds since 1970.
  package func note(_ figures: Figures, at time: Int64) {
    state.withLock { state in
      let last = state.last
      state.last = (time, figures)
      guard let last, time > last.time, time - last.time <= Self.lateMax else { return }
      let sample = Sample(figures, since: last.figures, covered: time - last.time)
      // The moment before: a look on the stroke of a second is about the second that has passed.
      for index in state.rings.indices { state.rings[index].add(sample, at: time - 1) }
    }
  }

  /// Looks every second until the task is cancelled.
  package func run(_ clock: any WallClock, look: @Sendable () -> Figures) async throws {
    while true {
      let now = clock.now()
      note(look(), at: now)
      try await clock.sleep(until: (now / Self.interval + 1) * Self.interval)
    }
  }

  /// What was counted in parts of equal time, as far as `read` goes with the samples of one ring.
  func read<Result>(_ ring: Int, _ read: (Ring) -> Result) -> Result { state.withLock { read($0.rings[ring]) } }
}

extension FigureSeries.Sample {
  /// What was counted between two looks. A count that fell began again: it was counted from 0.
  init(_ now: Figures, since before: Figures, covered: Int64) {
    func grown(_ count: KeyPath<Figures, Int64>) -> UInt32 {
      let (now, before) = (now[keyPath: count], before[keyPath: count])
      return UInt32(clamping: now >= before ? now - before : now)
    }
    self.covered = UInt32(clamping: covered)
    commits = grown(\.commits)
    events = grown(\.events)
    entries = grown(\.entries)
    deadLetters = grown(\.deadLetters)
    for (index, count) in now.effects.enumerated() {
      let before = index < before.effects.count ? before.effects[index] : 0
      effects[min(index, Self.bucketsMax - 1)] &+= UInt32(clamping: count >= before ? count - before : count)
    }
    listens = UInt32(clamping: now.listens)
    connections = UInt32(clamping: now.connections)
    queue = UInt32(clamping: now.queue)
    waiting = UInt32(clamping: now.waiting)
  }

  /// How long the quickest 95 of 100 effects took at most, in microseconds, as far as buckets tell: between two bounds as if they
  /// were spread evenly. Nil where there was none.
  ///
  /// - `bounds`: the upper bounds of the buckets, in microseconds.
  func lagP95(_ bounds: [Int64]) -> Int64? {
    var total: UInt64 = 0
    for index in 0..<Self.bucketsMax { total += UInt64(effects[index]) }
    guard total > 0 else { return nil }
    let wanted = Double(total) * 0.95
    var seen = 0.0
    for index in 0..<min(Self.bucketsMax, bounds.count) {
      let count = Double(effects[index])
      if count > 0, seen + count >= wanted {
        let low = index == 0 ? 0 : Double(bounds[index - 1])
        return Int64(low + (Double(bounds[index]) - low) * (wanted - seen) / count)
      }
      seen += count
    }
    return bounds.last
  }
}
