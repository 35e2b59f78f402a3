import FunctionsKit
import RewardModel
import StorageCore
import StorageSQLite
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import Triggers

/// Functions that run on the writer, in the batch of their event.
struct InlineTests {
  static let level: Path = "/users/bob/level"

  private static func pay(_ functions: Functions) {
    functions.onWrite(Users.level, name: "pay") { event, context in
      try await context.credit(Users.coins, event.params, amount: 50, code: "level")
      return .done
    }
  }

  @Test("The effect of a short function is durable with its event, in one batch, behind it")
  func oneBatch() async throws {
    let batches = BatchNotes()
    let fixture = try await TriggerFixture.inline(observers: [batches], Self.pay)
    let receipt = try await fixture.set(Self.level, 1)
    // Nothing was waited for.
    #expect(try fixture.coins("bob") == 50)
    #expect(try fixture.executions().map(\.effect) == [receipt.revision.next])
    let batch = try #require(batches.all.first { $0.contains { $0.receipt.revision == receipt.revision } })
    let revisions = batch.filter(\.receipt.changed).map(\.receipt.revision)
    #expect(revisions == [receipt.revision, receipt.revision.next])
    let effect = try #require(batch.last?.request)
    #expect(effect.log.cause?.event == receipt.events.first?.id)
    #expect(effect.log.cause?.hop == 1)
    #expect(effect.actor == .function("pay"))
    #expect(fixture.inlineRuns(of: "pay") == 1)
    #expect(fixture.dispatcher.counts(of: "pay")?.done == 1)
    #expect(try await fixture.drain().unsettled.isEmpty)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("Who waits for the effects of a write that ran at once is answered at once")
  func waiting() async throws {
    let fixture = try await TriggerFixture.inline(Self.pay)
    let receipt = try await fixture.set(Self.level, 1)
    let report = try await fixture.dispatcher.settlement(of: receipt.events, timeout: .seconds(20))
    #expect(report.unsettled.isEmpty)
    // What was settled is stored with a later effect, at the latest when the service ends.
    await fixture.close()
    let again = try await TriggerFixture(folder: fixture.folder, Self.pay)
    #expect(again.report.waiting == 0 && again.report.suspects.isEmpty)
    try await again.drain()
    #expect(again.dispatcher.counts(of: "pay") == FunctionCounts())
    await again.close()
  }

  @Test("A skipped run's record is in the batch of its event, and costs no commit")
  func skipped() async throws {
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "skip") { _, _ in .skipped("not_now") }
    }
    let receipt = try await fixture.set(Self.level, 1)
    #expect(try fixture.executions().map(\.reason) == ["not_now"])
    let head = try fixture.engine.read { (snapshot) throws(StorageError) in try snapshot.head(of: fixture.namespace) }
    #expect(head.revision == receipt.revision)
    #expect(fixture.inlineRuns(of: "skip") == 1)
    #expect(fixture.dispatcher.counts(of: "skip")?.skipped == 1)
    await fixture.close()
  }

  @Test("All runs of one commit read the tree of that commit, and their effects follow the last of them")
  func oneTree() async throws {
    let seen = Notes<String?>()
    let fixture = try await TriggerFixture.inline { functions in
      for name in ["first", "second"] {
        functions.onWrite(Users.level, name: name) { event, context in
          seen.add(try await context.get(Users.log, event.params))
          try await context.set(Users.log, event.params, to: name)
          return .done
        }
      }
    }
    try await fixture.set(Self.level, 1)
    #expect(seen.all == [nil, nil])
    #expect(try fixture.node("/log/bob") == "second")
    try await fixture.set(Self.level, 2)
    #expect(seen.all == [nil, nil, "second", "second"])
    await fixture.close()
  }

  @Test("A node's values before and after are those around the event's commit")
  func values() async throws {
    struct User: Codable, Hashable {
      var level: Int64?
      var name: String?
      var gold: Int64?
    }
    let seen = Notes<[User?]>()
    let user = TreePath<User, UserID>("/users/{uid}")
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(user, name: "look") { event, _ in
        seen.add([event.before, event.after])
        return .done
      }
    }
    try await fixture.set("/users/bob", ["level": 1, "name": "Bob"])
    try await fixture.set("/users/bob", ["level": 2, "gold": 3])
    try await fixture.set("/users/bob/level", 3)
    try await fixture.write(.remove("/users/bob"))
    let (one, two, three) = (User(level: 1, name: "Bob"), User(level: 2, gold: 3), User(level: 3, gold: 3))
    #expect(seen.all == [[nil, one], [one, two], [two, three], [three, nil]])
    #expect(fixture.inlineRuns(of: "look") == 4)
    await fixture.close()
  }

  @Test("What an effect causes runs in the same turn, and a chain ends at the hop limit as on threads")
  func chain() async throws {
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "again") { event, context in
        try await context.set(Users.level, event.params, to: (event.after ?? 0) + 1)
        return .done
      }
    }
    let receipt = try await fixture.set(Self.level, 1)
    #expect(try fixture.node(Self.level) == 10)
    #expect(fixture.inlineRuns(of: "again") == 9)
    try await fixture.dispatcher.settlement(of: receipt.events)
    let dead = try #require(try fixture.deliveries(.dead).first)
    #expect(dead.lastError.contains("hop limit") && dead.hop == 9)
    await fixture.close()
  }

  @Test("At most 64 runs follow one commit; the others are given to threads")
  func runsInATurn() async throws {
    let fixture = try await TriggerFixture.inline(Self.pay)
    var users = TreeNode.absent
    for user in 0..<100 { users = users.setting(try Path(parsing: "/u\(user)/level"), to: 1) }
    try await fixture.set("/users", users)
    try await fixture.drain()
    for user in 0..<100 { #expect(try fixture.coins("u\(user)") == 50) }
    #expect(fixture.inlineRuns(of: "pay") == 64)
    #expect(fixture.dispatcher.counts(of: "pay")?.done == 100)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("Functions that know no order, that are paused, or that never may, do not run on the writer")
  func never() async throws {
    let fixture = try await TriggerFixture.inline { functions in
      for (name, options) in [
        ("unordered", FunctionOptions(order: .unordered)), ("never", FunctionOptions(inline: .never)),
        ("paused", FunctionOptions()),
      ] {
        functions.onWrite(Users.level, name: name, options: options) { _, _ in .done }
      }
    }
    try await fixture.dispatcher.pause("paused", because: "test")
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.executions().map(\.function).sorted() == ["never", "unordered"])
    try await fixture.dispatcher.resume("paused")
    try await fixture.drain()
    #expect(try fixture.executions().count == 3)
    for name in ["unordered", "never", "paused"] { #expect(fixture.inlineRuns(of: name) == 0) }
    await fixture.close()
  }

  @Test("Before the service runs, and while it catches up, nothing runs on the writer")
  func beforeTheService() async throws {
    let fixture = try await TriggerFixture(options: .inline(), runs: false, Self.pay)
    try await fixture.set(Self.level, 1)
    #expect(try fixture.coins("bob") == nil)
    fixture.run()
    try await fixture.serves()
    #expect(try fixture.coins("bob") == 50)
    #expect(fixture.inlineRuns(of: "pay") == 0)
    try await fixture.set(Self.level, 2)
    #expect(try fixture.coins("bob") == 100)
    #expect(fixture.inlineRuns(of: "pay") == 1)
    await fixture.close()
  }
}

/// Order, failures and refusals of runs on the writer.
struct InlineOrderTests {
  static let level: Path = "/users/bob/level"

  @Test("A failed run counts as the first attempt, and later events of its key wait behind it while others run at once")
  func failure() async throws {
    let seen = Notes<String>()
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        seen.add("\(event.params) \(event.after ?? 0) \(event.details.attempt)")
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        if event.after == 1, event.details.attempt == 1 { throw Broken("not yet") }
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.set(Self.level, 2)
    let report = try await fixture.drain()
    #expect(report.unsettled.map(\.state) == [.waiting, .waiting])
    #expect(seen.all == ["bob 1 1"])
    #expect(try fixture.failedAttempts().map(\.attempt) == [1])
    try await fixture.set("/users/eve/level", 3)
    try await fixture.drain()
    #expect(try fixture.coins("eve") == 50)
    try await fixture.advance(by: 1200)
    #expect(seen.all == ["bob 1 1", "eve 3 1", "bob 1 2", "bob 2 1"])
    #expect(try fixture.coins("bob") == 100)
    #expect(try fixture.deliveries(.waiting).isEmpty)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("Of two events of one key in a commit the second does not overtake the first")
  func twoOfOneKey() async throws {
    let item = TreePath<Int64, UserID, String>("/items/{uid}/{item}")
    let seen = Notes<Int64>()
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(item, name: "count") { event, context in
        seen.add(event.after ?? 0)
        try await context.transaction(Users.counter) { ($0 ?? 0) * 10 + (event.after ?? 0) }
        return .done
      }
    }
    try await fixture.set("/items/bob", ["a": 1, "b": 2])
    try await fixture.drain()
    #expect(seen.all == [1, 2])
    #expect(try fixture.node("/counter") == 12)
    #expect(fixture.inlineRuns(of: "count") == 1)
    await fixture.close()
  }

  @Test("A transaction that another run of the same commit spoiled is repeated on a thread, on the new value")
  func stale() async throws {
    let fixture = try await TriggerFixture.inline { functions in
      for name in ["one", "two", "three"] {
        functions.onWrite(Users.level, name: name) { _, context in
          try await context.transaction(Users.counter) { ($0 ?? 0) + 1 }
          return .done
        }
      }
    }
    try await fixture.set(Self.level, 1)
    try await fixture.drain()
    #expect(try fixture.node("/counter") == 3)
    #expect(fixture.inlineRuns(of: "one") == 1)
    #expect(try fixture.executions().map(\.attempt) == [1, 1, 1])
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("A payment that was made before, and one without funds, are skipped as on a thread")
  func refusals() async throws {
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 50, code: "level", once: "level/\(event.params)")
        return .done
      }
      functions.onWrite(Users.name, name: "buy") { event, context in
        try await context.debit(Users.coins, event.params, amount: 500, code: "hat")
        return .done
      }
    }
    for value in 1...3 { try await fixture.set(Self.level, .leaf(.int(Int64(value)))) }
    try await fixture.set("/users/bob/name", "Bob")
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    let reasons = try fixture.executions().compactMap(\.reason).map { $0.prefix { $0 != ":" } }
    #expect(reasons == ["already_paid", "already_paid", "insufficient_funds"])
    #expect(try await fixture.drain().unsettled.isEmpty)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("An effect does not overtake the record of a skipped run of its key that is not durable yet")
  func skippedBefore() async throws {
    let meter = TestMeter()
    let fixture = try await TriggerFixture.inline(options: .inline(meter: meter)) { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        guard event.after != 1 else {
          // Waits for the processor, so that it is repeated on a thread.
          meter.advance(by: 300, computes: false)
          _ = try await context.get(Users.name, event.params)
          return .skipped("first")
        }
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        return .done
      }
    }
    try await fixture.set(Self.level, 1)
    // The thread has ended, and its record waits for company.
    while fixture.dispatcher.withState({ $0.skips.isEmpty }) { await Task.yield() }
    try await fixture.set("/users/eve/level", 2)
    #expect(try fixture.coins("eve") == 50)
    try await fixture.set(Self.level, 2)
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    #expect(fixture.inlineRuns(of: "pay") == 1)
    try await fixture.set(Self.level, 3)
    #expect(fixture.inlineRuns(of: "pay") == 2)
    try fixture.checkInvariants()
    await fixture.close()
  }

  @Test("A redelivery of what ran on the writer finds its record")
  func redelivery() async throws {
    let fixture = try await TriggerFixture.inline { functions in
      functions.onWrite(Users.level, name: "pay") { event, context in
        try await context.credit(Users.coins, event.params, amount: 50, code: "level")
        return .done
      }
    }
    let event = try await fixture.set(Self.level, 1).events[0]
    for _ in 0..<20 { try fixture.dispatcher.redeliver(event.id, in: fixture.namespace) }
    try await fixture.drain()
    #expect(try fixture.coins("bob") == 50)
    #expect(fixture.dispatcher.counts(of: "pay")?.alreadyDone == 20)
    await fixture.close()
  }

  @Test("On the writer or on threads, random writes come to the same outcomes and the same coins", arguments: 0..<4)
  func sameOutcomes(seed: UInt64) async throws {
    var found: [[String]] = []
    for isInline in [true, false] {
      var options = DispatcherOptions.inline(runners: 1)
      options.inline.isEnabled = isInline
      let fixture = try await TriggerFixture.inline(options: options) { functions in
        functions.onUpdate(Users.level, name: "pay", when: .rising(to: 5)) { event, context in
          guard event.params.text != "u0" else { return .skipped("nobody") }
          if event.params.text == "u1", event.details.attempt == 1 { throw Broken("first") }
          try await context.credit(Users.coins, event.params, amount: event.after, code: "level")
          try await context.set(Users.name, event.params, to: "level \(event.after)")
          return .done
        }
        functions.onWrite(Users.name, name: "log") { event, context in
          let level = try await context.get(Users.level, event.params) ?? 0
          try await context.transaction(Users.counter) { ($0 ?? 0) + level }
          return .done
        }
        functions.onWrite(Users.coins, name: "once") { event, context in
          try await context.credit(Users.coins, UserID("bank"), amount: 1, code: "tax", once: "tax/\(event.params)")
          return .done
        }
      }
      var random = SplitMix64(seed: seed)
      for _ in 0..<60 {
        let uid = "u\(Int.random(in: 0..<4, using: &random))"
        let level = Int64.random(in: 0..<9, using: &random)
        try await fixture.set(Path(parsing: "/users/\(uid)/level"), .leaf(.int(level)))
        // What runs on threads has its effects before the next write, too.
        try await fixture.drain()
        if Int.random(in: 0..<5, using: &random) == 0 { try await fixture.advance(by: 3000) }
      }
      for _ in 0..<20 where try await !fixture.drain().unsettled.isEmpty { try await fixture.advance(by: 5000) }
      #expect(fixture.dispatcher.functions.contains { $0.counts.inline > 0 } == isInline)
      try fixture.checkInvariants()
      found.append(try fixture.outcomes() + ["\(try fixture.node("/users"))", "\(try fixture.node("/counter"))"])
      await fixture.close()
    }
    #expect(found[0] == found[1])
  }
}
