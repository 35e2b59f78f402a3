import AdminModel
import HTTPServer
import StorageCore

/// Counts a namespace's trigger log by outcome and time: the same walk as the list, and as bounded.
struct EventHistogram {
  /// Into how many parts the time is divided, if it is not said.
  static let buckets = 60

  private var scan: EventScan
  private let count: Int
  private let until: Int64

  /// - `count`: of buckets.
  /// - `until`: the last moment.
  init(_ scan: EventScan, count: Int, until: Int64) {
    self.scan = scan
    self.count = count
    self.until = until
  }

  /// The runs of the events that the filter admits, counted as ``EventListing/count()`` counts them.
  mutating func answer() throws -> AdminEvents.Histogram {
    var counts: [Moment: Int64] = [:]
    while let found = try scan.next() {
      guard let time = found.commit?.time else { continue }
      for execution in found.executions where scan.filter.admits(execution) {
        counts[Moment(time: time, outcome: AdminEvents.Outcome(execution.outcome)), default: 0] += 1
      }
      for delivery in found.deliveries where scan.filter.admits(delivery) {
        counts[Moment(time: time, outcome: AdminEvents.Outcome(delivery.state)), default: 0] += 1
      }
      if found.executions.isEmpty && found.deliveries.isEmpty {
        counts[Moment(time: time, outcome: .pending), default: 0] += 1
      }
    }
    let oldest = try scan.timeOfLast()
    let page = try scan.end()
    let since = min(scan.filter.since ?? oldest ?? until, until)
    var division = TimeDivision(since: since, until: until, count: count)
    for (moment, number) in counts { division.add(number, of: moment.outcome, at: moment.time) }
    return AdminEvents.Histogram(
      since: Timestamp(since), until: Timestamp(until), buckets: division.buckets, scanned: page.scanned,
      complete: page.complete)
  }

  /// What is counted together before it is known where the time begins.
  private struct Moment: Hashable {
    let time: Int64
    let outcome: AdminEvents.Outcome
  }
}

/// A stretch of time in parts of equal length.
struct TimeDivision {
  private(set) var buckets: [AdminEvents.Bucket]
  private let since: Int64
  /// The moments of the whole stretch, its last one included.
  private let length: Int128

  init(since: Int64, until: Int64, count: Int) {
    let length = Int128(until) - Int128(since) + 1
    self.since = since
    self.length = length
    buckets = (0..<count).map { index in
      // The first moment that belongs to the part, as `add` divides them.
      let from = (Int128(index) * length + Int128(count) - 1) / Int128(count)
      return AdminEvents.Bucket(from: Timestamp(since + Int64(from)))
    }
  }

  /// Counts what happened at a moment; what lies outside counts for the nearest part.
  mutating func add(_ number: Int64, of outcome: AdminEvents.Outcome, at time: Int64) {
    let place = (Int128(time) - Int128(since)) * Int128(buckets.count) / length
    let index = Int(min(max(place, 0), Int128(buckets.count - 1)))
    switch outcome {
    case .done: buckets[index].done += number
    case .skipped: buckets[index].skipped += number
    case .waiting: buckets[index].waiting += number
    case .paused: buckets[index].paused += number
    case .dead: buckets[index].dead += number
    case .pending: buckets[index].none += number
    }
  }
}
