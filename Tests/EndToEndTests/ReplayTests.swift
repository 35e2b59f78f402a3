import DoubloonTesting
import FunctionsKit
import RewardModel
import StorageCore
import Synchronization
import Testing
import TreeModel
import Triggers

@testable import ServerApp

/// Replays: the failed, the gaps, all; looked at first, killed and resumed.
struct ReplayTests {
  private static let fifty: TreeNode = ["amount": 50]

  /// Pays for a level; what it pays is a setting, and it fails while the switch is on.
  private static func reward(_ broken: Switch = Switch(false), name: String = "reward") -> @Sendable (Functions) -> Void {
    { functions in
      functions.onUpdate(
        Game.level, name: name, settings: Amount(), options: FunctionOptions(retry: RetryPolicy(attempts: 1))
      ) { event, context, settings in
        if broken.isOn { throw Oops() }
        try await context.credit(Game.gold, event.params, amount: settings.amount, code: "level")
        return .done
      }
    }
  }

  private static func players(_ count: Int, level: Int64 = 1) -> TreeNode {
    .map(
      TreeMap((0..<count).map { TreeMap.Entry(key: Key(unchecked: "p\($0)"), node: ["level": .leaf(.int(level))]) }))
  }

  @Test("62, 71: a replay of the failed ones touches only failures, and after the fix they are done")
  func failed() async throws {
    let broken = Switch(false)
    try await TestServer.run(Self.reward(broken), tree: ["users": Self.players(4)]) { server in
      try await server.set("/users/p0/level", 2)
      broken.set(true)
      for player in 1..<4 { try await server.set(Path(parsing: "/users/p\(player)/level"), 2) }
      broken.set(false)
      let before = try await server.entries()
      let preview = try await server.replayer.preview(server.order(.failed), in: server.namespaceID)
      #expect(preview.survey.toRun == 3)
      #expect(preview.outcomes == ["done": 3])
      #expect(preview.coins == ["pieces_of_eight": 150])
      let report = try await server.replay(server.order(.failed))
      #expect(report.state == .done)
      #expect(report.progress["given"] == 3)
      #expect(report.progress["outcomes"] == ["done": 3])
      #expect(report.progress["coins"] == ["pieces_of_eight": 150])
      for player in 0..<4 { #expect(try await server.balance(Game.gold, UserID(unchecked: "p\(player)")) == 50) }
      #expect(try await server.entries().prefix(before.count) == before[...])
      // Nothing is left to be replayed.
      #expect(try await server.replay(server.order(.failed)).progress["given"] == 0)
    }
  }

  @Test("A replay takes what its path, its writer and its error name, of failures and of the log; it is stored with them")
  func narrowed() async throws {
    let broken = Switch(true)
    try await TestServer.run(Self.reward(broken), tree: ["users": Self.players(3)]) { server in
      for player in 0..<3 { try await server.set(Path(parsing: "/users/p\(player)/level"), 2) }
      broken.set(false)
      func count(_ mode: ReplayOrder.Mode, _ change: (inout ReplayOrder) -> Void) async throws -> Int64 {
        var order = server.order(mode)
        change(&order)
        #expect(ReplayOrder(order.json) == order)
        let preview = try await server.replayer.preview(order, in: server.namespaceID)
        return preview.survey.toRun
      }
      let writer = try #require(
        try server.application.engine.read { try $0.commits(in: server.namespaceID, after: Revision(0), limit: 100) }.last
      ).actor.description
      for mode in [ReplayOrder.Mode.failed, .all] {
        #expect(try await count(mode) { _ in } == 3)
        #expect(try await count(mode) { $0.path = "/users/p1" } == 1)
        #expect(try await count(mode) { $0.path = "/users/*/level" } == 3)
        #expect(try await count(mode) { $0.path = "/users/*/name" } == 0)
        #expect(try await count(mode) { $0.writer = writer } == 3)
        #expect(try await count(mode) { $0.writer = "user:nobody" } == 0)
        #expect(try await count(mode) { $0.error = "Oops" } == 3)
        #expect(try await count(mode) { $0.error = "another" } == 0)
      }
      let wrong = await #expect(throws: AdministrationError.self) { try await count(.failed) { $0.path = "/a/{" } }
      #expect(wrong?.code == .invalid)
      var order = server.order(.failed)
      order.path = "/users/p2/level"
      try await server.replay(order)
      let balances = try await [server.balance(Game.gold, "p1"), server.balance(Game.gold, "p2")]
      #expect(balances == [0, 50])
    }
  }

