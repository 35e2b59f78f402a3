public import AccessRules
public import StorageCore
public import TreeModel

extension Database {
  /// Judges a read by the rules of a namespace, as the tree is now.
  ///
  /// Looks at single nodes only, and at none if the rules on the way do not ask: short enough for an event loop. What it looks
  /// at may be a moment ahead of the disk; nothing of it is told.
  public func judgeRead(_ path: Path, query: Query?, in namespace: NamespaceID, as auth: AuthVariable?, by rules: RuleSet)
    -> ReadJudgement
  {
    let now = clock.now()
    do throws(RuleTreeFault) {
      guard RuleJudge.readsTree(rules, path) else {
        let verdict = try RuleJudge(rules, auth: auth?.json, now: now, tree: Nothing()).judgeRead(path, query: query)
        return ReadJudgement(isAllowed: verdict.isAllowed, holdsUntil: verdict.holdsUntil)
      }
      return try engine.readAhead { (snapshot) throws(RuleTreeFault) in
        let tree = SnapshotTree(snapshot, namespace)
        let verdict = try RuleJudge(rules, auth: auth?.json, now: now, tree: tree).judgeRead(path, query: query)
        return ReadJudgement(isAllowed: verdict.isAllowed, places: Array(tree.places), holdsUntil: verdict.holdsUntil)
      }.result
    } catch {
      // A store that cannot be read allows nothing.
      return .denied
    }
  }

  /// Judges a read, and says why.
  public func explainRead(_ path: Path, query: Query?, in namespace: NamespaceID?, as auth: AuthVariable?, by rules: RuleSet)
    throws(CommitRefusal) -> RuleExplanation
  {
    let now = clock.now()
    do throws(RuleTreeFault) {
      guard let namespace else {
        return try RuleJudge(rules, auth: auth?.json, now: now, tree: Nothing()).explainRead(path, query: query)
      }
      return try engine.read { (snapshot) throws(RuleTreeFault) in
        try RuleJudge(rules, auth: auth?.json, now: now, tree: SnapshotTree(snapshot, namespace))
          .explainRead(path, query: query)
      }
    } catch {
      throw CommitRefusal(.unavailable, error.message)
    }
  }
}

/// A tree that is not looked at, or empty.
private struct Nothing: RuleTree {
  func glance(at place: PathBytes, _ side: RuleSide) -> RuleGlance { .absent }
  func priority(at place: PathBytes, _ side: RuleSide) -> Scalar? { nil }
}
