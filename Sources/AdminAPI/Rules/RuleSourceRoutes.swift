import APISupport
import AccessRules
import AdminModel
import HTTPServer
import NIOHTTP1
import NIOPosix
import StorageCore
import TreeDatabase
import TreeModel

/// The rules as texts: what holds, what held, what is wrong with one, and replacing them.
enum RuleSourceRoutes {
  static let routes: [Route] = [
    .reading(AdminRules.read, by: read), .changing(AdminRules.put, audit: "rules.put", answer: put),
    .changing(AdminRules.check, audit: nil, answer: check), .reading(AdminRules.history, by: history),
    .reading(AdminRules.version, by: version),
    .changing(AdminRules.rollback, audit: "rules.rollback", answer: rollBack),
  ]

  // MARK: What holds and held

  private static func read(_ call: RouteCall, query: NoQuery) throws -> AdminRules.Rules {
    guard let namespace = try known(call), let record = call.services.database.catalog.source(of: namespace) else {
      let source = RuleSet.source(allowingAll: call.services.isDevelopment)
      return AdminRules.Rules(source: source, hash: RulesChange.none, bytes: Int64(source.utf8.count), exists: false)
    }
    let last = try call.read { snapshot in try RulesHistory(of: namespace, in: snapshot) }.versions.last
    let hash = record.hash
    return AdminRules.Rules(
      source: record.source, hash: hash, bytes: Int64(record.source.utf8.count), exists: true,
      updatedAt: Timestamp(record.updatedAt), version: last?.hash == hash ? last?.number : nil)
  }

  private static func history(_ call: RouteCall, query: NoQuery) throws -> AdminRules.History {
    guard let namespace = try known(call) else { return AdminRules.History(versions: []) }
    let history = try call.read { snapshot in try RulesHistory(of: namespace, in: snapshot) }
    let last = history.versions.last?.number
    return AdminRules.History(
      versions: history.versions.reversed().map { AdminRules.Version($0, isCurrent: $0.number == last) })
  }

  private static func version(_ call: RouteCall, query: NoQuery) throws -> AdminRules.VersionSource {
    let (version, source, isCurrent) = try find(call.captures["version"] ?? "", call)
    return AdminRules.VersionSource(version: AdminRules.Version(version, isCurrent: isCurrent), source: source)
  }

  private static func find(_ name: String, _ call: RouteCall) throws -> (RulesVersion, source: String, isCurrent: Bool) {
    let found = try known(call).flatMap { namespace in
      try call.read { snapshot -> (RulesVersion, source: String, isCurrent: Bool)? in
        let history = try RulesHistory(of: namespace, in: snapshot)
        guard let version = history[name],
          let source = try RulesHistory.source(version.hash, of: namespace, in: snapshot)
        else { return nil }
        return (version, source, version.number == history.versions.last?.number)
      }
    }
    guard let found else {
      throw APIError(
        .notFound, "unknown_version",
        "There is no version \"\(name.prefix(80))\" of the rules; the last \(RulesHistory.countMax) are kept: doubloon rules history."
      )
    }
    return found
  }

  /// The namespace that is meant; nil where development would make it.
  @discardableResult
  static func known(_ call: RouteCall) throws -> NamespaceID? {
    guard NamespaceName.isLegal(call.namespaceName) else { throw APIError.unknownNamespace(call.namespaceName) }
    let found = call.services.database.namespace(named: call.namespaceName)
    return call.services.createsNamespaces ? found : try call.namespace()
  }

  // MARK: Replacing

  private static func put(_ call: RouteCall, order: AdminRules.PutOrder) async throws -> AdminRules.Put {
    let rules: RuleSet
    do throws(RulesError) {
      rules = try RuleSet(parsing: order.source)
    } catch {
      throw refusal(error)
    }
    return try await put(
      order.source, rules: rules, ifHash: order.ifHash, call,
      as: RulesChange(by: call.caller.actor, reason: try reason(order.reason)))
  }

  /// A version to go back to, read once more: this version of the program may know better than the one that took it.
  private struct Earlier: Sendable {
    let number: Int64
    let source: String
    let rules: RuleSet
  }

  private static func earlier(_ name: String, _ call: RouteCall) throws -> Earlier {
    let (version, source, _) = try find(name, call)
    return Earlier(number: version.number, source: source, rules: try parsed(source))
  }

