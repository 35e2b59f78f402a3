package import APISupport
package import HTTPServer
import StorageCore
import Synchronization
package import TreeDatabase
import TreeModel

/// What the tree's REST surface, event streams and sockets answer with.
package final class RealtimeServices: APIServices {
  package let context: ServerContext
  /// Who may do what in the tree.
  package let access: any AccessDeciding
  /// Who tells clients what was committed; also to be given to the database as an observer.
  package let listeners: ListenerHub
  /// Users who are connected; to be told of what ``Accounts/AccountWatch`` hears.
  package let connectedUsers: ConnectedUsers
  /// For reads that are too large for an event loop.
  package let largeAnswers: LargeAnswers
  /// How event streams are kept.
  package let streamLimits: StreamLimits
  /// Answers `X-Doubloon-Wait: effects`; nil where no functions run.
  package let effects: (any EffectsWaiting)?
  /// Tells this server's sessions from those of one that ended.
  let run: String
  /// Where push ids get their random part.
  package let random: any RandomNumberGenerator & Sendable
  /// Told once of each namespace that came into being by a first write.
  package let announceNamespace: @Sendable (String) -> Void

  package init(
    context: ServerContext, access: any AccessDeciding, listeners: ListenerHub, connectedUsers: ConnectedUsers,
    streamLimits: StreamLimits = StreamLimits(), effects: (any EffectsWaiting)? = nil,
    random: any RandomNumberGenerator & Sendable, announceNamespace: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.context = context
    largeAnswers = LargeAnswers(on: context.pools.clients)
    self.access = access
    self.listeners = listeners
    self.connectedUsers = connectedUsers
    self.streamLimits = streamLimits
    self.effects = effects
    self.random = random
    var random = random
    run = String(UInt64.random(in: .min ... .max, using: &random), radix: 36)
    self.announceNamespace = announceNamespace
  }
}

/// A route of this target, and a request for it.
package typealias Route = APIRoute<RealtimeServices>
typealias RouteCall = APICall<RealtimeServices>

extension RealtimeServices {
  /// The refusal of a query that has no index, with what holds where no rules are set.
  func missingIndex(_ order: NodeOrder, at path: Path, in namespace: NamespaceID?) -> MissingIndex {
    let hasRules = namespace.flatMap { database.catalog.ruleSet(of: $0) } != nil
    return MissingIndex(order: order, path: path, unruled: hasRules ? nil : access.isDevelopment ? .open : .closed)
  }
}

/// Finds the namespace of a write, and in development makes it.
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
      case .failure(let error): body(.failure(APIError(error)))
      }
    }
  }
}
