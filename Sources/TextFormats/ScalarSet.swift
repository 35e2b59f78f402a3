/// A set of characters (Unicode scalars) as ranges of their numbers, in order and apart.
package struct ScalarSet: Sendable, Equatable {
  /// The greatest number of a character.
  package static let last: UInt32 = 0x10FFFF
  /// `\d`
  package static let digits = ScalarSet([0x30...0x39])
  /// `\w`
  package static let wordCharacters = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  /// `\s`, as JavaScript has it.
  package static let spaces = ScalarSet([
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029, 0x202F...0x202F, 0x205F...0x205F,
    0x3000...0x3000, 0xFEFF...0xFEFF,
  ])
  /// `.`, as JavaScript has it: everything but the ends of lines.
  package static let anyButLineEnds = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029]).inverted

  /// In ascending order; no two touch each other.
  package private(set) var ranges: [ClosedRange<UInt32>]

  /// The union of some ranges, in any order.
  package init(_ unsorted: [ClosedRange<UInt32>]) {
    ranges = []
    for range in unsorted.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let previous = ranges.last, range.lowerBound <= previous.upperBound &+ 1 {
        ranges[ranges.count - 1] = previous.lowerBound...max(previous.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
  }

  /// The one character that the set has; nil if it has none or more.
  package var single: UInt32? {
    guard ranges.count == 1, ranges[0].count == 1 else { return nil }
    return ranges[0].lowerBound
  }

  /// All other characters.
  package var inverted: ScalarSet {
    var gaps: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
      next = range.upperBound + 1
    }
    if next <= Self.last { gaps.append(next...Self.last) }
    return ScalarSet(gaps)
  }

  /// Whether the character of this number belongs to the set.
  package func contains(_ scalar: UInt32) -> Bool {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar)
  }

  /// The set with both cases of every letter in it.
  ///
  /// Of ranges beyond a few thousand characters only the letters of ASCII are mapped: such ranges hold both cases of the
  /// others anyway.
  package var withBothCases: ScalarSet {
    var added: [ClosedRange<UInt32>] = []
    for range in ranges {
      let small = range.count <= 4096 ? range : range.clamped(to: 0...0x7F)
      for code in small {
        guard let scalar = Unicode.Scalar(code) else { continue }
        for other in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
          guard let variant = other.unicodeScalars.first, other.unicodeScalars.count == 1, variant != scalar else { continue }
          added.append(variant.value...variant.value)
        }
      }
    }
    return added.isEmpty ? self : ScalarSet(ranges + added)
  }
}
