extension PathBytes {
  /// Where the key that begins at byte `start` ends; nil at the end of the path and at the mark of a priority.
  public func segmentEnd(at start: Int) -> Int? {
    bytes.withUnsafeBytes { Self.segmentEnd(in: $0, at: start) }
  }

  /// As ``segmentEnd(at:)``, of a binary form that is somewhere in memory.
  @inline(__always)
  static func segmentEnd(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int? {
    guard start < bytes.count, bytes[start] != priorityMark else { return nil }
    if bytes[start] == integerTag { return start + 8 <= bytes.count ? start + 8 : nil }
    return bytes.first(terminator, from: start).map { $0 + 1 }
  }

  /// The place of the node above a node's place; nil for the root. Not for the place of a priority, which has a ``node``.
  public var parent: PathBytes? {
    bytes.isEmpty ? nil : prefix(keyEnds.dropLast().last ?? 0)
  }

  /// The place of the node: of a priority's place, the place that it is the priority of.
  public var node: PathBytes {
    isPriority ? PathBytes(bytes: Array(bytes.dropLast())) : self
  }

  /// The keys below an ancestor's first `skipped` bytes, as clients write them: `a/b`, `a/.priority`, or nothing.
  ///
  /// - Returns: nil if the bytes are not a path.
  public func relativeText(after skipped: Int) -> String? {
    guard let keys = keys(after: skipped) else { return nil }
    var text = ""
    for key in keys {
      if !text.isEmpty { text += "/" }
      text += key.text
    }
    guard isPriority else { return text }
    return text.isEmpty ? ".priority" : text + "/.priority"
  }
}
