public import AccessRules
public import StorageCore
public import TreeModel

/// What the rules say of a read.
public struct ReadDecision: Sendable {
  /// Whether it is allowed.
  public let isAllowed: Bool
  /// Whether the store could not be looked at: that nothing is allowed then says nothing of the caller.
  public let isUnavailable: Bool
  /// Where the rules looked: a commit there may change what they say.
  public let paths: [PathBytes]

  /// When the rules should be asked again although nothing was written, in milliseconds since 1970; nil if time changes
  /// nothing.
  public let holdsUntil: Int64?

  /// A verdict.
  public init(isAllowed: Bool, isUnavailable: Bool = false, paths: [PathBytes] = [], holdsUntil: Int64? = nil) {
    self.isAllowed = isAllowed
    self.isUnavailable = isUnavailable
    self.paths = paths
    self.holdsUntil = holdsUntil
  }

  /// Allowed, whatever the tree holds.
  public static let allowed = ReadDecision(isAllowed: true)
  /// Denied, whatever the tree holds.
  public static let denied = ReadDecision(isAllowed: false)
  /// Not judged.
  public static let unavailable = ReadDecision(isAllowed: false, isUnavailable: true)
}

/// A snapshot's tree, as the rules of a read look at it. Remembers where they looked: a later commit there may change the
/// verdict.
final class SnapshotTree: RuleTree {
  private let snapshot: any Snapshot
  private let namespace: NamespaceID
  private(set) var paths: Set<PathBytes> = []

  init(_ snapshot: any Snapshot, _ namespace: NamespaceID) {
    self.snapshot = snapshot
    self.namespace = namespace
  }

  func read(at pathBytes: PathBytes, side: RuleSide) throws(RuleTreeError) -> RuleRead {
    paths.insert(pathBytes)
    do throws(StorageError) {
      for row in try snapshot.leaves(in: namespace, under: pathBytes, limit: 2) {
        if row.leaf.path == pathBytes { return .leaf(row.leaf.scalar) }
        if row.leaf.path != pathBytes.priority { return .map }
      }
      return .absent
    } catch {
      throw RuleTreeError(error.message)
    }
  }

  func priority(at pathBytes: PathBytes, side: RuleSide) throws(RuleTreeError) -> Scalar? {
    paths.insert(pathBytes.priority)
    do throws(StorageError) {
      return try snapshot.leaf(in: namespace, at: pathBytes.priority)?.leaf.scalar
    } catch {
      throw RuleTreeError(error.message)
    }
  }
}

extension Database {
  /// Evaluates a read by the rules of a namespace, as the tree is now.
  ///
  /// Looks at single nodes only, and at none if the rules on the way do not ask: short enough for an event loop. What it looks
  /// at may be a moment ahead of the disk; nothing of it is told.
  public func decideRead(_ path: Path, query: Query?, in namespace: NamespaceID, as auth: AuthVariable?, by rules: RuleSet)
    -> ReadDecision
  {
    let now = clock.now()
    do throws(RuleTreeError) {
      guard RuleEvaluator.readsTree(rules, at: path) else {
        let verdict = try RuleEvaluator(rules, auth: auth?.json, now: now, tree: Nothing()).decideRead(path, query: query)
        return ReadDecision(isAllowed: verdict.isAllowed, holdsUntil: verdict.holdsUntil)
      }
      return try engine.readAhead { (snapshot) throws(RuleTreeError) in
        let tree = SnapshotTree(snapshot, namespace)
        let verdict = try RuleEvaluator(rules, auth: auth?.json, now: now, tree: tree).decideRead(path, query: query)
        return ReadDecision(isAllowed: verdict.isAllowed, paths: Array(tree.paths), holdsUntil: verdict.holdsUntil)
      }.result
    } catch {
      // A store that cannot be read allows nothing.
      return .unavailable
    }
  }

  /// Evaluates a read, and says why.
  public func explainRead(_ path: Path, query: Query?, in namespace: NamespaceID?, as auth: AuthVariable?, by rules: RuleSet)
    throws(CommitError) -> RuleExplanation
  {
    let now = clock.now()
    do throws(RuleTreeError) {
      guard let namespace else {
        return try RuleEvaluator(rules, auth: auth?.json, now: now, tree: Nothing()).explainRead(path, query: query)
      }
      return try engine.read { (snapshot) throws(RuleTreeError) in
        try RuleEvaluator(rules, auth: auth?.json, now: now, tree: SnapshotTree(snapshot, namespace))
          .explainRead(path, query: query)
      }
    } catch {
      throw CommitError(.unavailable, error.message)
    }
  }
}

/// A tree that is not looked at, or empty.
private struct Nothing: RuleTree {
  func read(at pathBytes: PathBytes, side: RuleSide) -> RuleRead { .absent }
  func priority(at pathBytes: PathBytes, side: RuleSide) -> Scalar? { nil }
}
