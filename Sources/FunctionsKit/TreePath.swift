public import TreeModel

/// A place in the tree with types: what stands there, and what its captured segments are.
///
/// ```swift
/// enum Users {
///   static let level = TreePath<Int, UserID>("/users/{uid}/level")
/// }
/// ```
/// The pattern needs one capture for each parameter type. A path that does not fit its types is a mistake of the
/// programmer and traps when it is first used, at start-up.
public struct TreePath<Value: Codable & Sendable, each P: PathParameter>: Sendable {
  /// The place with its captures open.
  public let pattern: PathPattern

  /// A place, written like `/users/{uid}/level`.
  public init(_ text: String) {
    do {
      pattern = try PathPattern(parsing: text)
    } catch {
      Misuse.stop("TreePath(\"\(text)\"): \(error)")
    }
    var count = 0
    for _ in repeat (each P).self { count += 1 }
    guard pattern.captureNames.count == count else {
      Misuse.stop(
        "TreePath(\"\(text)\") has \(pattern.captureNames.count) captures and \(count) parameter types; "
          + "give one type for each.")
    }
  }

  /// The path for these parameters.
  public func path(_ parameters: repeat each P) throws -> Path {
    var segments: [String] = []
    for parameter in repeat each parameters { segments.append(parameter.pathSegment) }
    return try pattern.path(filling: segments)
  }
}

/// Reads captured segments one after the other, each as the type that the path gives it.
struct CaptureReader {
  private var captures: ArraySlice<String>

  init(_ captures: [String]) {
    self.captures = captures[...]
  }

  mutating func next<Parameter: PathParameter>(_ type: Parameter.Type) throws(TypeMismatch) -> Parameter {
    guard let segment = captures.popFirst(), let parameter = Parameter(pathSegment: segment) else { throw TypeMismatch() }
    return parameter
  }
}

/// A captured segment, or a value, is not of the type that the path gives it. The run is skipped as `type_mismatch`.
struct TypeMismatch: Error {}
