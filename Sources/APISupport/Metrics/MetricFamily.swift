/// A metric with its samples, as it stands in Prometheus' text format: what was read for one look at the metrics.
///
/// Names follow Prometheus' conventions: base units (seconds, bytes), `_total` behind what only grows. Labels have few values:
/// functions, outlets, currencies, kinds; never players, paths or addresses.
package struct MetricFamily: Sendable {
  /// What kind of number it is.
  package enum Kind: String, Sendable {
    /// It only grows, until the process ends.
    case counter
    /// It is what it is at the moment.
    case gauge
    /// Values in buckets.
    case histogram
  }

  /// One line.
  package struct Sample: Sendable {
    /// What stands behind the family's name: `_bucket`, `_sum`, `_count`; empty but for histograms.
    let suffix: String
    let labels: [(name: String, value: String)]
    let value: Double
  }

  package let name: String
  package let kind: Kind
  /// One sentence.
  package let help: String
  package private(set) var samples: [Sample] = []

  private init(_ name: String, kind: Kind, help: String) {
    self.name = name
    self.kind = kind
    self.help = help
  }

  /// A number that only grows.
  package static func counter(_ name: String, help: String, value: Int) -> MetricFamily {
    counter(name, help: help).with(Double(value))
  }

  /// A number that is true at the moment; nil: it is not known, and the family has no line.
  package static func gauge(_ name: String, help: String, value: Double?) -> MetricFamily {
    value.map { gauge(name, help: help).with($0) } ?? gauge(name, help: help)
  }

  /// The same of whole numbers.
  package static func gauge(_ name: String, help: String, value: Int) -> MetricFamily {
    gauge(name, help: help).with(Double(value))
  }

  /// Numbers that only grow, to be added with their labels.
  package static func counter(_ name: String, help: String) -> MetricFamily {
    MetricFamily(name, kind: .counter, help: help)
  }

  /// Numbers that are true at the moment, to be added with their labels.
  package static func gauge(_ name: String, help: String) -> MetricFamily {
    MetricFamily(name, kind: .gauge, help: help)
  }

  /// Values in buckets.
  ///
  /// - `bounds`: the buckets' upper bounds, in the unit of the name.
  /// - `counts`: the values of each bucket, and last of those above all bounds.
  /// - `sum`: all values together, in the same unit.
  package static func histogram(_ name: String, help: String, bounds: [Double], counts: [Int], sum: Double) -> MetricFamily {
    precondition(counts.count == bounds.count + 1, "A histogram has one bucket more than bounds.")
    var family = MetricFamily(name, kind: .histogram, help: help)
    var total = 0
    for (bound, count) in zip(bounds.map { number($0) } + ["+Inf"], counts) {
      total += count
      family.samples.append(Sample(suffix: "_bucket", labels: [("le", bound)], value: Double(total)))
    }
    family.samples.append(Sample(suffix: "_sum", labels: [], value: sum))
    family.samples.append(Sample(suffix: "_count", labels: [], value: Double(total)))
    return family
  }

  /// The family with one more line.
  package func with(_ value: Double, labels: [(name: String, value: String)] = []) -> MetricFamily {
    var family = self
    family.samples.append(Sample(suffix: "", labels: labels, value: value))
    return family
  }

  /// The family with a line for each of some things.
  package func with<Thing>(_ things: [Thing], label: String, _ read: (Thing) -> (name: String, value: Double)) -> MetricFamily {
    things.reduce(self) { family, thing in
      let (name, value) = read(thing)
      return family.with(value, labels: [(label, name)])
    }
  }
}

// MARK: - The text

extension MetricFamily {
  /// Appends the family in Prometheus' text format, with its HELP and TYPE.
  func write(to text: inout String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    for sample in samples {
      text += name + sample.suffix
      if !sample.labels.isEmpty {
        text += "{" + sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
      }
      text += " " + Self.number(sample.value) + "\n"
    }
  }

  /// A number as people write it: whole ones without a point.
  static func number(_ value: Double) -> String {
    if let whole = Int(exactly: value) { return String(whole) }
    return value.isNaN ? "NaN" : value == .infinity ? "+Inf" : value == -.infinity ? "-Inf" : String(value)
  }

  /// A label's value as the format wants it: a backslash before backslashes, quotes and line breaks.
  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
    return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

extension [MetricFamily] {
  /// All of them in Prometheus' text format.
  package var text: String {
    reduce(into: "") { text, family in family.write(to: &text) }
  }
}
