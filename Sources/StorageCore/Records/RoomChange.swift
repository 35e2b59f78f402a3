/// What a request does to a ``RoomRecord``, and what must be true of it before.
public struct RoomChange: Sendable, Hashable {
  /// What must stand there when the request is judged.
  public enum Expectation: Sendable, Hashable {
    case anything
    /// Nothing: the first to come gets it.
    case absent
    /// Exactly this: whoever changed it in between wins.
    case value(String)
  }

  /// Of which kind the record is.
  public let kind: String
  /// Its name among those of its kind.
  public let key: String
  /// The new value; nil removes the record.
  public let value: String?
  /// What must be true before; judged on the writer.
  public let expectation: Expectation

  public init(kind: String, key: String, value: String?, expecting expectation: Expectation = .anything) {
    self.kind = kind
    self.key = key
    self.value = value
    self.expectation = expectation
  }
}
