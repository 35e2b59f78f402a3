import ClientNIO
import ClientRuntime
import Foundation
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Clients whose sockets are cut at any moment, answers on their way included: nothing is lost, and nothing is done twice.
///
/// Three rounds in an ordinary run; `DOUBLOON_SOAK_SECONDS=600` goes on with other seeds for so long, `DOUBLOON_SOAK_SEED` begins
/// with another. What fails says its seed.
@Suite(.timeLimit(.minutes(10 + soakSeconds / 60))) struct DatabaseSoakTests {
  @Test("increments whose answers are lost count once, and all clients come to what the server has")
  func cuts() async throws {
    let end = ContinuousClock.now + .seconds(soakSeconds)
    let first = UInt64(number("DOUBLOON_SOAK_SEED") ?? 11)
    var seed = first
    repeat {
      try await Self.round(seed: seed)
      seed += 1
    } while seed < first + 3 || ContinuousClock.now < end
    if soakSeconds > 0 { print("Soak: \(seed - first) rounds, to the seed \(seed)") }
  }

  private static func round(seed: UInt64) async throws {
    try await APIServer.run { server in
      var random = SplitMix64(seed: seed)
      let sockets = CuttingSockets(seed: seed)
      let clients = (0..<3).map { _ in DatabaseClient(port: server.port, clock: HastyClock(), sockets: sockets) }
      for client in clients {
        client.ref("tree").keepSynced(true)
        client.ref("sums").keepSynced(true)
      }
      var receipts: [WriteReceipt] = []
      var sums: [Int: Int] = [:]
      for step in 0..<200 {
        let number = Int.random(in: 0..<clients.count, using: &random)
        let client = clients[number]
        let key = "k\(Int.random(in: 0..<6, using: &random))"
        switch Int.random(in: 0..<6, using: &random) {
        case 0: receipts.append(client.ref("tree").child(key).remove())
        case 1: receipts.append(client.ref("tree").update([key: step, "deep/\(key)": step]))
        case 2: receipts.append(client.ref("tree").child(key).write(["step": step]))
        default:
          sums[number, default: 0] += 1
          receipts.append(client.ref("sums/s\(number)").write(Doubloon.ServerValue.increment(1)))
        }
        // The server answers, so that there is something on its way to be lost.
        if step % 5 == 0 { _ = try await server.value("/sums.json") }
      }
      for receipt in receipts { try await receipt.acknowledged() }
      sockets.isCutting.withLock { $0 = false }
      #expect(sockets.cuts.copy > 5, "connections were cut, seed \(seed)")
      for (number, sum) in sums { #expect(try await server.value("/sums/s\(number).json") == "\(sum)", "seed \(seed)") }
      for client in clients { try await client.ref("end").setValue(seed) }
      for path in ["tree", "sums"] {
        let expected = try await server.value("/\(path).json")
        for client in clients { try await client.ref(path).waits(for: expected) }
      }
      for client in clients { client.database.goOffline() }
    }
  }

  @Test(
    "without a connection 300 writes are shown one by one, and delivered once each, in their order"
  )
  func manyPending() async throws {
    try await DatabaseClient.run { server, client in
      client.database.goOffline()
      let heard = Heard<String>()
      client.ref("list").observe(.childAdded) { heard.add($0.key ?? "") }
      let count = 300
      let receipts = (0..<count).map { client.ref("list/k\(100_000 + $0)").write($0) }
      #expect(await heard.first(count).count == count)
      client.database.goOnline()
      for receipt in receipts { try await receipt.acknowledged() }
      #expect(heard.all.count == count, "what the server repeats is no event")
      #expect(try await server.value("/list.json?shallow=true").count > count)
    }
  }
}

private let soakSeconds = number("DOUBLOON_SOAK_SECONDS") ?? 0

private func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

/// Sockets that break after a few texts, of which the last is lost.
final class CuttingSockets: SocketTransport {
  let isCutting = Locked(true)
  let cuts = Locked(0)
  private let random: Locked<SplitMix64>

  init(seed: UInt64) { random = Locked(SplitMix64(seed: seed)) }

  func open(
    _ server: ServiceAddress, target: String, timeout: Int64, receive: @escaping @Sendable (SocketEvent) -> Void
  ) -> any SocketConnection {
    let left = Locked(isCutting.copy ? random.withLock { Int.random(in: 2...25, using: &$0) } : Int.max)
    let inner = Locked<(any SocketConnection)?>(nil)
    let connection = DatabaseClient.transport.open(server, target: target, timeout: timeout) { [cuts] event in
      guard case .text = event else {
        if left.copy > 0 { receive(event) }
        return
      }
      let rest = left.withLock { left in
        left -= 1
        return left
      }
      if rest > 0 { return receive(event) }
      guard rest == 0 else { return }
      cuts.withLock { $0 += 1 }
      inner.copy?.close()
      receive(.closed(TransportError(.disconnected, "The test has cut the connection.")))
    }
    inner.withLock { $0 = connection }
    return connection
  }
}

/// A clock on which waiting takes a twentieth of the time.
struct HastyClock: ClientClock {
  private let clock = SystemClock()

  var milliseconds: Int64 { clock.milliseconds }
  var uptime: Int64 { clock.uptime * 20 }

  func schedule(after milliseconds: Int64, _ work: @escaping @Sendable () -> Void) -> any ClientTimer {
    clock.schedule(after: milliseconds / 20 + 1, work)
  }
}
