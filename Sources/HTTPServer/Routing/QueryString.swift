import TreeModel

/// The parameters behind the `?` of a URL, decoded, in order.
package struct QueryString: Sendable {
  package struct Parameter: Sendable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var parameters: [Parameter] = []

  /// No parameters.
  package init() {}

  /// Reads `a=1&b=2`; a parameter without `=` has an empty value.
  ///
  /// - Returns: nil if something is not percent-encoded UTF-8.
  package init?(parsing form: some Collection<UInt8>) {
    guard let query = Array(form).withUnsafeBytes({ QueryString(parsing: $0[...]) }) else { return nil }
    self = query
  }

  /// As above, of bytes that are somewhere in memory.
  package init?(parsing bytes: Slice<UnsafeRawBufferPointer>) {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    var start = 0
    while start < bytes.count {
      let end = bytes.first(UInt8(ascii: "&"), from: start) ?? bytes.count
      defer { start = end + 1 }
      if start == end { continue }
      let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
      guard let name = PercentDecoding.text(bytes[start..<equals], plusIsSpace: true),
        let value = PercentDecoding.text(bytes[min(equals + 1, end)..<end], plusIsSpace: true)
      else { return nil }
      parameters.append(Parameter(name: name, value: value))
    }
  }

  /// The last parameter of this name.
  package subscript(name: String) -> String? {
    parameters.last { $0.name == name }?.value
  }
}
