/// A request's URI, cut at its `?`.
struct RequestTarget: Sendable {
  /// Percent-encoded, with its leading slash.
  let path: Substring.UTF8View
  let query: QueryString

  /// Takes a URI apart; an absolute one (`http://host/path`, as proxies send it) loses its scheme and host.
  ///
  /// - Returns: nil if it is no path, or its query is not percent-encoded UTF-8.
  init?(_ uri: String) {
    var rest = uri[...].utf8
    if rest.first != UInt8(ascii: "/") {
      guard let scheme = uri.range(of: "://") else { return nil }
      let authority = uri[scheme.upperBound...]
      let slash = authority.firstIndex(of: "/") ?? authority.endIndex
      rest = authority[slash...].utf8
    }
    guard let mark = rest.firstIndex(of: UInt8(ascii: "?")) else {
      path = rest
      query = QueryString()
      return
    }
    path = rest[..<mark]
    guard let query = QueryString(parsing: rest[rest.index(after: mark)...]) else { return nil }
    self.query = query
  }
}

extension String {
  /// The first place where `text` stands; both are short and ASCII.
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
