import TreeModel

/// A cheap test that most changed leaves fail, so that they need not be taken apart: what a path begins and ends with at every
/// place of a pattern.
struct PatternFilter: Sendable {
  private let prefix: [UInt8]
  private let suffix: [UInt8]

  init(_ pattern: PathPattern) {
    let literals = pattern.segments.map { segment -> [UInt8]? in
      if case .literal(let key) = segment { PathBytes.root.child(key).bytes } else { nil }
    }
    prefix = literals.prefix { $0 != nil }.flatMap { $0 ?? [] }
    suffix = literals.reversed().prefix { $0 != nil }.reversed().flatMap { $0 ?? [] }
  }

  /// Whether a path may be one of the pattern's.
  func mayHold(_ path: PathBytes) -> Bool {
    guard path.bytes.count >= prefix.count + suffix.count else { return false }
    return path.bytes.withUnsafeBytes { bytes in
      let tail = UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - suffix.count)...])
      return suffix.withUnsafeBytes(tail.isSame(as:)) && prefix.withUnsafeBytes(bytes.begins(with:))
    }
  }
}
