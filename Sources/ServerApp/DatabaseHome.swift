import Invites
import Links
import StorageCore
import TreeDatabase

/// Where rooms keep what belongs to the whole project: the namespace of requests that name none.
struct DatabaseHome: LinkHome, InviteHome {
  let database: Database
  let name: String

  func known() -> NamespaceID? { database.namespace(named: name) }

  func open() async throws(CommitRefusal) -> NamespaceID { try await database.openNamespace(named: name) }
}
