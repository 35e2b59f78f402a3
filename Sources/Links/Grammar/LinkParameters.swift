/// What a long link says, decoded: each parameter once.
public struct LinkParameters: Sendable, Hashable {
  private(set) var values: [LinkParameter: String]
  /// Names that are no parameter of a link.
  public private(set) var unknown: [String]
  /// What `d` says that means nothing; nil if it says nothing, or `1`.
  public private(set) var badDebug: String?

  public init() {
    values = [:]
    unknown = []
  }

  /// Takes the parameters of a query; of a name that is repeated the first counts. Those of an opening (`d`, `cid`, …) are
  /// left out.
  public init(_ query: [(name: String, value: String)]) {
    self.init()
    for (name, value) in query {
      if name == "d", value != "1", badDebug == nil { badDebug = String(value.prefix(80)) }
      if let parameter = LinkParameter(rawValue: name) {
        if values[parameter] == nil, !value.isEmpty { values[parameter] = value }
      } else if !LinkParameter.transient.contains(name), !unknown.contains(name), unknown.count < 16 {
        unknown.append(String(name.prefix(80)))
      }
    }
  }

  /// Reads the text of ``canonical``.
  public init?(canonical text: String) {
    guard let query = LinkURL.parameters(of: text) else { return nil }
    self.init(query)
  }

  /// The value of a parameter; nil if it is missing or empty.
  public subscript(parameter: LinkParameter) -> String? {
    get { values[parameter] }
    set { values[parameter] = newValue?.isEmpty == true ? nil : newValue }
  }

  /// One text for equal parameters: sorted by name, percent-encoded. What is stored, and compared for duplicates.
  public var canonical: String {
    values.sorted { $0.key < $1.key }.map { "\($0.key.rawValue)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
  }

  /// The long link below a prefix.
  public func longLink(below prefix: LinkPrefix) -> String { "\(prefix)/?\(canonical)" }

  /// A parameter that is a web URL; nil if it is missing or none.
  func web(_ parameter: LinkParameter) -> LinkURL? {
    guard let url = self[parameter].flatMap({ LinkURL($0) }), url.isWeb else { return nil }
    return url
  }
}
