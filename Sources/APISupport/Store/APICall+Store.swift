package import HTTPServer
package import StorageCore
import TreeDatabase

extension APICall where Services: APIServices {
  /// The name of the namespace that is meant: `ns`, or the server's default.
  package var namespaceName: String { query["ns"] ?? services.defaultNamespace }

  package func namespace() throws(APIError) -> NamespaceID {
    guard let id = services.database.namespace(named: namespaceName) else {
      throw .unknownNamespace(namespaceName)
    }
    return id
  }

  package func read<Value>(_ body: (any Snapshot) throws(StorageError) -> Value) throws(APIError) -> Value {
    do throws(StorageError) {
      return try services.database.engine.read(body)
    } catch {
      throw APIError(error)
    }
  }
}
