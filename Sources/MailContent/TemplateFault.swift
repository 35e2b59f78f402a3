/// Why a text is no template.
public struct TemplateFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1.
  public let line: Int
  /// Whether it is a line of the HTML, not of the text.
  public let isInHTML: Bool
  /// What is wrong, and what to do.
  public let message: String

  init(line: Int, isInHTML: Bool = false, message: String) {
    self.line = line
    self.isInHTML = isInHTML
    self.message = message
  }

  /// As tools show it behind the file's name: `3: text`.
  public var description: String { "\(line): \(message)" }
}
