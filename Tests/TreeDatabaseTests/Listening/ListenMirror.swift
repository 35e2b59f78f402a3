import StorageCore
import TestSupport
import TreeDatabase
import TreeModel

/// What a client knows from its listen: it applies what it is told, and nothing else.
struct ListenMirror {
  let request: ListenRequest
  private(set) var tree = NaiveTree()
  /// What it held after each event.
  private(set) var history: [(revision: Revision, node: TreeNode, isSnapshot: Bool)] = []
  private(set) var end: ListenEnd?
  private(set) var problems: [String] = []
  private(set) var snapshots = 0
  /// What was acknowledged, and how many events had come by then.
  private var marks: [(revision: Revision, events: Int)] = []

  init(_ request: ListenRequest) {
    self.request = request
  }

  mutating func apply(_ event: ListenEvent) {
    if end != nil { problems.append("an event after the end") }
    switch event {
    case .current(let message):
      if !history.isEmpty { problems.append("current, but not first") }
      snapshots += 1
      history.append((message.revision, tree.root, true))
    case .snapshot(let message):
      if message.kind != .overwrite || !message.path.isEmpty { problems.append("a snapshot that is none") }
      snapshots += 1
      apply(message, isSnapshot: true)
    case .change(let message):
      guard let last = history.last else { return problems.append("a change before the snapshot") }
      if message.revision <= last.revision { problems.append("\(message.revision) after \(last.revision)") }
      apply(message)
    case .ended(let end): self.end = end
    }
  }

  mutating func mark(_ revision: Revision) { marks.append((revision, history.count)) }

  private mutating func apply(_ message: ListenMessage, isSnapshot: Bool = false) {
    guard let json = try? JSONParser.parse(message.body) else { return problems.append("no JSON") }
    switch message.kind {
    case .overwrite: set(message.path, json)
    case .merge:
      for member in json.object ?? [] { set(message.path.isEmpty ? member.key : message.path + "/" + member.key, member.value) }
    }
    history.append((message.revision, tree.root, isSnapshot))
  }

  private mutating func set(_ path: String, _ json: JSON) {
    guard let target = try? PathTarget(parsing: path), let node = try? TreeNode(json: json) else {
      return problems.append("not applicable: \(path) \(json)")
    }
    guard target.isPriority else { return tree.set(target.path, to: node) }
    // A node that vanished in the same message has no priority to lose.
    if !tree.setPriority(target.path, to: node.scalar), node.exists { problems.append("a priority on nothing: \(path)") }
  }

  /// What it should hold when the whole tree is this.
  func expected(_ root: TreeNode) -> TreeNode {
    let node = root[request.path]
    return request.query.map { $0.result(of: node) } ?? node
  }

  private func isSame(_ a: TreeNode, _ b: TreeNode) -> Bool {
    request.format == .export ? a == b : text(a) == text(b)
  }

  /// As the format shows it.
  private func text(_ node: TreeNode) -> String { String(decoding: node.json(request.format), as: UTF8.self) }

  /// The first place where two nodes differ, and what each has there.
  private func difference(_ has: TreeNode, _ wants: TreeNode, at path: Path) -> String {
    let keys = Set(has.children.map(\.key)).union(wants.children.map(\.key))
    if has.priority == wants.priority, let key = keys.first(where: { !isSame(has[$0], wants[$0]) }) {
      return difference(has[key], wants[key], at: path.child(key))
    }
    return "\(path): \(text(has).prefix(200)) instead of \(text(wants).prefix(200))"
  }

  /// What is wrong, compared with the tree after each revision.
  func differences(from states: [TreeNode]) -> [String] {
    var found = problems
    guard let first = history.first else { return found + ["no event"] }
    var at = 0
    for revision in Int(first.revision.rawValue)..<states.count {
      while at + 1 < history.count, history[at + 1].revision.rawValue <= revision { at += 1 }
      // What was missed before a later snapshot was missed.
      if at + 1 < history.count, history[at + 1].isSnapshot { continue }
      let wants = expected(states[revision])
      if !isSame(history[at].node, wants) {
        let around = history[max(0, at - 2)..<min(history.count, at + 3)].map { "\($0.revision)\($0.isSnapshot ? "s" : "")" }
        found.append(
          "\(request.path) \(request.query.map { "\($0)" } ?? "") at \(revision), told at \(around.joined(separator: " ")): "
            + difference(history[at].node, wants, at: .root))
        break
      }
    }
    for mark in marks where mark.events > 0 {
      let last = history[mark.events - 1]
      guard last.revision < mark.revision else { continue }
      if !isSame(last.node, expected(states[Int(mark.revision.rawValue)])) {
        found.append("\(request.path): acknowledged \(mark.revision) before it was shown")
      }
    }
    return found
  }
}
