public import TreeModel

@available(macOS 14, iOS 17, tvOS 17, *)
extension TreePath {
  /// The path with its captures open. One that cannot be read is a mistake of the programmer and traps.
  public var pattern: PathPattern {
    switch reading {
    case .success(let typed): typed.pattern
    case .failure(let error): Misuse.stop(error.description)
    }
  }

  /// Where a function on this path is registered, or what is wrong with the path.
  var triggerPath: Result<TriggerPath, TreePathError> {
    reading.map { typed in
      TriggerPath(pattern: typed.pattern, players: typed.players) { Self.sample(of: typed.pattern) }
    }
  }

  /// A path that the pattern matches, with the first plain value that is of the type.
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
}

/// Where a function is registered.
struct TriggerPath: Sendable {
  let pattern: PathPattern
  /// The captures that are players: those typed `UserID`.
  let players: Set<String>
  /// A path that the pattern matches, with a value of its type, for examples; nil where none can be made up.
  let sample: @Sendable () -> FunctionDefinition.Sample?
}
