import StorageCore
import TreeDatabase

extension Database {
  /// The namespace whose commit carries a row that belongs to none: the server's own or, of a folder that was served as
  /// another project, any that is there. Nil if there is none at all.
  func carrier(named name: String) -> NamespaceID? {
    if let own = namespace(named: name) { return own }
    return try? engine.read { (snapshot) throws(StorageError) in try snapshot.namespaces().first?.id }
  }
}
