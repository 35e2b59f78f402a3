import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import HTTPServer
@testable import RealtimeAPI

/// Whose turn it is (check 55).
struct TransactionQueueTests {
  @Test("Where nobody was refused nobody waits")
  func free() {
    var line = TransactionQueue()
    #expect(line.come("a") == .proceed)
    #expect(line.come("b") == .proceed)
    #expect(line.leave("a") == .nothing)
    #expect(line.isEmpty)
  }

  @Test("Who was refused first has the first turn; who comes behind waits, and is called in order")
  func order() {
    var line = TransactionQueue()
    #expect(line.lose("a") == .await("a", generation: 1))
    #expect(line.lose("b") == .nothing)
    #expect(line.come("b") == .wait)
    #expect(line.come("c") == .wait)
    #expect(line.come("a") == .proceed)
    #expect(line.leave("a") == .call("b"))
    #expect(line.lose("b") == .await("b", generation: 4))
    #expect(line.come("b") == .proceed)
    #expect(line.leave("b") == .call("c"))
    #expect(line.leave("c") == .nothing)
    #expect(line.isEmpty)
  }

  @Test("A turn that is not taken passes; one that was taken does not")
  func expiry() {
    var line = TransactionQueue()
    #expect(line.lose("a") == .await("a", generation: 1))
    #expect(line.lose("b") == .nothing)
    #expect(line.expire(1) == .await("b", generation: 2))
    #expect(line.come("b") == .proceed)
    #expect(line.expire(2) == .nothing)
    #expect(line.leave("b") == .nothing)
    #expect(line.isEmpty)
  }

  @Test("Who is refused again and again has had its turn")
  func attempts() {
    var line = TransactionQueue()
    _ = line.lose("a")
    _ = line.lose("b")
    for _ in 1...TransactionQueue.attemptsMax { #expect(line.lose("a") != .nothing) }
    #expect(line.come("c") == .wait)
    #expect(line.leave("b") == .call("c"))
  }

  @Test("A session that stands in many lines leaves one for another, but never where its write waits")
  func places() throws {
    let all = try (0...QueuedTransactions.keysMax).map { number in
      try TransactionQueues.Key(namespace: NamespaceID(rawValue: 1), path: Path(keys: [Key("k\(number)")]))
    }
    let (known, another) = (all.dropLast(), all[QueuedTransactions.keysMax])
    var full = QueuedTransactions()
    for key in known { #expect(full.enter(key, keeping: nil) == nil) }
    for waiting in known {
      var keys = full
      // Where it is already nothing is given up.
      #expect(keys.enter(waiting, keeping: nil) == nil)
      #expect(keys.all.count == QueuedTransactions.keysMax)
      let left = keys.enter(another, keeping: waiting)
      #expect(left != nil && left != waiting && left != another)
      #expect(keys.all.contains(waiting) && keys.all.contains(another))
      // An earlier transaction there is over, the one that waits is not.
      #expect(keys.leave(waiting, keeping: waiting) == false)
      #expect(keys.all.contains(waiting))
      #expect(keys.leave(waiting, keeping: nil) == true)
      #expect(keys.leave(waiting, keeping: nil) == false)
    }
  }

  /// A client that counts up: what it believes the number to be, and its attempts.
  private struct Counter {
    var seen = 0
    var attempts = 0
    var done = 0
    var isWaiting = false
  }

  @Test("However the messages of thirty clients meet, nobody needs more than a few attempts", arguments: 1...10)
  func fairness(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var line = TransactionQueue()
    var clients = (0..<30).map { _ in Counter() }
    var number = 0
    /// Writes on their way to the writer.
    var underWay: [(client: Int, seen: Int)] = []
    var most = 0

    func send(_ client: Int) {
      clients[client].attempts += 1
      if line.come("\(client)") == .proceed {
        underWay.append((client, clients[client].seen))
      } else {
        clients[client].isWaiting = true
      }
    }
    func take(_ turn: TransactionQueue.Turn) {
      guard case .call(let name) = turn, let client = Int(name) else { return }
      clients[client].isWaiting = false
      underWay.append((client, clients[client].seen))
    }
    for client in clients.indices { send(client) }
    while clients.contains(where: { $0.done < 20 }), !underWay.isEmpty {
      let write = underWay.remove(at: Int.random(in: 0..<underWay.count, using: &random))
      let isRight = write.seen == number
      if isRight { number += 1 }
      clients[write.client].seen = number
      if isRight {
        most = max(most, clients[write.client].attempts)
        clients[write.client].attempts = 0
        clients[write.client].done += 1
        take(line.leave("\(write.client)"))
      } else {
        take(line.lose("\(write.client)"))
      }
      if clients[write.client].done < 20 { send(write.client) }
    }
    #expect(clients.allSatisfy { $0.done == 20 })
    #expect(number == 600)
    #expect(most <= 5, "\(most)")
  }
}
