import StorageCore
import Testing

@testable import Triggers

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
