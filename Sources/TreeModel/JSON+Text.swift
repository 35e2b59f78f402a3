extension JSON {
  /// The value as text on one line.
  public var compactText: String { text(pretty: false) }

  /// The value as indented text.
  public var prettyText: String { text(pretty: true) }

  private func text(pretty: Bool) -> String {
    var writer = JSONWriter(pretty: pretty)
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
