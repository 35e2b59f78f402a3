/// How each function ended with a write, by name; compare it with a dictionary: `write.outcomes == ["pay": .done]`.
///
/// Where no function ran, its description says why, so that an expectation that fails says it too.
public struct TestOutcomes: Sendable, Equatable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  private let endings: [String: TestWrite.Ending]
  /// Why there are none.
  private let reason: String?

  init(_ endings: [String: TestWrite.Ending], becauseOf reason: String?) {
    self.endings = endings
    self.reason = reason
  }

  /// What a test expects.
  public init(dictionaryLiteral elements: (String, TestWrite.Ending)...) {
    endings = Dictionary(elements) { $1 }
    reason = nil
  }

  /// How a function ended; nil if it did not run, or ran for several events of the write.
  public subscript(function: String) -> TestWrite.Ending? { endings[function] }

  /// Whether no function ran.
  public var isEmpty: Bool { endings.isEmpty }

  /// The functions that ran, in the order of their names.
  public var functions: [String] { endings.keys.sorted() }

  /// The endings, or why there are none.
  public var description: String {
    guard !endings.isEmpty else { return reason.map { "none: \($0)" } ?? "none" }
    let pairs = endings.sorted { $0.key < $1.key }.map { "\"\($0.key)\": .\($0.value)" }
    return "[\(pairs.joined(separator: ", "))]"
  }

  /// Whether the same functions ended in the same way.
  public static func == (one: TestOutcomes, other: TestOutcomes) -> Bool { one.endings == other.endings }
}
