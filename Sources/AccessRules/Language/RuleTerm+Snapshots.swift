import TreeModel

extension RuleTerm {
  /// The snapshot that a part is; the types of snapshots are known when a file is uploaded.
  func snapshot(in scope: RuleScope) throws(RuleFailure) -> RuleSnapshot {
    // Most are one of these, and nobody is told what a snapshot was.
    switch operation {
    case .data: return RuleSnapshot(side: .before, place: scope.place)
    case .newData: return RuleSnapshot(side: .after, place: scope.place)
    case .root: return RuleSnapshot(side: .before, place: .root)
    default: break
    }
    let value = try value(in: scope)
    guard case .snapshot(let snapshot) = value else { throw mismatch("a snapshot", value) }
    return snapshot
  }

  func look(_ look: Look, _ scope: RuleScope) throws(RuleFailure) -> RuleValue {
    let snapshot = try operands[0].snapshot(in: scope)
    if look == .getPriority { return RuleValue(try scope.priority(snapshot, self)) }
    let glance = try scope.glance(snapshot, self)
    switch (look, glance) {
    case (.val, .leaf(let scalar)): return .scalar(scalar)
    case (.val, .map): return .map
    default: return .null
    }
  }

  /// Whether what stands at a place is so.
  func holds(_ look: Look, of glance: RuleGlance) -> Bool {
    switch (look, glance) {
    case (.exists, .absent): false
    case (.exists, _), (.isString, .leaf(.string)), (.isBoolean, .leaf(.bool)), (.isNumber, .leaf(.int)),
      (.isNumber, .leaf(.double)):
      true
    default: false
    }
  }

  /// The snapshot of the path that the second operand says.
  func child(_ scope: RuleScope) throws(RuleFailure) -> RuleSnapshot {
    let snapshot = try operands[0].snapshot(in: scope)
    let path = try operands[1].text(in: scope)
    // A path beyond the longest that there can be leads nowhere; it is not worth being read.
    guard path.utf8.count <= Path.depthMax * (Key.bytesMax + 1) else { return RuleSnapshot(side: snapshot.side, place: nil) }
    try scope.spend(path.utf8.count / 64, self)
    return snapshot.child(path)
  }

  func hasChildren(_ scope: RuleScope) throws(RuleFailure) -> Bool {
    let snapshot = try operands[0].snapshot(in: scope)
    guard operands.count > 1 else { return try scope.glance(snapshot, self) == .map }
    // All names are judged first: one that is no string makes the rule false, whatever is there.
    let names = try operands.dropFirst().map { (name) throws(RuleFailure) in try name.text(in: scope) }
    for name in names where try scope.glance(snapshot.child(name), self) == .absent { return false }
    return true
  }
}

extension RuleValue {
  /// A member of a part of `auth`; null where there is none, of null too (spec: rtdb-protocol §4.3).
  func member(_ name: String) -> RuleValue {
    switch self {
    case .json(.object): if case .json(let json) = self, let member = json[name] { RuleValue(member) } else { .null }
    case .json(.array(let elements)):
      if let index = Int(name), elements.indices.contains(index) { RuleValue(elements[index]) } else { .null }
    case .scalar(.string(let text)) where name == "length": .scalar(.int(Int64(text.utf16.count)))
    default: .null
    }
  }
}
