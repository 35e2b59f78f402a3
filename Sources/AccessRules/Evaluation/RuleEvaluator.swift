public import TreeModel

/// Evaluates the rules for one operation (Firebase, "Understand Security Rules": they cascade).
public struct RuleEvaluator {
  private let rules: RuleSet
  private let auth: JSON?
  private let now: Int64
  private let tree: any RuleTree
  /// Records every rule that is evaluated; nil outside of explanations.
  private let witness: (any RuleObserver)?
  /// See ``RuleScope/stepsMax``.
  private let stepsMax: Int

  /// - `auth`: the caller; nil for nobody.
  /// - `now`: the operation's time, in milliseconds since 1970: that of its server values.
  /// - `tree`: what rules may look at.
  public init(_ rules: RuleSet, auth: JSON?, now: Int64, tree: any RuleTree) {
    self.init(rules, auth: auth, now: now, tree: tree, witness: nil)
  }

  init(
    _ rules: RuleSet, auth: JSON?, now: Int64, tree: any RuleTree, witness: (any RuleObserver)?,
    stepsMax: Int = RuleScope.stepsMax
  ) {
    self.rules = rules
    self.auth = auth
    self.now = now
    self.tree = tree
    self.witness = witness
    self.stepsMax = stepsMax
  }

  // MARK: Reading

  /// Whether a node may be read: one `.read` on the way from the root must be true.
  ///
  /// - `query`: the window over its children that is asked for; nil for the whole node.
  /// - Throws: if the tree could not be looked at.
  public func mayRead(_ path: Path, query: Query? = nil) throws(RuleTreeError) -> Bool {
    try decideRead(path, query: query).isAllowed
  }

  /// As above, with how long the decision holds, for listens.
  public func decideRead(_ path: Path, query: Query? = nil) throws(RuleTreeError) -> RuleVerdict {
    let scope = RuleScope(auth: auth, now: now, tree: tree, query: RuleQuery(query), stepsMax: stepsMax)
    scope.keys = path.keys
    let isAllowed = try isReadable(path, scope: scope)
    return RuleVerdict(isAllowed: isAllowed, holdsUntil: scope.holdsUntil)
  }

  private func isReadable(_ path: Path, scope: RuleScope) throws(RuleTreeError) -> Bool {
    var node: RuleNode? = rules.root
    for depth in 0...path.depth {
      guard let here = node else { break }
      if let read = here.read, try holds(read, of: here, scope: scope) { return true }
      guard depth < path.depth else { break }
      node = here.child(path.keys[depth])
      scope.pathBytes = scope.pathBytes.child(path.keys[depth])
    }
    return false
  }

  /// Whether a read is decided without reading the tree.
  public static func readsTree(_ rules: RuleSet, at path: Path) -> Bool {
    var node: RuleNode? = rules.root
    var keys = path.keys[...]
    while let here = node {
      if here.read?.looksAtTree == true { return true }
      guard let key = keys.popFirst() else { return false }
      node = here.child(key)
    }
    return false
  }

  // MARK: Writing

  /// A rule node on the way to a write, with what is known of it already: an operation of many places asks each rule once.
  private struct Level {
    let node: RuleNode
    /// How many bytes of the write's place lead here.
    let end: Int
    var mayWrite: Bool?
    var isValid: Bool?
  }

  /// Whether all the places of an operation may be written: for each, one `.write` on the way from the root must be true, and
  /// then every `.validate` on the way and below, where there will be data. Deleting asks `.write` alone.
  ///
  /// Every `.write` is asked before any `.validate`: what is looked at is then small, however much is written.
  ///
  /// - Throws: if the tree could not be looked at.
  public func mayWrite(_ writes: some Collection<RuleWrite>) throws(RuleTreeError) -> Bool {
    let scope = RuleScope(auth: auth, now: now, tree: tree, query: RuleQuery(nil), stepsMax: stepsMax)
    guard try areAllowed(writes, scope: scope) else { return false }
    return try areValid(writes, scope: scope)
  }

  private func areAllowed(_ writes: some Collection<RuleWrite>, scope: RuleScope) throws(RuleTreeError) -> Bool {
    var levels = [Level(node: rules.root, end: 0)]
    for write in writes {
      go(to: write, levels: &levels, scope: scope)
      guard try isAllowed(write.pathBytes, levels: &levels, scope: scope) else { return false }
    }
    return true
  }

  private func areValid(_ writes: some Collection<RuleWrite>, scope: RuleScope) throws(RuleTreeError) -> Bool {
    var levels = [Level(node: rules.root, end: 0)]
    scope.keys = []
    for write in writes {
      guard try leavesSomething(write) else { continue }
      go(to: write, levels: &levels, scope: scope)
      guard try isValid(write.pathBytes, levels: &levels, scope: scope) else { return false }
      if case .node(let node) = write.value, levels.count == write.path.depth + 1, let last = levels.last {
        guard try isValid(node, below: last.node, at: write.pathBytes, scope: scope) else { return false }
      }
    }
    return true
  }

  /// Whether there will be something at the place; a priority needs a node to be of.
  private func leavesSomething(_ write: RuleWrite) throws(RuleTreeError) -> Bool {
    switch write.value {
    case .node(let node): node.exists
    case .priority: try tree.read(at: write.pathBytes, side: .after) != .absent
    }
  }

