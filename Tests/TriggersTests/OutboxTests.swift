import FunctionsKit
import StorageCore
import StorageSQLite
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
  final class Recorder: OutboxTransport {
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

/// The outbox as a value, with a storage that is a dictionary.
@Suite struct OutboxQueueTests {
  private struct Storage {
    var waiting: [NamespaceID: [String: OutboxRecord]] = [:]

    func page(_ page: OutboxQueue.Page) -> [OutboxRecord] {
      let all = (waiting[page.namespace] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
      return Array(all.filter { $0.key > page.after ?? "" }.prefix(page.limit))
    }
  }

  private static func record(_ key: String, at time: Int64 = 0) -> OutboxRecord {
    OutboxRecord(
      key: key, outlet: "mail", payload: "", cause: nil, state: .waiting, attempts: 0, nextAttemptAt: time, lastError: nil,
      createdAt: 0)
  }

  /// Reads and delivers until nothing more is to be done at this time; messages that begin with "down" fail before 1000.
  private static func work(_ queue: inout OutboxQueue, _ storage: inout Storage, at now: Int64) -> [String] {
    var delivered: [String] = []
    for _ in 0..<10_000 {
      queue.fire(at: now)
      if let page = queue.nextPage() {
        let records = storage.page(page)
        for record in records { queue.add(OutboxItem(namespace: page.namespace, record: record), at: now) }
        queue.finish(page, last: records.last?.key, isFull: records.count == page.limit)
      }
      guard let item = queue.start() else {
        if queue.isResting { return delivered }
        continue
      }
      let key = item.record.key
      if key.hasPrefix("down"), now < 1000 {
        storage.waiting[item.namespace]?[key] = record(key, at: now + 1000)
        queue.finish(item, next: record(key, at: now + 1000), at: now)
      } else {
        storage.waiting[item.namespace]?[key] = nil
        delivered.append(key)
        queue.finish(item, next: nil, at: now)
      }
    }
    Issue.record("The queue does not come to rest.")
    return delivered
  }

  @Test("Messages that fail are never in the way of others, however many they are", arguments: [1, 2, 7, 10, 64, 1000])
  func starvation(capacity: Int) {
    let (first, second) = (NamespaceID(rawValue: 1), NamespaceID(rawValue: 2))
    var storage = Storage()
    for number in 100..<160 {
      storage.waiting[first, default: [:]]["down\(number)"] = Self.record("down\(number)")
      storage.waiting[second, default: [:]]["up\(number)"] = Self.record("up\(number)")
    }
    storage.waiting[first]?["up1"] = Self.record("up1")
    var queue = OutboxQueue(capacity: capacity, concurrency: 3)
    queue.start([first, second])
    var delivered = Self.work(&queue, &storage, at: 0)
    #expect(Set(delivered).count == 61 && delivered.count == 61)
    #expect(queue.count <= capacity + 3)
    // Everything that failed comes again, when it is due; what is new meanwhile goes at once.
    #expect(queue.nextTime == 1000)
    storage.waiting[first]?["new"] = Self.record("new")
    queue.add(OutboxItem(namespace: first, record: Self.record("new")), at: 500)
    delivered = Self.work(&queue, &storage, at: 500)
    #expect(delivered == ["new"])
    // The outlet is there again: each comes once.
    delivered = Self.work(&queue, &storage, at: 1000)
    #expect(delivered.count == 60 && Set(delivered).count == 60)
    #expect(queue.count == 0 && queue.nextTime == nil)
  }
}
