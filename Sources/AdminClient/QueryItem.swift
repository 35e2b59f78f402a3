import TreeModel

/// A parameter behind the `?` of a request.
package struct QueryItem: Sendable, Hashable {
  /// Not encoded.
  package let name: String
  /// Not encoded.
  package let value: String

  /// A parameter, not encoded.
  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// A parameter that is left out where there is no value.
  package init?(_ name: String, _ value: String?) {
    guard let value else { return nil }
    self.init(name, value)
  }

  /// `?a=1&b=2`; empty if there are none.
  static func encoded(_ items: [QueryItem]) -> String {
    guard !items.isEmpty else { return "" }
    return "?"
      + items.map { "\(PercentEncoding.segment($0.name))=\(PercentEncoding.segment($0.value))" }.joined(separator: "&")
  }
}
