import FunctionsKit
import Ledger
public import RewardModel
import ServerApp
import ServerConfiguration
import StorageCore
public import TreeModel

extension TestServer {
  /// What is at a path now.
  public func node(_ treePath: some TestPath) async throws -> TreeNode {
    let path = try treePath.testPath()
    let bytes = PathBytes(path)
    let namespace = namespace
    let leaves = try application.engine.read { snapshot in
      try snapshot.leaves(in: namespace, under: bytes, limit: .max)
    }
    guard let node = TreeNode(leaves: leaves.map(\.leaf), at: bytes) else { throw TestServerError("\(path) cannot be read.") }
    return node
  }

  /// What is at a path now, as its type; nil if nothing is there.
  public func get<Value, each P>(_ treePath: TreePath<Value, repeat each P>, _ params: repeat each P) async throws -> Value? {
    let node = try await node(treePath.path(repeat each params))
    return node.exists ? try TreeNodeDecoder.decode(Value.self, from: node) : nil
  }

  /// The balance at a currency's path: 0 if nothing is there. A path of no currency is a mistake in the test, and throws.
  public func balance(_ treePath: some TestPath) async throws -> Int64 {
    let path = try treePath.testPath()
    let currencies = application.configuration.currencies
    guard currencies.contains(where: { $0.account(at: path) != nil }) else {
      throw TestServerError("\(path) is no balance. \(Currency.advice(beside: currencies))")
    }
    let node = try await node(path)
    guard node.exists else { return 0 }
    guard let balance = node.scalar?.intValue else { throw TestServerError("The balance at \(path) is no integer: \(node).") }
    return balance
  }

  /// The balance of a player.
  public func balance<each P>(_ treePath: TreePath<Int64, repeat each P>, _ params: repeat each P) async throws -> Int64 {
    try await balance(treePath.path(repeat each params))
  }

  /// Every entry of the ledger, oldest first.
  public func entries() async throws -> [LedgerEntry] {
    let namespace = namespace
    return try application.engine.read { snapshot in
      try snapshot.entries(in: namespace, after: 0, limit: .max)
    }
  }

  /// Throws unless the ledger has exactly this many entries: what must *not* have been paid.
  public func expectEntries(_ count: Int) async throws {
    let entries = try await entries()
    guard entries.count == count else {
      let list = entries.map { "\($0.sequence): \($0.transfer.amount) \($0.transfer.key)" }.joined(separator: "; ")
      throw TestServerError("The ledger has \(entries.count) entries, not \(count): \(list)")
    }
  }

  /// The data hash of the whole tree: the same before and after whatever must not change anything.
  public func treeHash() async throws -> String {
    try await node(Path.root).dataHash
  }

  /// Throws unless the ledger adds up, its chain is whole, and every balance in the tree is backed by entries.
  public func verify() async throws {
    let report = try application.ledger.verify(namespace)
    guard report.isSound else { throw TestServerError("The ledger does not add up: \(report)") }
  }
}

/// How each function ended with a write, by name; compare it with a dictionary: `write.outcomes == ["pay": .done]`.
///
/// Where no function ran, its description says why, so that an expectation that fails says it too.
public struct TestOutcomes: Sendable, Equatable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  private let endings: [String: TestWrite.Ending]
  /// Why there are none.
  private let reason: String?

  init(_ endings: [String: TestWrite.Ending], becauseOf reason: String?) {
    self.endings = endings
    self.reason = reason
  }

  /// What a test expects.
  public init(dictionaryLiteral elements: (String, TestWrite.Ending)...) {
    endings = Dictionary(elements) { $1 }
    reason = nil
  }

  /// How a function ended; nil if it did not run, or ran for several events of the write.
  public subscript(function: String) -> TestWrite.Ending? { endings[function] }

  /// Whether no function ran.
  public var isEmpty: Bool { endings.isEmpty }

  /// The functions that ran, in the order of their names.
  public var functions: [String] { endings.keys.sorted() }

  /// The endings, or why there are none.
  public var description: String {
    guard !endings.isEmpty else { return reason.map { "none: \($0)" } ?? "none" }
    let pairs = endings.sorted { $0.key < $1.key }.map { "\"\($0.key)\": .\($0.value)" }
    return "[\(pairs.joined(separator: ", "))]"
  }

  /// Whether the same functions ended in the same way.
  public static func == (one: TestOutcomes, other: TestOutcomes) -> Bool { one.endings == other.endings }
}