  private static func parsed(_ source: String) throws -> RuleSet {
    do throws(RulesError) {
      return try RuleSet(parsing: source)
    } catch {
      throw refusal(error)
    }
  }

  private static func rollBack(_ call: RouteCall, order: AdminRules.RollbackOrder) async throws -> AdminRules.Put {
    let why = try reason(order.reason)
    let version = try await call.services.adminPool.runIfActive { try earlier(order.version, call) }
    let change = RulesChange(by: call.caller.actor, way: .rollback, reason: why, restores: version.number)
    return try await put(version.source, rules: version.rules, ifHash: order.ifHash, call, as: change)
  }

  // Not inlined: the optimiser of Swift 6.3.1 ends by a signal when it splits a coroutine that this one is part of.
  @inline(never)
  private static func put(
    _ source: String, rules: RuleSet, ifHash: String?, _ call: RouteCall, as change: RulesChange
  ) async throws -> AdminRules.Put {
    var change = change
    change.ifHash = ifHash
    let (database, name) = (call.services.database, call.namespaceName)
    let namespace =
      call.services.createsNamespaces ? try await database.openNamespace(named: name) : try call.namespace()
    switch try await database.putRules(source, rules: rules, in: namespace, as: change) {
    case .replaced(let version):
      // Who listens already may have lost the right to.
      call.services.listeners.review()
      return AdminRules.Put(version: version.number, hash: version.hash, changed: true)
    case .unchanged(let version): return AdminRules.Put(version: version.number, hash: version.hash, changed: false)
    case .conflict(let current): throw conflict(expected: ifHash ?? "", current: current, offered: source)
    }
  }

  private static func reason(_ text: String) throws -> String {
    guard text.count <= RulesHistory.reasonMax else {
      throw APIError.badRequest("A reason has at most \(RulesHistory.reasonMax) characters.")
    }
    return text
  }

  private static func conflict(expected: String, current: RulesVersion?, offered: String) -> APIError {
    let what = current.map { "version \($0.number)\($0.actor.map { " by \($0)" } ?? "")" } ?? "none"
    var error = APIError(
      .preconditionFailed, "conflict",
      "The rules are not those that you began with: what holds now is \(what). Nothing was changed; compare, and put them again with "
        + "ifHash=\(current?.hash ?? RulesChange.none).")
    error.details = [
      .init(key: "expected", value: .string(expected)),
      .init(key: "current", value: .string(current?.hash ?? RulesChange.none)),
      .init(key: "yours", value: .string(RulesHistory.hash(of: offered))),
    ]
    return error
  }

  // MARK: Faults

  private static func check(_ call: RouteCall, order: AdminRules.CheckOrder) async throws -> AdminRules.Check {
    try known(call)
    let hash = RulesHistory.hash(of: order.source)
    do throws(RulesError) {
      let counts = try RuleSet(parsing: order.source).counts
      return AdminRules.Check(
        sound: true, faults: [], hash: hash, places: Int64(counts.places), rules: Int64(counts.rules),
        indexes: Int64(counts.indexes))
    } catch {
      return AdminRules.Check(sound: false, faults: faults(error), hash: hash)
    }
  }

  private static func faults(_ error: RulesError) -> [AdminRules.Fault] {
    ([error] + error.others).map { AdminRules.Fault(line: Int64($0.line), column: Int64($0.column), message: $0.message) }
  }

  /// Rules that are none: with every fault and its place.
  static func refusal(_ error: RulesError) -> APIError {
    let more = error.others.isEmpty ? "" : " And \(error.others.count) more."
    var refusal = APIError(
      .badRequest, "invalid_rules", "These are no rules: \(error.line):\(error.column): \(error.message)\(more)")
    refusal.details = [.init(key: "faults", value: JSON(encoding: faults(error)))]
    return refusal
  }
}

extension AdminRules.Version {
  fileprivate init(_ version: RulesVersion, isCurrent: Bool) {
    let way: AdminRules.Way =
      switch version.way {
      case .put: .put
      case .rollback: .rollback
      case .configuration: .configuration
      case .found: .found
      }
    self.init(
      version: version.number, time: Timestamp(version.time), actor: version.actor, way: way, reason: version.reason,
      hash: version.hash, bytes: version.bytes, restores: version.restores, current: isCurrent)
  }
}
