public import TreeModel

/// What became of a function's run. Returning one is required, so that nothing is forgotten silently.
public enum Outcome: Sendable, Hashable {
  /// The effects, if any, shall be committed.
  case done
  /// Nothing was to be done; the reason, in one word, is shown in the trigger log. Effects asked for before are dropped.
  case skipped(String)
}

/// Ends a run as skipped, from inside a payment: the wrapper around the author's closure makes an outcome of it.
struct RunSkipped: Error {
  /// In one word, for the trigger log.
  let reason: String
}

/// Thrown by a function that wants to be tried again after a time of its own choice.
public struct RetryLater: Error, Sendable, CustomStringConvertible {
  /// How long to wait, in place of the policy's delay. The attempt counts as a failed one.
  public let delay: Duration
  /// Why; shown with the waiting delivery.
  public let reason: String

  public init(after delay: Duration, _ reason: String) {
    self.delay = delay
    self.reason = reason
  }

  public var description: String { reason }
}

/// Thrown by a function that knows that trying again is useless: the event becomes a dead letter at once.
public struct PermanentError: Error, Sendable, CustomStringConvertible {
  /// Why; shown with the dead letter.
  public let reason: String

  public init(_ reason: String) {
    self.reason = reason
  }

  public var description: String { reason }
}

/// The value at a path is not of the type that its `TreePath` gives it. Trying again would find the same: a function
/// that lets it through fails for good.
public struct ValueTypeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where.
  public let path: Path
  /// What was expected, and what was found.
  public let reason: String

  init(_ path: Path, _ error: any Error) {
    self.path = path
    reason = Self.words(error)
  }

  /// A sentence with the path, for the trigger log.
  public var description: String {
    "\(path) is not of the type that the function's TreePath gives it: \(reason)."
  }

  /// A decoder's error in a few words, with the child that it is about: `since: expected Int, found a string`.
  static func words(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    let context: DecodingError.Context
    var missing: (any CodingKey)?
    switch error {
    case .keyNotFound(let key, let found): (context, missing) = (found, key)
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found): context = found
    @unknown default: return "\(error)"
    }
    let path = (context.codingPath + [missing].compactMap(\.self)).map(\.stringValue).joined(separator: "/")
    return (path.isEmpty ? "" : "\(path): ") + context.debugDescription
  }
}

/// A captured segment of the event's path, or a value of the event, is not of the type that the path gives it. The run is
/// skipped as `type_mismatch`, with what was expected and what was found.
struct TypeMismatch: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}

extension TreeNode {
  /// The node, a value of an event, as its type.
  func decoded<Value: Decodable>() throws(TypeMismatch) -> Value {
    do {
      return try TreeNodeDecoder.decode(Value.self, from: self)
    } catch {
      throw TypeMismatch(ValueTypeError.words(error))
    }
  }
}
