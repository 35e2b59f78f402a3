package import TreeModel

extension PathPattern {
  /// Whether the pattern stands for one place of each player: one capture of one key, and nothing else that is open.
  package var isPersonal: Bool {
    let open = segments.filter { if case .literal = $0 { false } else { true } }
    guard open.count == 1, case .single(name: .some)? = open.first else { return false }
    return true
  }
}
