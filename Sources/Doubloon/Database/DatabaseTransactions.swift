import ClientLink
import ClientRuntime
public import Foundation
import SyncModel
import TreeModel

/// What a transaction's function decided.
public struct TransactionResult: Sendable {
  let node: Result<TreeNode, DatabaseError>?

  /// Write this value.
  public static func success(withValue value: MutableData) -> TransactionResult { TransactionResult(node: value.result) }
  /// Write nothing.
  public static func abort() -> TransactionResult { TransactionResult(node: nil) }
}

/// A value that a transaction's function changes. Used within that function only.
public final class MutableData {
  private let parent: MutableData?
  private let below: Path
  private var root: TreeNode
  private var problem: DatabaseError?

  init(_ node: TreeNode) {
    parent = nil
    below = .root
    root = node
  }

  private init(_ parent: MutableData, _ path: Path) {
    self.parent = parent
    below = path
    root = .absent
  }

  /// What is there; `NSNull` for nothing.
  public var value: Any? {
    get { NodeValue.value(of: node) }
    set { change { depth throws(DatabaseError) in try Self.plain(newValue, depth: depth) } }
  }

  /// The priority.
  public var priority: Any? {
    get { node.priority.map(NodeValue.value(of:)) }
    set {
      let content = node
      change { depth throws(DatabaseError) in
        let marked = try NodeValue.node(of: "x", priority: newValue, depth: depth)
        return TreeNode(content.content, priority: marked.node.priority)
      }
    }
  }

  /// The place's name below the transaction's place; nil there.
  public var key: String? { below.lastKey?.text }
  /// Whether there are children.
  public func hasChildren() -> Bool { !node.children.isEmpty }
  /// How many children there are.
  public var childrenCount: UInt { UInt(node.children.count) }
  /// Whether anything is at a path below.
  public func hasChild(atPath path: String) -> Bool { childData(byAppendingPath: path).node.exists }
  /// The children, in the order of priorities.
  public var childData: [MutableData] { Query().window(of: node).map { MutableData(top, below.child($0.key)) } }
  /// The children, for `for … in`.
  public var children: NSEnumerator { NSArray(array: childData).objectEnumerator() }

  /// The value at a path below; changing it changes this one.
  public func childData(byAppendingPath path: String) -> MutableData {
    do {
      return MutableData(top, below.appending(try Path(parsing: path)))
    } catch {
      top.problem = .invalidPath(error.description)
      return MutableData(top, below)
    }
  }

  private var top: MutableData { parent ?? self }
  var node: TreeNode { top.root[below] }
  var result: Result<TreeNode, DatabaseError> { top.problem.map { .failure($0) } ?? .success(top.root) }

  private func change(_ make: (Int) throws(DatabaseError) -> TreeNode) {
    do throws(DatabaseError) {
      top.root = top.root.setting(below, to: try make(below.depth))
    } catch {
      top.problem = error
    }
  }

  private static func plain(_ value: Any?, depth: Int) throws(DatabaseError) -> TreeNode {
    let write = try NodeValue.node(of: value, depth: depth)
    guard write.slots.isEmpty else {
      throw .invalidData("Invalid data: a transaction writes plain values, no server values; compute them in its function.")
    }
    return write.node
  }
}

extension DatabaseReference {
  /// Changes a value by a function of what is there, which is run again whenever that was another meanwhile.
  ///
  /// The function runs on the database's own thread, several times perhaps, and first with nothing where the value is not
  /// known.
  public func runTransactionBlock(_ block: @escaping (MutableData) -> TransactionResult) {
    runTransactionBlock(block) { _, _, _ in }
  }

  /// As above; `completionBlock` is told whether it was written, and what is there then.
  public func runTransactionBlock(
    _ block: @escaping (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: @escaping ((any Error)?, Bool, DataSnapshot?) -> Void
  ) {
    runTransactionBlock(block, andCompletionBlock: completionBlock, withLocalEvents: true)
  }

  /// As above; without local events listeners see only what the server took.
  public func runTransactionBlock(
    _ block: @escaping (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: @escaping ((any Error)?, Bool, DataSnapshot?) -> Void, withLocalEvents: Bool
  ) {
    let (block, completion) = (Boxed(block), Boxed(completionBlock))
    transact(showsGuesses: withLocalEvents) {
      block.value(MutableData($0)).node
    } finished: { [self] result in
      database.environment.callbacks.call {
        switch result {
        case .success(let (isCommitted, snapshot)): completion.value(nil, isCommitted, snapshot)
        case .failure(let error): completion.value(error, false, nil)
        }
      }
    }
  }

  /// Changes a value by a function of what is there, and waits until it is done.
  ///
  /// - Returns: whether it was written, and what is there now.
  @discardableResult
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult
  ) async throws -> (Bool, DataSnapshot) {
    try await withCheckedThrowingContinuation { continuation in
      transact(showsGuesses: true) {
        block(MutableData($0)).node
      } finished: { result in
        continuation.resume(with: result.mapError { $0 as any Error })
      }
    }
  }

  /// Changes a value of a type by a function of what is there; nil for nothing, and a function that returns nil writes nothing.
  ///
  /// - Returns: whether it was written, and what is there now.
  @discardableResult
  public func transaction<T: Codable & SendableMetatype>(
    as type: T.Type, _ block: @escaping @Sendable (T?) -> T?
  ) async throws -> (Bool, DataSnapshot) {
    try await withCheckedThrowingContinuation { continuation in
      transact(showsGuesses: true) { node in
        do {
          let value = node.exists ? try TreeNodeDecoder.decode(T.self, from: node, options: Database.Decoder().options) : nil
          return try block(value).map { .success(try TreeNodeEncoder.encode($0, options: Database.Encoder().options)) }
        } catch {
          return .failure(.invalidData("\(error)"))
        }
      } finished: { result in
        continuation.resume(with: result.mapError { $0 as any Error })
      }
    }
  }

  private func transact(
    showsGuesses: Bool, _ run: @escaping @Sendable (TreeNode) -> Result<TreeNode, DatabaseError>?,
    finished: @escaping @Sendable (Result<(Bool, DataSnapshot), DatabaseError>) -> Void
  ) {
    let path: Path
    switch operation({ path throws(DatabaseError) in .remove(path) }) {
    case .success(let operation): path = operation.path
    case .failure(let error): return finished(.failure(error))
    }
    let problem = Locked<DatabaseError?>(nil)
    let place = placeText
    database.core.post { [self] core in
      core.noteTransaction()
      let id = core.session.beginTransaction(path, showsGuesses: showsGuesses, at: core.now)
      core.transactions[id] = DatabaseCore.RunningTransaction(path: path) { input in
        switch run(input) {
        case .success(let node)?: return node
        case .failure(let error)?:
          problem.withLock { $0 = error }
          return nil
        case nil: return nil
        }
      } finished: { result in
        switch result {
        case .committed(let node): finished(.success((true, DataSnapshot(self, node))))
        case .aborted(let node):
          if let error = problem.copy { return finished(.failure(error)) }
          finished(.success((false, DataSnapshot(self, node))))
        case .failed(let refusal, _): finished(.failure(DatabaseError(refusal, at: place)))
        }
      }
    }
  }
}
