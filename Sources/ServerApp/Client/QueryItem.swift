import TreeModel

/// A parameter behind the `?` of a request.
public struct QueryItem: Sendable, Hashable {
  /// Not encoded.
  public let name: String
  /// Not encoded.
  public let value: String

  /// A parameter, not encoded.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// A parameter that is left out where there is no value.
  public init?(_ name: String, _ value: String?) {
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
