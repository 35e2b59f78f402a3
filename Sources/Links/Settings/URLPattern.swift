/// A regular expression that is matched in linear time: what RE2 understands of URLs, nothing that needs to try again.
///
/// Letters and digits, `.`, classes `[a-z]`, `\d \w \s` and their opposites, groups, `|`, `* + ? {m,n}`, `^ $`. It matches
/// anywhere in the text unless it is anchored. Look-around and back-references are refused, and so is a pattern whose
/// automaton would be large: matching costs at most states times bytes (spec: links-messaging §1, allow-list).
public struct URLPattern: Sendable, Hashable {
  /// Why a text is no pattern.
  public struct Fault: Error, Sendable, Hashable {
    /// What is wrong, and where.
    public let message: String
  }

  /// As it was written.
  public let text: String
  private let program: [PatternStep]
  /// Whether it can match at the beginning only.
  public let isAnchored: Bool

  /// The longest pattern, and the most steps of its automaton.
  static let lengthMax = 500
  static let stepsMax = 5000

  /// Reads a pattern; ``Fault`` says what is wrong with it, and where.
  public init(_ text: String) throws(Fault) {
    guard text.utf8.count <= Self.lengthMax else { throw Fault(message: "it is longer than \(Self.lengthMax) bytes.") }
    self.text = text
    var parser = PatternParser(text)
    let node = try parser.parse()
    var compiler = PatternCompiler()
    program = try compiler.program(of: node)
    isAnchored = node.isAnchored
  }

  /// Whether the pattern matches somewhere in the text.
  public func matches(_ text: String) -> Bool {
    var run = PatternRun(program: program)
    return run.matches(Array(text.utf8))
  }

  public static func == (left: URLPattern, right: URLPattern) -> Bool { left.text == right.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
