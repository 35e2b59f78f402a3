package import APISupport
import AccessRules
package import HTTPServer
import StorageCore
package import TreeDatabase
package import TreeModel

/// Who may do what before the data are looked at; security rules implement it.
///
/// Writes are judged here only as far as the caller alone decides; what depends on the data is judged on the writer.
package protocol AccessDeciding: Sendable {
  /// Whether the caller may read the node, or a window over its children.
  ///
  /// Called on event loops: it may look at single nodes.
  func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision
  /// Why the caller may not read there, for people; nil where no rule has a say.
  func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String?
  /// Whether the caller may send writes for the node.
  func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool
  /// Whether some data could be written at the node, or also below it, by the caller: what is known before the data are read.
  func mightWrite(_ path: Path, below: Bool, in namespace: String, as caller: Caller) -> Bool
  /// Whether a caller's writes are judged on the writer, by the rules of the namespace.
  func judgesWrites(in namespace: String, of caller: Caller) -> Bool
  /// Whether namespaces come into being when they are first written to.
  var createsNamespaces: Bool { get }
  /// Whether the tools of development are there: deleting namespaces, moving the clock, suppressing triggers.
  var isDevelopment: Bool { get }
}

extension AccessDeciding {
  package func mightWrite(_ path: Path, below: Bool, in namespace: String, as caller: Caller) -> Bool {
    mayWrite(path, in: namespace, as: caller)
  }

  /// Why a caller may not read there, if the caller may know that: in development everybody, else administrators who try out
  /// what others may.
  func reasons(ofDenying caller: Caller, at path: Path, query: Query?, in namespace: String) -> String? {
    mayKnowReasons(caller) ? explainRead(path, query: query, in: namespace, as: caller) : nil
  }

  /// Where the writer notes why it denies a write, if the caller may know that.
  func note(for caller: Caller, in namespace: String) -> RuleDecisionNote? {
    mayKnowReasons(caller) && judgesWrites(in: namespace, of: caller) ? RuleDecisionNote() : nil
  }

  /// Whether a caller may know what rules say and see: never a client in production.
  func mayKnowReasons(_ caller: Caller) -> Bool { isDevelopment || caller.isImpersonated }
}

extension AccessPolicy: AccessDeciding {
  package func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision {
    caller.isAdmin || isDevelopment ? .allowed : .denied
  }
  package func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
  package func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
  package func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { caller.isAdmin || isDevelopment }
}

/// Access by the security rules of each namespace (Firebase's security rules reference); where there are none, by what holds
/// without.
///
/// Rules hold from the moment at which their upload is answered. A namespace without rules costs one look into a table.
package struct RuleBasedAccess: AccessDeciding {
  private let database: Database
  private let unruled: AccessPolicy

  /// - `unruled`: what holds in a namespace without rules: in development everything is open, in production all is
  ///   denied to everybody but administrators.
  package init(database: Database, unruled: AccessPolicy) {
    self.database = database
    self.unruled = unruled
  }

  package var isDevelopment: Bool { unruled.isDevelopment }
  package var createsNamespaces: Bool { unruled.createsNamespaces }

  private func rules(of namespace: String) -> (id: NamespaceID, rules: RuleSet)? {
    guard let id = database.namespace(named: namespace), let rules = database.catalog.ruleSet(of: id) else { return nil }
    return (id, rules)
  }

  package func decideRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadDecision {
    if caller.isAdmin { return .allowed }
    guard let (id, rules) = rules(of: namespace) else {
      return unruled.decideRead(path, query: query, in: namespace, as: caller)
    }
    return database.decideRead(path, query: query, in: id, as: caller.auth, by: rules)
  }

  package func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? {
    guard let (id, rules) = rules(of: namespace) else { return nil }
    return try? database.explainRead(path, query: query, in: id, as: caller.auth, by: rules).text
  }

  package func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool {
    // With rules the writer judges, on the data that the write meets.
    caller.isAdmin || rules(of: namespace) != nil || unruled.mayWrite(path, in: namespace, as: caller)
  }

  package func mightWrite(_ path: Path, below: Bool, in namespace: String, as caller: Caller) -> Bool {
    // Who may know the reasons is refused by the writer, which knows them.
    if caller.isAdmin || mayKnowReasons(caller) { return true }
    guard let (_, rules) = rules(of: namespace) else { return unruled.mayWrite(path, in: namespace, as: caller) }
    return rules.mightAllowWrite(path, below: below, auth: caller.auth?.json)
  }

  package func judgesWrites(in namespace: String, of caller: Caller) -> Bool {
    !caller.isAdmin && rules(of: namespace) != nil
  }
}
