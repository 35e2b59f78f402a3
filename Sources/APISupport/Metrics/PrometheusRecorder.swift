package import CoreMetrics
import Synchronization

/// Records what is counted, for `/metrics`: a backend of swift-metrics that writes Prometheus' text format.
///
/// One for each server and not one for each process, so that tests can run several servers side by side. What is recorded
/// under a label that was not described is kept, and not written.
package final class PrometheusRecorder: MetricsFactory, Sendable {
  /// How a metric appears in the text.
  package struct Description: Sendable {
    let label: String
    let help: String
    /// The upper bounds of a histogram's buckets in microseconds, ascending; nil for a counter.
    let boundsMicroseconds: [Int64]?

    /// A number that grows.
    package static func counter(_ label: String, help: String) -> Description {
      Description(label: label, help: help, boundsMicroseconds: nil)
    }

    /// How long something took, counted in buckets.
    package static func histogram(_ label: String, help: String, boundsMicroseconds: [Int64]) -> Description {
      Description(label: label, help: help, boundsMicroseconds: boundsMicroseconds)
    }
  }

  private struct State {
    /// Of each label the counters, in the order in which they were made.
    var counters: [String: [(dimensions: String, counter: CounterRecorder)]] = [:]
    var histograms: [String: [(dimensions: String, histogram: HistogramRecorder)]] = [:]
    var values: [String: ValueRecorder] = [:]
  }

  private let descriptions: [Description]
  private let state = Mutex(State())

  /// - Parameter descriptions: what is written, in this order.
  package init(_ descriptions: [Description]) {
    self.descriptions = descriptions
  }

  /// What was counted under a label, with these dimensions.
  func total(_ label: String, dimensions: [(String, String)]) -> Int {
    let text = Self.text(of: dimensions)
    return state.withLock { state in
      state.counters[label]?.first { $0.dimensions == text }.map { Int($0.counter.current) } ?? 0
    }
  }

  /// The histogram of a label; nil if nothing was ever to be recorded there.
  func histogram(_ label: String) -> HistogramRecorder? { state.withLock { $0.histograms[label]?.first?.histogram } }

  /// The names of everything that is described.
  package var names: [String] { descriptions.map(\.label) }
}

// MARK: - The backend

extension PrometheusRecorder {
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let text = Self.text(of: dimensions)
    return state.withLock { state in
      if let known = state.counters[label]?.first(where: { $0.dimensions == text }) { return known.counter }
      let counter = CounterRecorder()
      state.counters[label, default: []].append((text, counter))
      return counter
    }
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let text = Self.text(of: dimensions)
    return state.withLock { state in
      if let known = state.histograms[label]?.first(where: { $0.dimensions == text }) { return known.histogram }
      let bounds = descriptions.first { $0.label == label }?.boundsMicroseconds ?? []
      let histogram = HistogramRecorder(boundsMicroseconds: bounds)
      state.histograms[label, default: []].append((text, histogram))
      return histogram
    }
  }

  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    state.withLock { state in
      let value = state.values[label] ?? ValueRecorder()
      state.values[label] = value
      return value
    }
  }

  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}

  /// `{route="admin",status="2xx"}`; empty for none.
  private static func text(of dimensions: [(String, String)]) -> String {
    guard !dimensions.isEmpty else { return "" }
    return "{" + dimensions.map { "\($0)=\"\($1)\"" }.joined(separator: ",") + "}"
  }
}

// MARK: - The text

extension PrometheusRecorder {
  /// Everything that is described, in Prometheus' text format. Of a label with dimensions only what was counted is written.
  package var text: String {
    state.withLock { state in
      descriptions.reduce(into: "") { text, one in
        text += "# HELP \(one.label) \(one.help)\n# TYPE \(one.label) "
        guard one.boundsMicroseconds == nil else {
          text += "histogram\n"
          for (dimensions, histogram) in state.histograms[one.label] ?? [] {
            text += histogram.text(one.label, dimensions: dimensions)
          }
          return
        }
        text += "counter\n"
        for (dimensions, counter) in state.counters[one.label] ?? [] where dimensions.isEmpty || counter.current > 0 {
          text += "\(one.label)\(dimensions) \(counter.current)\n"
        }
      }
    }
  }
}

/// A number that many threads add to.
final class CounterRecorder: CounterHandler {
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) { value.add(amount, ordering: .relaxed) }

  func reset() { value.store(0, ordering: .relaxed) }

  var current: Int64 { value.load(ordering: .relaxed) }
}

/// How long something took, counted in buckets.
final class HistogramRecorder: TimerHandler {
  private let boundsMicroseconds: [Int64]
  /// One for each bound, and one for what took longer.
  private let buckets: [CounterRecorder]
  private let nanoseconds = CounterRecorder()

  init(boundsMicroseconds: [Int64]) {
    self.boundsMicroseconds = boundsMicroseconds
    buckets = (0...boundsMicroseconds.count).map { _ in CounterRecorder() }
  }

  func recordNanoseconds(_ duration: Int64) {
    let microseconds = duration / 1000
    var index = 0
    while index < boundsMicroseconds.count, microseconds > boundsMicroseconds[index] { index += 1 }
    buckets[index].increment(by: 1)
    nanoseconds.increment(by: duration)
  }

  /// The counts so far, of each bucket.
  var counts: [Int64] { buckets.map(\.current) }

  /// The counts so far: of each bucket, and the sum of the durations in seconds.
  var current: (counts: [Int], seconds: Double) {
    (buckets.map { Int($0.current) }, Double(nanoseconds.current) / 1e9)
  }

  /// - Parameter dimensions: `{route="admin"}`; empty for none, and then it is written also if nothing was recorded.
  fileprivate func text(_ name: String, dimensions: String) -> String {
    let (counts, seconds) = current
    guard dimensions.isEmpty || counts.contains(where: { $0 > 0 }) else { return "" }
    let labels = dimensions.isEmpty ? "" : dimensions.dropFirst().dropLast() + ","
    var text = ""
    var sum = 0
    for (index, bound) in boundsMicroseconds.enumerated() {
      sum += counts[index]
      text += "\(name)_bucket{\(labels)le=\"\(Double(bound) / 1e6)\"} \(sum)\n"
    }
    sum += counts[counts.count - 1]
    return text + "\(name)_bucket{\(labels)le=\"+Inf\"} \(sum)\n"
      + "\(name)_sum\(dimensions) \(seconds)\n\(name)_count\(dimensions) \(sum)\n"
  }
}

/// The last value of something.
private final class ValueRecorder: RecorderHandler {
  private let value = Atomic<Int64>(0)

  func record(_ value: Int64) { self.value.store(value, ordering: .relaxed) }

  func record(_ value: Double) { record(Int64(value)) }
}
