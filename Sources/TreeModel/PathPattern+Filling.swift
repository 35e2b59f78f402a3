extension PathPattern {
  /// The path in which every capture stands for a given value, in the pattern's order; a multi-segment's value may have
  /// several keys, joined by `/`.
  ///
  /// - Throws: ``PathError`` if a value is no legal key, if there are more or fewer values than captures, or if the pattern has
  ///   an open segment without a name: patterns come from settings, too.
  public func path(filling values: [String]) throws(PathError) -> Path {
    guard values.count == captureNames.count else { throw PathError(.unfilledPattern, key: description) }
    var keys: [Key] = []
    var next = values.makeIterator()
    for segment in segments {
      switch segment {
      case .literal(let key): keys.append(key)
      case .single(.some):
        keys.append(try Key(next.next() ?? ""))
      case .multi(.some):
        keys.append(contentsOf: try Path(parsing: next.next() ?? "").keys)
      case .single(nil), .multi(nil):
        throw PathError(.unfilledPattern, key: description)
      }
    }
    guard keys.count <= Path.depthMax else { throw PathError(.tooDeep, key: "") }
    return Path(keys: keys)
  }
}
