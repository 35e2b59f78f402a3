/// The parameters behind the `?` of a URL, decoded, in order.
struct QueryString: Sendable {
  struct Parameter: Sendable {
    let name: String
    let value: String
  }

  private(set) var parameters: [Parameter] = []

  /// No parameters.
  init() {}

  /// Reads `a=1&b=2`; a parameter without `=` has an empty value.
  ///
  /// - Returns: nil if something is not percent-encoded UTF-8.
  init?(parsing bytes: some Collection<UInt8>) {
    for piece in bytes.split(separator: UInt8(ascii: "&")) {
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      let rest = equals == piece.endIndex ? piece[equals...] : piece[piece.index(after: equals)...]
      guard let name = PercentDecoding.text(piece[..<equals], plusIsSpace: true),
        let value = PercentDecoding.text(rest, plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
  }

  /// The last parameter of this name.
  subscript(name: String) -> String? {
    parameters.last { $0.name == name }?.value
  }
}
