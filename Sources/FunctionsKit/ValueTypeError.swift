public import TreeModel

/// What stands at a place is not of the type that its ``TreePath`` gives it. Trying again would find the same: a function
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

  /// A sentence with the place, for the trigger log.
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
    let place = (context.codingPath + [missing].compactMap(\.self)).map(\.stringValue).joined(separator: "/")
    return (place.isEmpty ? "" : "\(place): ") + context.debugDescription
  }
}
