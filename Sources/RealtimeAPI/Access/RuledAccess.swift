package import APISupport
import AccessRules
package import HTTPServer
import StorageCore
package import TreeDatabase
package import TreeModel

/// Access by the security rules of each namespace (spec: rtdb-protocol §4); where there are none, by what holds without.
///
/// Rules hold from the moment at which their upload is answered. A namespace without rules costs one look into a table.
package struct RuledAccess: AccessDeciding {
  private let database: Database
  private let unruled: AccessPolicy

  /// - Parameter unruled: what holds in a namespace without rules: in development everything is open, in production all is
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

  package func judgeRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadJudgement {
    if caller.isAdmin { return .allowed }
    guard let (id, rules) = rules(of: namespace) else {
      return unruled.judgeRead(path, query: query, in: namespace, as: caller)
    }
    return database.judgeRead(path, query: query, in: id, as: caller.auth, by: rules)
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
