public import TreeModel

/// A place in the tree with types: what stands there, and what its captured segments are.
///
/// ```swift
/// enum Users {
///   static let level = TreePath<Int, UserID>("/users/{uid}/level")
/// }
/// ```
/// The pattern needs one capture for each parameter type. A path that does not fit its types is a mistake of the
/// programmer: a registration with it stops the program at start-up, and whatever else uses it throws ``TreePathError``.
public struct TreePath<Value: Codable & Sendable, each P: PathParameter>: Sendable {
  /// The place as it was read; what is wrong with it stands in its place.
  let place: Result<TriggerPlace, TreePathError>

  /// A place, written like `/users/{uid}/level`.
  public init(_ text: String) {
    let pattern: PathPattern
    do {
      pattern = try PathPattern(parsing: text)
    } catch {
      place = .failure(TreePathError("TreePath(\"\(text)\"): \(error)"))
      return
    }
    var arePlayers: [Bool] = []
    for type in repeat (each P).self { arePlayers.append(type == UserID.self) }
    let names = pattern.captureNames
    guard names.count == arePlayers.count else {
      place = .failure(
        TreePathError(
          "TreePath(\"\(text)\") has \(names.count) captures and \(arePlayers.count) parameter types; "
            + "give one type for each."))
      return
    }
    let players = zip(names, arePlayers).filter(\.1).map(\.0)
    place = .success(TriggerPlace(pattern: pattern, players: Set(players)) { Self.sample(of: pattern) })
  }

  /// A place that the pattern matches, with the first plain value that is of the type.
  private static func sample(of pattern: PathPattern) -> FunctionDefinition.Sample? {
    var segments: [String] = []
    for type in repeat (each P).self { segments.append(sampleSegment(of: type)) }
    let values: [(TreeNode, TreeNode)] = [(1, 2), ("gold", "silver"), (true, false), (["name": "Alice"], ["name": "Eve"])]
    guard let path = try? pattern.path(filling: segments),
      let (value, other) = values.first(where: { (try? TreeNodeDecoder.decode(Value.self, from: $0.0)) != nil })
    else { return nil }
    return FunctionDefinition.Sample(path: path, value: value, otherValue: other)
  }

  private static func sampleSegment<Parameter: PathParameter>(of type: Parameter.Type) -> String {
    if type == UserID.self { return "alice" }
    return Parameter(pathSegment: "a1") == nil ? "1" : "a1"
  }

  /// The place with its captures open. One that cannot be read is a mistake of the programmer and traps.
  public var pattern: PathPattern {
    switch place {
    case .success(let place): place.pattern
    case .failure(let error): Misuse.stop(error.description)
    }
  }

  /// The path for these parameters.
  ///
  /// - Throws: `PathError` for a parameter that is no key, ``TreePathError`` if the place itself cannot be read.
  public func path(_ parameters: repeat each P) throws -> Path {
    var segments: [String] = []
    for parameter in repeat each parameters { segments.append(parameter.pathSegment) }
    return try place.get().pattern.path(filling: segments)
  }
}
