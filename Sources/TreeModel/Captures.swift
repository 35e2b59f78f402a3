/// The parts of a path that a ``PathPattern`` captured, in the pattern's order.
///
/// Values are the keys as stored: nothing is percent-decoded.
public struct Captures: Sendable, Hashable {
  /// One captured part.
  public struct Capture: Sendable, Hashable {
    /// The name in the pattern.
    public let name: String
    /// The key; of a multi-segment, the keys joined by `/`.
    public let value: String

    /// A captured part.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private var captures: [Capture]

  /// Captures in order; no name may occur twice.
  public init(_ captures: [Capture] = []) {
    self.captures = captures
  }

  /// The value captured under a name; nil if the pattern has no such name.
  public subscript(name: String) -> String? {
    captures.first { $0.name == name }?.value
  }
}

extension Captures: RandomAccessCollection {
  /// The position of the first capture.
  public var startIndex: Int { captures.startIndex }
  /// The position after the last capture.
  public var endIndex: Int { captures.endIndex }
  /// The capture at a position.
  public subscript(position: Int) -> Capture { captures[position] }
}
