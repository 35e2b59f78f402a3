public import FunctionsKit
import Ledger
public import RewardModel
import ServerApp
import ServerConfiguration
import StorageCore
public import TreeModel

extension TestServer {
  /// What is at a path now.
  public func node(_ place: some TestPlace) async throws -> TreeNode {
    let path = try place.testPath()
    let bytes = PathBytes(path)
    let namespace = namespace
    let leaves = try application.engine.read { (snapshot) throws(StorageError) in
      try snapshot.leaves(in: namespace, under: bytes, limit: .max)
    }
    guard let node = TreeNode(leaves: leaves.map(\.leaf), at: bytes) else { throw TestServerError("\(path) cannot be read.") }
    return node
  }

  /// What is at a place now, as its type; nil if nothing is there.
  public func get<Value, each P>(_ place: TreePath<Value, repeat each P>, _ params: repeat each P) async throws -> Value? {
    let node = try await node(place.path(repeat each params))
    return node.exists ? try TreeNodeDecoder.decode(Value.self, from: node) : nil
  }

  /// The balance at a currency's place: 0 if nothing is there. A place of no currency is a mistake in the test, and throws.
  public func balance(_ place: some TestPlace) async throws -> Int64 {
    let path = try place.testPath()
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
  public func balance<each P>(_ place: TreePath<Int64, repeat each P>, _ params: repeat each P) async throws -> Int64 {
    try await balance(place.path(repeat each params))
  }

  /// Every entry of the ledger, oldest first.
  public func entries() async throws -> [LedgerEntry] {
    let namespace = namespace
    return try application.engine.read { (snapshot) throws(StorageError) in
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
