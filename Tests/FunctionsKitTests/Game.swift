import FunctionsKit
import TreeModel

/// Paths of a small game.
enum Places {
  static let level = TreePath<Int, UserID>("/users/{uid}/level")
  static let name = TreePath<String, UserID>("/users/{uid}/name")
  static let coins = TreePath<Int64, UserID>("/users/{uid}/coins")
  static let seat = TreePath<Seat, String, Int>("/guilds/{guild}/seats/{seat}")
  static let total = TreePath<Int64>("/total")
}

/// A value of several fields.
struct Seat: Codable, Sendable, Hashable {
  var player: String
  var since: Int64?
}

/// Settings with defaults, one of them nil.
struct Amounts: FunctionSettings, Hashable {
  var amount: Int64 = 50
  var code = "signup"
  var limit: Int?

  static let optionalNames: Set<String> = ["limit"]
}

/// Three trees to read from: before the event, as of it, and now.
struct FixedReader: FunctionReader {
  var before: TreeNode = .absent
  var atEvent: TreeNode = .absent
  var latest: TreeNode = .absent
  /// By kind and key.
  var records: [String: String] = [:]
  /// By player and code.
  var paid: Set<String> = []

  func nodeAtEvent(_ path: Path) throws -> TreeNode { atEvent[path] }
  func existsAtEvent(_ path: Path) throws -> Bool { atEvent[path].exists }
  func exists(_ path: Path, at time: Int64) throws -> Bool { before[path].exists }
  func hasAccount(_ uid: String) throws -> Bool { false }
  func latestNode(_ path: Path) throws -> TreeNode { latest[path] }
  func nodeBeforeEvent(_ path: Path) throws -> TreeNode { before[path] }
  func record(_ kind: String, _ key: String) throws -> String? { records["\(kind)/\(key)"] }
  func records(_ kind: String, under start: String) throws -> [(key: String, value: String)] { [] }
  func wasPaid(_ player: String, _ code: String) throws -> Bool { paid.contains("\(player)/\(code)") }
}

extension EventDetails {
  /// An event of Bob's.
  static func sample(_ path: Path = "/users/bob/level") -> EventDetails {
    EventDetails(id: "1-42:\(path)", namespace: "game", path: path, time: 1_700_000_000_000, actor: "user:bob", attempt: 1)
  }
}

extension FunctionContext {
  /// A context of a run for an event of Bob's.
  convenience init(_ reader: FixedReader = FixedReader()) {
    self.init(event: .sample(), reader: reader)
  }
}

extension FunctionDefinition {
  /// Runs the function on a change, in a context of its own.
  func outcome(_ captures: [String], before: TreeNode = .absent, after: TreeNode = .absent) async throws -> Outcome {
    try await body(Run(details: .sample(), captures: captures, before: before, after: after), FunctionContext())
  }
}