  /// Keeps the levels that both paths share, and adds the others of this one.
  private func go(to write: RuleWrite, levels: inout [Level], scope: RuleScope) {
    let path = write.path
    if !scope.keys.isEmpty {
      let shared = zip(scope.keys, path.keys).prefix { $0 == $1 }.count
      levels.removeLast(max(0, levels.count - shared - 1))
    }
    scope.keys = path.keys
    levels.reserveCapacity(path.depth + 1)
    while levels.count <= path.depth {
      let key = path.keys[levels.count - 1]
      let last = levels[levels.count - 1]
      guard let node = last.node.child(key), let end = write.pathBytes.segmentEnd(at: last.end) else { return }
      levels.append(Level(node: node, end: end))
    }
  }

  private func isAllowed(_ pathBytes: PathBytes, levels: inout [Level], scope: RuleScope) throws(RuleTreeError) -> Bool {
    for index in levels.indices {
      guard let write = levels[index].node.write else { continue }
      if let known = levels[index].mayWrite {
        if known { return true }
        continue
      }
      scope.pathBytes = pathBytes.prefix(levels[index].end)
      let holds = try holds(write, of: levels[index].node, scope: scope)
      levels[index].mayWrite = holds
      if holds { return true }
    }
    return false
  }

  private func isValid(_ pathBytes: PathBytes, levels: inout [Level], scope: RuleScope) throws(RuleTreeError) -> Bool {
    for index in levels.indices {
      guard let validate = levels[index].node.validate, levels[index].isValid == nil else { continue }
      scope.pathBytes = pathBytes.prefix(levels[index].end)
      guard try holds(validate, of: levels[index].node, scope: scope) else { return false }
      levels[index].isValid = true
    }
    return true
  }

  /// Whether the new data below a path are valid.
  private func isValid(_ data: TreeNode, below node: RuleNode, at pathBytes: PathBytes, scope: RuleScope)
    throws(RuleTreeError)
    -> Bool
  {
    guard node.validatesBelow, case .map(let children) = data.content else { return true }
    if node.wildcard == nil, node.children.count < children.count {
      for key in node.children.keys.sorted() {
        let child = children[key]
        guard child.exists else { continue }
        guard try isValid(child, key: key, below: node, at: pathBytes, scope: scope) else { return false }
      }
      return true
    }
    for entry in children {
      guard try isValid(entry.node, key: entry.key, below: node, at: pathBytes, scope: scope) else { return false }
    }
    return true
  }

  private func isValid(_ data: TreeNode, key: Key, below node: RuleNode, at pathBytes: PathBytes, scope: RuleScope)
    throws(RuleTreeError) -> Bool
  {
    guard let child = node.child(key) else { return true }
    let below = pathBytes.child(key)
    scope.keys.append(key)
    defer { scope.keys.removeLast() }
    if let validate = child.validate {
      scope.pathBytes = below
      guard try holds(validate, of: child, scope: scope) else { return false }
    }
    return try isValid(data, below: child, at: below, scope: scope)
  }

  // MARK: One rule

  private func holds(_ rule: RuleExpression, of node: RuleNode, scope: RuleScope) throws(RuleTreeError) -> Bool {
    scope.recorder = witness?.begin(rule)
    let result: Result<Bool, EvaluationError>
    do throws(EvaluationError) {
      result = .success(try rule.term.bool(in: scope))
    } catch {
      // Without the data nothing can be decided.
      if case .unreadable(let cause) = error.reason { throw cause }
      result = .failure(error)
    }
    witness?.end(rule, of: node, at: scope.pathBytes, result: result)
    if case .success(true) = result { return true }
    return false
  }
}

// MARK: - Explaining

extension RuleEvaluator {
  /// Evaluates a read, and says why.
  public func explainRead(_ path: Path, query: Query? = nil) throws(RuleTreeError) -> RuleExplanation {
    let trace = RuleTrace()
    let judge = RuleEvaluator(rules, auth: auth, now: now, tree: tree, witness: trace, stepsMax: stepsMax)
    let isAllowed = try judge.mayRead(path, query: query)
    return RuleExplanation(operation: "read \(path)", isAllowed: isAllowed, steps: trace.steps)
  }

  /// Evaluates a write, and says why.
  public func explainWrite(_ writes: some Collection<RuleWrite>) throws(RuleTreeError) -> RuleExplanation {
    let trace = RuleTrace()
    let judge = RuleEvaluator(rules, auth: auth, now: now, tree: tree, witness: trace, stepsMax: stepsMax)
    let isAllowed = try judge.mayWrite(writes)
    let paths = writes.prefix(3).map(\.path.description).joined(separator: ", ") + (writes.count > 3 ? ", …" : "")
    return RuleExplanation(operation: "write \(paths)", isAllowed: isAllowed, steps: trace.steps)
  }
}

/// What rules say of a read, and for how long.
public struct RuleVerdict: Sendable, Hashable {
  /// The longest time for which a verdict that rests on `now` is believed, in milliseconds.
  static let believedFor: Int64 = 60_000

  /// Whether the read is allowed.
  public let isAllowed: Bool
  /// When the rules should be asked again although nothing was written, in milliseconds since 1970: when the next comparison
  /// with `now` turns, or a minute from now, whichever is earlier. Nil if no rule looked at `now`.
  public let holdsUntil: Int64?
}
