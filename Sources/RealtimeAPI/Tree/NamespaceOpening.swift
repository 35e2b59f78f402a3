import APISupport
import HTTPServer
import StorageCore
import Synchronization
import TreeDatabase

/// Finds the namespace of a write, and in development makes it (design §8).
final class NamespaceOpening: Sendable {
  private let services: RealtimeServices
  private let announced = Mutex<Set<String>>([])

  init(services: RealtimeServices) {
    self.services = services
  }

  /// Calls back at once, on this thread, where the namespace is known; else from the writer.
  func open(_ name: String, then body: @escaping @Sendable (Result<NamespaceID, APIError>) -> Void) {
    if let known = services.database.namespace(named: name) { return body(.success(known)) }
    guard services.access.createsNamespaces else { return body(.failure(.unknownNamespace(name))) }
    services.database.openNamespace(named: name) { [self] result in
      switch result {
      case .success(let id):
        if announced.withLock({ $0.insert(name).inserted }) { services.announceNamespace(name) }
        body(.success(id))
      case .failure(let refusal): body(.failure(APIError(refusal)))
      }
    }
  }
}
