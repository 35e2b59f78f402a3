import SyncModel
import TreeModel

/// A write or a transaction that is not answered.
struct Put: Sendable {
  enum Kind: Sendable {
    case write(PendingWrite)
    case transaction(TransactionID, path: Path, node: TreeNode, hash: String)
  }

  enum Subject: Hashable, Sendable {
    case write(WriteID)
    case transaction(TransactionID)
  }

  let kind: Kind
  /// By which the server knows it again.
  let key: String

  var subject: Subject {
    switch kind {
    case .write(let write): .write(write.id)
    case .transaction(let id, _, _, _): .transaction(id)
    }
  }
}

/// Writes and transactions that are not answered, in the order of the calls. Each step costs the same however many wait.
struct PutQueue: Sendable {
  private var puts: [Int: Put] = [:]
  private var numbers: [Put.Subject: Int] = [:]
  /// The numbers of those that did not go out on the present connection, in order; some may be gone.
  private var unsent: [Int] = []
  private var last = 0

  var isEmpty: Bool { puts.isEmpty }

  mutating func append(_ put: Put) {
    last += 1
    puts[last] = put
    numbers[put.subject] = last
    unsent.append(last)
  }

  @discardableResult
  mutating func remove(_ subject: Put.Subject) -> Put? {
    numbers.removeValue(forKey: subject).flatMap { puts.removeValue(forKey: $0) }
  }

  mutating func removeAll() { self = PutQueue() }

  /// What is to be sent now, in order; it counts as sent.
  mutating func takeUnsent() -> [Put] {
    defer { unsent.removeAll() }
    return unsent.compactMap { puts[$0] }
  }

  /// The connection is lost: writes are sent again.
  ///
  /// - Returns: the transactions that were sent, which are not: nobody knows whether they were done.
  mutating func connectionLost() -> [TransactionID] {
    let waiting = Set(unsent)
    var lost: [TransactionID] = []
    unsent = puts.keys.sorted()
    for number in unsent where !waiting.contains(number) {
      guard case .transaction(let id) = puts[number]?.subject else { continue }
      lost.append(id)
      remove(.transaction(id))
    }
    return lost
  }
}

/// What is asked of the server for as long as somebody listens, in the order of the calls.
struct WantedListens: Sendable {
  private var numbers: [WireListen: Int] = [:]
  private var last = 0

  var isEmpty: Bool { numbers.isEmpty }

  var inOrder: [WireListen] { numbers.sorted { $0.value < $1.value }.map(\.key) }

  func contains(_ listen: WireListen) -> Bool { numbers[listen] != nil }

  mutating func append(_ listen: WireListen) {
    last += 1
    numbers[listen] = last
  }

  mutating func remove(_ listen: WireListen) { numbers[listen] = nil }
}

/// Requests that wait for their answers.
struct OpenRequests: Sendable {
  private var requests: [Int: LinkState.Request] = [:]
  /// How many of them are listens.
  private(set) var listens = 0

  mutating func add(_ request: LinkState.Request, number: Int) {
    requests[number] = request
    if request.isListen { listens += 1 }
  }

  mutating func take(_ number: Int) -> LinkState.Request? {
    guard let request = requests.removeValue(forKey: number) else { return nil }
    if request.isListen { listens -= 1 }
    return request
  }

  mutating func removeAll() { self = OpenRequests() }

  /// Answers to writes and transactions are not heard any more.
  mutating func forgetPuts() {
    requests = requests.filter {
      switch $0.value {
      case .write, .transaction: false
      default: true
      }
    }
  }
}

extension LinkState.Request {
  fileprivate var isListen: Bool {
    if case .listen = self { true } else { false }
  }
}
