extension PathPattern {
  /// The path in which every capture stands for a given value, in the pattern's order; a multi-segment's value may have
  /// several keys, joined by `/`.
  ///
  /// - Throws: ``PathError`` if a value is no legal key. Unnamed open segments cannot be filled and are a mistake of the
  ///   programmer, as is another number of values than of captures: both trap.
  public func path(filling values: [String]) throws(PathError) -> Path {
    precondition(
      values.count == captureNames.count, "\(self) has \(captureNames.count) captures; \(values.count) values were given.")
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
        preconditionFailure("\(self) has an unnamed segment: it stands for no single path.")
      }
    }
    guard keys.count <= Path.depthMax else { throw PathError(.tooDeep, key: "") }
    return Path(keys: keys)
  }
}
