import StorageSQLite
import FunctionsKit
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// Messages to the outside.
struct OutboxTests {
  static let level: Path = "/users/bob/level"

  /// Takes messages; fails the first few times.
  final class Recorder: Outlet {
    let name = "mail"
    let failures: Int
    let attempts = Notes<String>()

    init(failures: Int = 0) { self.failures = failures }

    func deliver(key: String, payload: String) async throws {
      attempts.add("\(key) \(payload)")
      if attempts.count <= failures { throw Broken("no route") }
    }
  }

  private static func send(_ functions: Functions) {
    functions.onWrite(Users.level, name: "mail") { event, context in
      try await context.send(["level": event.after ?? 0], to: "mail")
      return .done
    }
  }

  private func records(_ fixture: TriggerFixture, _ state: OutboxRecord.State) throws -> [OutboxRecord] {
    try fixture.engine.read { (snapshot) throws(StorageError) in
      try snapshot.outbox(in: fixture.namespace, state: state, after: nil, limit: 1000)
    }
  }

  @Test func aMessageIsDeliveredWithItsOwnKey() async throws {
    let mail = Recorder()
    let fixture = try await TriggerFixture(outlets: [mail], Self.send)
    let event = try await fixture.set(Self.level, 7).events[0]
    try await fixture.drain()
    await fixture.outbox.drain()
    #expect(mail.attempts.all == [#"game/\#(event.id)/mail/mail/message {"level":7}"#])
    #expect(try records(fixture, .delivered).map(\.attempts) == [1])
    await fixture.close()
  }

  @Test func aFailedMessageIsTriedAgainUntilItIsADeadLetter() async throws {
    let mail = Recorder(failures: 1000)
    let fixture = try await TriggerFixture(outlets: [mail], Self.send)
    try await fixture.set(Self.level, 7)
    try await fixture.drain()
    await fixture.outbox.drain()
    for _ in 0..<20 {
      fixture.clock.advance(by: 700_000)
      await fixture.outbox.drain()
    }
    #expect(mail.attempts.count == 12)
    let dead = try #require(try records(fixture, .dead).first)
    #expect(dead.attempts == 12)
    #expect(dead.lastError == "no route")
    await fixture.close()
  }

  @Test func whatWaitsIsDeliveredAfterARestart() async throws {
    let folder = TemporaryFolder()
    let first = try await TriggerFixture(folder: folder, outlets: [Recorder(failures: 1)], Self.send)
    try await first.set(Self.level, 7)
    try await first.drain()
    await first.outbox.drain()
    #expect(try records(first, .waiting).map(\.attempts) == [1])
    await first.close()
    let mail = Recorder()
    let again = try await TriggerFixture(folder: folder, clock: first.clock, outlets: [mail], Self.send)
    again.clock.advance(by: 2000)
    await again.outbox.drain()
    #expect(mail.attempts.count == 1)
    #expect(try records(again, .delivered).map(\.attempts) == [2])
    await again.close()
  }

  @Test func aMessageToAnUnknownOutletSaysWhatToDo() async throws {
    let fixture = try await TriggerFixture(outlets: [], Self.send)
    try await fixture.set(Self.level, 7)
    try await fixture.drain()
    await fixture.outbox.drain()
    #expect(try records(fixture, .waiting).first?.lastError?.contains("No outlet is called \"mail\"") == true)
    await fixture.close()
  }
}
