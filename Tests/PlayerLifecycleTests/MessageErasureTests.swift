import Ledger
import Messages
import RewardModel
import StorageCore
import Testing
import TreeModel

@testable import PlayerLifecycle

/// What an erasure takes of in-app messages: everything that stands for the player, and nothing else.
struct MessageErasureTests {
  private static let (bobs, alices) = ("cAAAAAAAAAAAAAAAAAAAAA", "cBBBBBBBBBBBBBBBBBBBBB")

  private func publish(on fixture: PlayerFixture) async throws {
    let document: JSON = [
      "id": "earned", "name": "Earned", "layout": "modal", "triggers": [["server": "reward"]], "frequency": ["lifetime": 9],
      "content": ["defaultLanguage": "en", "texts": ["en": ["title": "You earned {{amount}}!"]]],
    ]
    _ = try await fixture.messages.create(document, by: .admin("ann"))
    _ = try await fixture.messages.publish("earned", by: .admin("ann"))
  }

  private func fetch(_ uid: String, on device: String, _ fixture: PlayerFixture) async throws -> [String] {
    var client = MessageClient(instance: device)
    (client.uid, client.isOwn) = (uid, true)
    return try await fixture.messages.serve(client) { _ in true }.messages.map(\.campaign.id)
  }

  /// Two players with a reward that was told, one that waits, and a device on which a test was ordered.
  private func populate(_ fixture: PlayerFixture) async throws {
    try await fixture.populate()
    try await publish(on: fixture)
    for (uid, device) in [("bob", Self.bobs), ("alice", Self.alices)] {
      try await fixture.pay(50, to: "user:\(uid)", key: "first/\(uid)")
      #expect(try await fetch(uid, on: device, fixture) == ["earned"])
      let report = MessageReport(.impression, campaign: "earned", instance: device, time: fixture.clock.now())
      #expect(try await fixture.messages.take([report]) == 1)
      try await fixture.pay(60, to: "user:\(uid)", key: "second/\(uid)")
      try await fixture.messages.orderTest("earned", devices: [device], variant: nil, by: .admin("ann"))
    }
  }

  /// Kinds of records whose keys name the player or the device.
  private func kinds(naming names: String..., in fixture: PlayerFixture) throws -> Set<String> {
    let all = [
      "message_instance", "message_player", "message_seen", "message_event", "message_told", "message_test",
    ]
    return try fixture.read { snapshot in
      var found: Set<String> = []
      for kind in all {
        try snapshot.forEachRecord(in: fixture.namespace, kind: kind) { record in
          if names.contains(where: { record.key == $0 || record.key.hasPrefix("\($0)/") }) { found.insert(kind) }
        }
      }
      return found
    }
  }

  @Test("who is erased takes along events, devices and what was seen there; counts and others' rows stay, the ledger is whole")
  func erased() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      #expect(try kinds(naming: "bob", Self.bobs, in: fixture).count == 6)
      let record = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
      #expect(record?.state == .done)
      #expect(try kinds(naming: "bob", Self.bobs, in: fixture) == [])
      #expect(try kinds(naming: "alice", Self.alices, in: fixture).count == 6)
      let totals = try await fixture.messages.results(of: "earned", days: 1)["totals"]?.array ?? []
      #expect(totals.contains { $0["kind"] == "impression" && $0["count"] == 2 }, "\(totals)")
      let codes = try fixture.read { snapshot in
        try snapshot.entries(in: fixture.namespace, after: 0, limit: 100).filter { $0.transfer.code == "signup" }
      }
      #expect(codes.count == 4, "what was paid stays paid")
      #expect(try fixture.balance(of: "user:alice") == 110)
      try fixture.checkErased("with messages")
    }
  }

  @Test("an erasure that is ordered again finds nothing of messages; a device that comes back is told nothing of who left")
  func again() async throws {
    try await PlayerFixture.run { fixture in
      try await populate(fixture)
      let first = try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace)
      #expect(try await fixture.erasure.carryOut(try fixture.order("bob"), in: fixture.namespace) == first)
      #expect(try await fetch("eve", on: Self.bobs, fixture) == [], "bob's reward waits for nobody")
      #expect(try kinds(naming: "bob", in: fixture) == [])
    }
  }
}
