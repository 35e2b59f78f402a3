/// A text that is compared byte by byte: Swift's `==` merges different spellings of one character, the store does not.
public struct ExactKey: Sendable, Hashable {
  /// The text itself.
  public let text: String

  public init(text: String) {
    self.text = text
  }

  public static func == (a: ExactKey, b: ExactKey) -> Bool {
    a.text.utf8.count == b.text.utf8.count && a.text.utf8.elementsEqual(b.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