  @Test("63: replaying all of history changes no hash")
  func all() async throws {
    try await TestServer.run(Self.reward(), tree: ["users": Self.players(5)]) { server in
      for player in 0..<5 { try await server.set(Path(parsing: "/users/p\(player)/level"), 2) }
      let tree = try await server.treeHash()
      let canonical = try server.canonicalHash()
      let report = try await server.replay(server.order(.all))
      #expect(report.progress["given"] == 0)
      #expect(report.progress["alreadyDone"] == 5)
      #expect(try await server.treeHash() == tree)
      #expect(try server.canonicalHash() == canonical)
      try await server.expectEntries(5)
    }
  }

  @Test("64: a dry run says exactly what the replay then does, and appends nothing")
  func dryRun() async throws {
    let broken = Switch(true)
    let functions: @Sendable (Functions) -> Void = { functions in
      Self.reward(broken)(functions)
      functions.onUpdate(Game.level, name: "note", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) {
        event, context in
        if broken.isOn { throw Oops() }
        try await context.set(Game.badge, event.params, to: "level \(event.after)")
        return .done
      }
    }
    try await TestServer.run(functions, tree: ["users": Self.players(2)]) { server in
      for player in 0..<2 { try await server.set(Path(parsing: "/users/p\(player)/level"), 2) }
      broken.set(false)
      let before = try server.everything()
      let dry = try await server.replayer.dryRun(server.order(.failed), in: server.namespaceID)
      #expect(try server.everything() == before)
      #expect(dry.outcomes == ["done": 4])
      let details = try #require(dry.details)
      let expected: [(path: Path, after: Scalar)] = [
        ("/users/p0/badge", "level 2"), ("/users/p0/inventory/pieces_of_eight", 50), ("/users/p1/badge", "level 2"),
        ("/users/p1/inventory/pieces_of_eight", 50),
      ]
      #expect(details.changes == expected.map { LeafChange(path: PathBytes($0.path), before: nil, after: $0.after) })
      #expect(details.transfers.map(\.credit.name) == ["user:p0", "user:p1"])
      try await server.replay(server.order(.failed))
      for (path, after) in expected { #expect(try await server.node(path).scalar == after) }
    }
  }

  @Test("66: what a changed amount would do differently is listed, run by run")
  func divergences() async throws {
    let amount = Mutex(Int64(50))
    let functions: @Sendable (Functions) -> Void = { functions in
      functions.onUpdate(Game.level, name: "reward") { event, context in
        if event.params == "p2" { return .skipped("banned") }
        try await context.credit(Game.gold, event.params, amount: amount.withLock(\.self), code: "level")
        return .done
      }
    }
    try await TestServer.run(functions, tree: ["users": Self.players(3)]) { server in
      for player in 0..<3 { try await server.set(Path(parsing: "/users/p\(player)/level"), 2) }
      let same = try await server.replayer.dryRun(server.order(.all), in: server.namespaceID)
      #expect(same.details?.compared == 3)
      #expect(same.details?.divergences.isEmpty == true)
      amount.withLock { $0 = 60 }
      let dry = try await server.replayer.dryRun(server.order(.all), in: server.namespaceID)
      let found = try #require(dry.details?.divergences)
      #expect(found.map(\.event.description) == ["1-2:/users/p0/level", "1-4:/users/p1/level"])
      #expect(found.first?.recorded == "pays 50 pieces_of_eight from issuance:level to user:p0")
      #expect(found.first?.now == "pays 60 pieces_of_eight from issuance:level to user:p0")
    }
  }

  @Test("A function that is deployed later pays history once, and only if it takes nobody's place")
  func gaps() async throws {
    let later = Switch(false)
    let functions: @Sendable (Functions) -> Void = { functions in
      functions.onUpdate(Game.level, name: "watch") { _, _ in .done }
      if later.isOn { Self.reward(name: "gift")(functions) }
    }
    try await TestServer.run(functions, tree: ["users": Self.players(3)]) { server in
      for player in 0..<3 { try await server.set(Path(parsing: "/users/p\(player)/level"), 2) }
      // Nobody wanted this: there is no event of it in the table.
      later.set(true)
      try await server.restart()
      #expect(try await server.balance(Game.gold, "p0") == 0)
      let refused = await #expect(throws: AdministrationError.self) {
        try await server.replayer.start(server.order(.gaps, function: "gift"), in: server.namespaceID)
      }
      #expect(refused?.message.contains("3 by watch") == true)
      var order = server.order(.gaps, function: "gift")
      order.allowsHandled = true
      let report = try await server.replay(order)
      #expect(report.progress["outcomes"] == ["done": 3])
      for player in 0..<3 { #expect(try await server.balance(Game.gold, UserID(unchecked: "p\(player)")) == 50) }
      #expect(try await server.replay(order).progress["given"] == 0)
      // From now on it is like any other.
      try await server.set("/users/p0/level", 3)
      #expect(try await server.balance(Game.gold, "p0") == 100)
    }
  }

  @Test("An event that nobody wanted when it happened gets the id that it would have had")
  func derived() async throws {
    let later = Switch(false)
    let functions: @Sendable (Functions) -> Void = { functions in
      if later.isOn {
        Self.reward(name: "gift")(functions)
        functions.onCreate(Game.record, name: "welcome") { event, context in
          try await context.credit(Game.gold, event.params, amount: 7, code: "welcome")
          return .done
        }
      }
    }
    try await TestServer.run(functions, tree: ["users": Self.players(1)]) { server in
      try await server.set("/users/p0/level", 2)
      try await server.set("/users/new", ["level": 1])
      try await server.set("/users/new/name", "New")
      later.set(true)
      try await server.restart()
      let report = try await server.replay(server.order(.gaps))
      #expect(report.progress["outcomes"] == ["done": 2])
      let items = try server.replayer.items(of: report.id, in: server.namespaceID, after: nil, limit: 10)
      #expect(items.map(\.item.event.description) == ["1-2:/users/p0/level", "1-3:/users/new"])
      let shown = try server.application.engine.read { snapshot in
        try snapshot.events(in: server.namespaceID, after: nil, limit: 10).map(\.id.description)
      }
      #expect(shown.starts(with: ["1-2:/users/p0/level", "1-3:/users/new"]))
      #expect(try await server.balance(Game.gold, "new") == 7)
      // What it brought to the log will not be told again, and nobody waits for it.
      try await server.application.settle()
    }
  }

  @Test("One event by its id; times, players and functions narrow a replay")
  func filters() async throws {
    let broken = Switch(true)
    try await TestServer.run(Self.reward(broken), tree: ["users": Self.players(4)]) { server in
      for player in 0..<4 {
        try await server.set(Path(parsing: "/users/p\(player)/level"), 2)
        try await server.advance(by: .seconds(60))
      }
      broken.set(false)
      let start = server.clock.now() - 240_000
      var order = server.order(.failed)
      order.uid = "p3"
      #expect(try await server.replay(order).progress["given"] == 1)
      order = server.order(.failed)
      (order.since, order.until) = (start + 60_000, start + 60_000)
      #expect(try await server.replay(order).progress["given"] == 1)
      #expect(try await server.balance(Game.gold, "p1") == 50)
      order = server.order(.all)
      order.event = EventID("1-2:/users/p0/level")
      #expect(try await server.replay(order).progress["outcomes"] == ["done": 1])
      #expect(try await server.balance(Game.gold, "p0") == 50)
      order.function = "nobody"
      await #expect(throws: AdministrationError.self) { try await server.replayer.start(order, in: server.namespaceID) }
      order = server.order(.failed)
      order.reason = ""
      await #expect(throws: AdministrationError.self) { try await server.replayer.start(order, in: server.namespaceID) }
    }
  }

  @Test("70: a replay that dies after giving events to functions goes on, and pays nothing twice")
  func killed() async throws {
    let broken = Switch(true)
    try await TestServer.run(Self.reward(broken), tree: ["users": Self.players(150)]) { server in
      var update: [String: TreeNode] = [:]
      for player in 0..<150 { update["/p\(player)/level"] = 2 }
      try await server.update("/users", update)
      broken.set(false)
      try await server.crash(at: .replayHandedOver) { try await server.replay(server.order(.failed)) }
      // The next life takes it up by itself.
      let record = try await server.ended(1)
      #expect(record.state == .done)
      #expect(record.progress["given"] == 150)
      #expect(record.progress["coins"] == ["pieces_of_eight": 7500])
      for player in 0..<150 { #expect(try await server.balance(Game.gold, UserID(unchecked: "p\(player)")) == 50) }
      try await server.expectEntries(150)
    }
  }

  @Test("A replay can be paused, goes on, and can be cancelled; each leaves its audit record")
  func pausing() async throws {
    let gate = Switch(true)
    let functions: @Sendable (Functions) -> Void = { functions in
      functions.onUpdate(Game.level, name: "reward", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) {
        event, context in
        if gate.isOn { throw Oops() }
        try await context.credit(Game.gold, event.params, amount: 1, code: "level")
        return .done
      }
    }
    try await TestServer.run(functions, tree: ["users": Self.players(200)]) { server in
      var update: [String: TreeNode] = [:]
      for player in 0..<200 { update["/p\(player)/level"] = 2 }
      try await server.update("/users", update)
      gate.set(false)
      // 64 at once, and the next ones 10 ms later: the clock stands still, so the replay waits.
      var order = server.order(.failed)
      order.rate = 6400
      let started = try await server.replayer.start(order, in: server.namespaceID)
      try await server.waitUntil { try await server.entries().count == 64 }
      _ = try server.replayer.pause(started.id, in: server.namespaceID)
      server.clock.advance(by: 10)
      #expect(try await server.ended(started.id).state == .paused)
      try await server.expectEntries(64)
      _ = try await server.replayer.resume(started.id, in: server.namespaceID)
      for count in [128, 192] {
        try await server.waitUntil { try await server.entries().count == count }
        server.clock.advance(by: 10)
      }
      try await server.waitUntil { try await server.entries().count == 200 }
      server.clock.advance(by: 10)
      #expect(try await server.ended(started.id).progress["outcomes"] == ["done": 200])
      await #expect(throws: AdministrationError.self) {
        try await server.replayer.cancel(started.id, in: server.namespaceID)
      }
      let audits = try server.application.engine.read { snapshot in
        try snapshot.audits(before: nil, limit: 10)
      }
      #expect(audits.map(\.record.action).filter { $0.hasPrefix("replays.") } == ["replays.done", "replays.paused"])
    }
  }

  @Test("A plain write that comes late does not overwrite newer data; what adds up still counts")
  func stale() async throws {
    let broken = Switch(true)
    let functions: @Sendable (Functions) -> Void = { functions in
      functions.onUpdate(Game.level, name: "badge", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) {
        event, context in
        if broken.isOn { throw Oops() }
        try await context.set(Game.badge, event.params, to: "level \(event.after)")
        return .done
      }
      functions.onUpdate(Game.level, name: "both", options: FunctionOptions(retry: RetryPolicy(attempts: 1))) {
        event, context in
        if broken.isOn { throw Oops() }
        try await context.set(Game.badge, event.params, to: "level \(event.after)")
        try await context.increment(Game.count, event.params, by: 1)
        try await context.credit(Game.gold, event.params, amount: 5, code: "both")
        return .done
      }
    }
    try await TestServer.run(functions, tree: ["users": Self.players(2)]) { server in
      let first = try await server.set("/users/p0/level", 2)
      try await server.set("/users/p1/level", 2)
      try await server.set("/users/p0/badge", "by hand")
      try await server.set("/users/p0/count", 10)
      broken.set(false)
      let report = try await server.replay(server.order(.failed))
      #expect(report.progress["outcomes"] == ["done": 3, "skipped: stale": 1])
      #expect(try await server.node("/users/p0/badge") == "by hand")
      #expect(try await server.node("/users/p0/count") == 11)
      #expect(try await server.balance(Game.gold, "p0") == 5)
      #expect(try await server.node("/users/p1/badge") == "level 2")
      let executions = try server.application.engine.read { snapshot in
        try snapshot.executions(in: server.namespaceID, of: first.events[0])
      }
      #expect(
        executions.map(\.reason)
          == Array(repeating: "stale: /users/p0/badge was changed since the event, and was left as it is", count: 2))
    }
  }
}
