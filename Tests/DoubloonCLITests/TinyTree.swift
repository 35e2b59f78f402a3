import NIOHTTP1
import ServerTestSupport
import Synchronization
import TreeModel

/// As much of the database's REST surface as imports and exports need, with a small limit for each write and read.
final class TinyTree: Sendable {
  static let tooMuchToWrite = "Data to write exceeds the maximum size that can be modified with a single request."
  static let tooMuchToRead = "Data requested exceeds the maximum size that can be accessed with a single request."

  private let root: Mutex<TreeNode>
  private let leavesMax: Int

  init(_ root: TreeNode = .absent, leavesMax: Int) {
    self.root = Mutex(root)
    self.leavesMax = leavesMax
  }

  var node: TreeNode { root.withLock { $0 } }

  func answer(_ request: TinyServer.Request) -> TinyServer.Answer {
    do {
      let path = request.path
      let target = try PathTarget(parsing: path.dropLast(5).split(separator: "/").joined(separator: "/"))
      switch request.method {
      case .GET: return read(target, shallow: request.uri.contains("shallow=true"), request.uri)
      case .PATCH: return write(try WriteOperation.update(target.path, json: request.json), request)
      case .PUT: return write(try WriteOperation.set(target, json: request.json), request)
      default: return write(try WriteOperation.set(target, json: .null), request)
      }
    } catch {
      return .json(["error": .string("\(error)")], status: 400)
    }
  }

  private func read(_ target: PathTarget, shallow: Bool, _ uri: String) -> TinyServer.Answer {
    let node = node[target.path]
    if target.isPriority { return .json(node.priority?.json ?? .null) }
    guard shallow else {
      if node.leafCount > leavesMax { return .json(["error": .string(Self.tooMuchToRead)], status: 400) }
      return TinyServer.Answer(body: node.json(.export))
    }
    let after = uri.split(separator: "&").first { $0.hasPrefix("startAfter=") }.map { String($0.dropFirst(11)) }
    let names = node.children.map(\.key.text).filter { name in after.map { Key(unchecked: name) > Key(unchecked: $0) } ?? true }
    return .json(.object(names.map { JSON.Member(key: $0, value: true) }))
  }

  private func write(_ operation: WriteOperation, _ request: TinyServer.Request) -> TinyServer.Answer {
    root.withLock { root in
      var changed = root
      var count = 0
      for assignment in operation.assignments {
        switch assignment.value {
        case .node(let write):
          count += changed[assignment.path].leafCount + write.node.leafCount
          changed = changed.setting(assignment.path, to: write.node)
        case .priority(.scalar(let priority)):
          changed = changed.settingPriority(assignment.path, to: priority) ?? changed
        case .priority(.server): break
        }
      }
      guard count <= leavesMax else { return .json(["error": .string(Self.tooMuchToWrite)], status: 400) }
      root = changed
      return .json(request.json)
    }
  }
}
