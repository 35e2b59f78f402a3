import StorageCore
import Synchronization
import Testing
import TreeDatabase
import TreeModel

@testable import Messages

/// What is left of an installation that is gone: by itself, by its player, by an administrator, by time.
@Suite struct ForgottenInstanceTests {
  /// Ways in which an installation goes.
  enum Way: String, CaseIterable, Sendable {
    case consent, administrator, erasure, time
  }

  @Test(
    "an installation that goes takes along what it has seen, tests that were ordered, and its stream; counts stay",
    arguments: Way.allCases)
  func gone(_ way: Way) async throws {
    try await MessageFixture.run { (game) async throws in
      let messages = game.messages
      try await game.publish(["frequency": ["lifetime": 1]])
      let made = try await messages.register(nil, appID: "1:77:ios:ab")
      let other = MessageFixture.instance(2)
      #expect(try await game.ids(uid: "bob", instance: made.instance) { $0.token = made.token } == ["hello"])
      _ = try await game.ids(uid: "carol", instance: other)
      for instance in [made.instance, other] { _ = try await game.show(instance: instance) }
      try await messages.orderTest("hello", devices: [made.instance, other], variant: nil, by: MessageFixture.admin)
      let signals = Signals()
      _ = messages.hub.join(made.instance, uid: "bob", at: game.clock.now()) { signals.note($0) }
      func rows(of instance: String) throws -> [String] {
        let below = try [MessageMark.kind, MessageService.Kind.test].filter { kind in
          try !messages.records(kind, beginning: "\(instance)/", limit: 10).isEmpty
        }
        return try below + (messages.instance(instance) == nil ? [] : [MessageInstance.kind])
      }
      #expect(try rows(of: made.instance).count == 3 && rows(of: other).count == 3)
      try await go(made, way, on: game)
      #expect(try rows(of: made.instance) == [])
      #expect(try rows(of: other).count == 3)
      #expect(try messages.devices(of: "bob", limit: 10).isEmpty && messages.devices(of: "carol", limit: 10).count == 1)
      #expect(try messages.stored(MessageInstance.playerKind, key: "bob") == nil)
      #expect(signals.all == [.replaced] && messages.hub.count == 0)
      let totals = try await messages.results(of: "hello", days: 500)["totals"]?.array ?? []
      #expect(totals.contains { $0["kind"] == "impression" && $0["count"] == 2 }, "\(totals)")
      // A player who comes back is a new one, who has seen nothing.
      #expect(try await game.ids(uid: "bob", instance: made.instance) == ["hello"])
    }
  }

  private func go(_ made: MessageRegistration, _ way: Way, on game: MessageFixture) async throws {
    switch way {
    case .consent: try await game.messages.unregister(made.instance, refreshToken: made.refreshToken)
    case .administrator:
      let isGone = try await game.messages.removeInstance(made.instance)
      #expect(isGone)
    case .erasure:
      let namespace = try await game.database.openNamespace(named: "game")
      var request = CommitRequest(namespace: namespace, actor: MessageFixture.admin)
      request.rows.records = try game.database.engine.read { snapshot in
        try game.messages.erasure(of: "bob", addresses: [], in: namespace, snapshot: snapshot).records
      }
      _ = try await game.database.commit(request)
    case .time:
      game.clock.advance(by: 399 * MessageFixture.day)
      _ = try await game.ids(uid: "carol", instance: MessageFixture.instance(2))
      try await game.messages.orderTest(
        "hello", devices: [MessageFixture.instance(2)], variant: nil, by: MessageFixture.admin)
      game.clock.advance(by: 2 * MessageFixture.day)
      try await game.messages.prune()
    }
  }
}

/// What a listener was told.
final class Signals: Sendable {
  private let told = Mutex<[MessageSignal]>([])

  func note(_ signal: MessageSignal) { told.withLock { $0.append(signal) } }
  var all: [MessageSignal] { told.withLock { $0 } }
}
