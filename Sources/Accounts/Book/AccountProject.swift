public import StorageCore

/// A project: the name that tokens bear, and the namespace whose players it has (`P` and `P-default-rtdb`).
public struct AccountProject: Sendable, Hashable {
  /// The `aud` of its tokens.
  public let name: String
  public let namespace: NamespaceID

  public init(name: String, namespace: NamespaceID) {
    self.name = name
    self.namespace = namespace
  }

  /// The name of a project's namespace.
  public static func namespaceName(of project: String) -> String { "\(project)-default-rtdb" }

  /// The number that the protocol gives where it wants one: nothing depends on it.
  var number: String { "12345" }
}
