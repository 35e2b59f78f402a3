import StorageCore
import TreeDatabase

/// Services that know the store: a route of theirs finds the namespace that is meant, and reads.
protocol StoreServices: Sendable {
  var database: Database { get }
  /// The namespace of requests that name none.
  var defaultNamespace: String { get }
}

extension APICall where Services: StoreServices {
  /// The name of the namespace that is meant: `ns`, or the server's default.
  var namespaceName: String { query["ns"] ?? services.defaultNamespace }

  func namespace() throws(APIError) -> NamespaceID {
    guard let id = services.database.namespace(named: namespaceName) else {
      throw .unknownNamespace(namespaceName)
    }
    return id
  }

  func read<Value>(_ body: (any Snapshot) throws(StorageError) -> Value) throws(APIError) -> Value {
    do throws(StorageError) {
      return try services.database.engine.read(body)
    } catch {
      throw APIError(error)
    }
  }
}
