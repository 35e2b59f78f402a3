public import StorageCore

/// Where invitations are kept: the namespace of the project, which may not be there before the first.
public protocol InviteHome: Sendable {
  /// The namespace, if it exists.
  func known() -> NamespaceID?
  /// The namespace, made if it does not exist.
  func open() async throws(CommitRefusal) -> NamespaceID
}
