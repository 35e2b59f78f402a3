import Invites
import Links
import Logging
import ServerConfiguration
import StorageCore
import TreeDatabase

/// Makes the configured namespaces, and gives them the configured rules.
///
/// The file counts: rules that were uploaded are replaced at the next start by what the file says, and the log says so, for
/// a server must come up the way its configuration reads.
struct NamespaceInstaller {
  let configuration: ServerConfiguration
  let database: Database
  let logger: Logger

  func run() async throws(CommitError) {
    for name in configuration.namespaces {
      let namespace = try await database.openNamespace(named: name)
      guard let file = configuration.rules, database.catalog.source(of: namespace)?.source != file.source else { continue }
      try await database.putRules(file.source, file.rules, in: namespace)
      logger.notice("security rules installed", metadata: ["namespace": "\(name)", "file": "\(file.path)"])
    }
  }
}

/// Where rooms keep what belongs to the whole project: the namespace of requests that name none.
struct DefaultNamespace: LinkNamespace, InvitationNamespace {
  let database: Database
  let name: String

  func known() -> NamespaceID? { database.namespace(named: name) }

  func open() async throws(CommitError) -> NamespaceID { try await database.openNamespace(named: name) }
}
