import RewardModel
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import RealtimeAPI

/// The trigger log as administrators read it.
struct EventListingTests {
  private func rows(_ server: APIServer, _ query: String) async throws -> (ids: [String], next: String?) {
    let response = try await server.send("GET", "/admin/v1/events?\(query)", headers: APIServer.admin)
    #expect(response.status == 200, "\(response.body)")
    let ids = (response.json?["events"]?.array ?? []).compactMap { $0["id"]?.string }
    return (ids, response.json?["next"]?.string)
  }

  /// Three commits of a player, a second apart; the second was handled by `f`, the third is a dead letter of `g`.
  private func prepare(_ server: APIServer) async throws {
    for level in 1...3 {
      try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)", headers: ["X-Request-ID": "r\(level)"]))
      server.clock.advance(by: 1000)
    }
    try await server.expect(.init("PUT", "/users/eve/name.json", "1"))
    var request = CommitRequest(
      namespace: try #require(server.database.namespace(named: "game")), actor: .function("f"), operations: [])
    let event = try #require(EventID("1-2:/users/bob/level"))
    request.triggers.execution = ExecutionRecord(
      event: event, function: "f", outcome: .skipped, reason: "already_paid", attempt: 1, startedAt: 1, finishedAt: 2,
      settings: nil)
    let dead = try #require(EventID("1-3:/users/bob/level"))
    request.triggers.deliveries = [
      DeliveryRecord(
        event: dead, kind: .updated, hop: 0, function: "g", state: .dead, attempts: 12, crashes: 0, nextAttemptAt: 0,
        lastError: "boom", updatedAt: 3)
    ]
    _ = try await server.database.commit(request)
  }

  @Test("Newest first, page by page, with filters that are all applied")
  func listing() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepare(server)
      let all = ["1-4:/users/eve/name", "1-3:/users/bob/level", "1-2:/users/bob/level", "1-1:/users/bob/level"]
      #expect(try await rows(server, "").ids == all)
      let first = try await rows(server, "limit=3")
      #expect(first.ids == Array(all[..<3]))
      let cursor = try #require(first.next)
      let second = try await rows(server, "limit=3&cursor=\(cursor)")
      #expect(second.ids == [all[3]] && second.next == nil)
      for (query, expected) in [
        ("path=users/bob", Array(all[1...])), ("uid=eve", [all[0]]), ("function=f", [all[2]]), ("outcome=dead", [all[1]]),
        ("outcome=skipped&function=g", []), ("outcome=pending", [all[0], all[3]]),
        ("since=\(APIServer.start + 2000)", Array(all[..<2])),
      ] {
        #expect(try await rows(server, query).ids == expected, "\(query)")
      }
    }
  }

  /// Commits with causes, actors and endings of all kinds, at random, and ledger entries for some of them.
  private func prepareMany(_ server: APIServer, seed: UInt64) async throws {
    var random = SplitMix64(seed: seed)
    let namespace = try await server.database.openNamespace(named: "game")
    // With a function that is known, a player's events are found by the history of the player's place.
    if seed == 2 { try await register(in: namespace, of: server) }
    var events: [EventID] = []
    for revision in 1...60 as ClosedRange<Int64> {
      let player = ["bob", "eve", "joe"].randomElement(using: &random)!
      let key = ["level", "name", "points"].randomElement(using: &random)!
      var request = CommitRequest(
        namespace: namespace, actor: [.user(uid: player), .admin("ann"), .anonymous].randomElement(using: &random)!,
        operations: [.set(try Path(parsing: "users/\(player)/\(key)"), .leaf(.int(revision)))])
      if let cause = events.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 {
        request.log.cause = Cause(event: cause, function: "f", hop: 1)
      }
      let receipt = try await server.database.commit(request)
      let event = try #require(receipt.events.first?.id)
      events.append(event)
      server.clock.advance(by: Int64.random(in: 0...2000, using: &random))
      var ending = CommitRequest(namespace: namespace, actor: .function("f"))
      let attempts = Int.random(in: 1...4, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        ending.triggers.execution = ExecutionRecord(
          event: event, function: "f", outcome: .done, reason: nil, attempt: attempts, startedAt: 1, finishedAt: 2,
          settings: nil)
      case 1:
        ending.triggers.execution = ExecutionRecord(
          event: event, function: "g", outcome: .skipped, reason: "not_referred", attempt: 1, startedAt: 1, finishedAt: 2,
          settings: nil)
      case 2:
        ending.triggers.deliveries = [
          DeliveryRecord(
            event: event, kind: .updated, hop: 0, function: "f", state: .dead, attempts: attempts, crashes: 0,
            nextAttemptAt: 0, lastError: "boom \(revision)", updatedAt: 3)
        ]
      default: continue
      }
      _ = try await server.database.commit(ending)
    }
  }

  private func register(in namespace: NamespaceID, of server: APIServer) async throws {
    var request = CommitRequest(namespace: namespace, actor: .system("test"))
    request.triggers.functions = [
      FunctionRecord(
        name: "f", pattern: "/users/{uid}/level", kinds: "onUpdate", since: [:], isPaused: false, pauseReason: nil, updatedAt: 1
      )
    ]
    _ = try await server.database.commit(request)
  }

  @Test("Filters combine, pages add up, and every count is the number of rows (check 69)", arguments: [1, 2] as [UInt64])
  func counts(seed: UInt64) async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepareMany(server, seed: seed)
      let everything = try await server.send("GET", "/admin/v1/events?limit=1000", headers: APIServer.admin)
      let events = everything.json?["events"]?.array ?? []
      #expect(events.count == 60)
      func endings(_ event: JSON) -> [JSON] { (event["executions"]?.array ?? []) + (event["deliveries"]?.array ?? []) }
      let middle = try #require(events[30]["time"]?.int)
      let id = try #require(events[40]["id"]?.string)
      let filters: [(String, (JSON) -> Bool)] = [
        ("uid=bob", { $0["path"]?.string?.contains("/bob/") == true }),
        ("path=users/eve", { $0["path"]?.string?.hasPrefix("/users/eve/") == true }),
        ("path=/users/*/level", { $0["path"]?.string?.hasSuffix("/level") == true }),
        ("function=f", { endings($0).contains { $0["function"] == "f" } }),
        ("outcome=dead", { endings($0).contains { $0["state"] == "dead" } }),
        ("outcome=pending", { endings($0).isEmpty }),
        ("reason=not_ref", { endings($0).contains { $0["reason"] == "not_referred" } }),
        ("attempt=3", { endings($0).contains { ($0["attempt"] ?? $0["attempts"])?.int ?? 0 >= 3 } }),
        ("actor=user", { $0["actor"]?.string?.hasPrefix("user:") == true }),
        ("actor=admin:ann", { $0["actor"] == "admin:ann" }),
        ("since=\(middle)", { $0["time"]?.int ?? 0 >= middle }), ("until=\(middle)", { $0["time"]?.int ?? 0 <= middle }),
        ("cause=\(id)", { Self.follows($0, id, events) }),
      ]
      var random = SplitMix64(seed: seed)
      for round in 0..<60 {
        let chosen = round < filters.count ? [filters[round]] : Array(filters.shuffled(using: &random).prefix(3))
        // Two times the same parameter would be another question.
        guard Set(chosen.map { $0.0.prefix { $0 != "=" } }).count == chosen.count else { continue }
        let query = chosen.map(\.0).joined(separator: "&")
        let sharesEnding = chosen.filter { ["function", "outcome", "reason", "attempt"].contains($0.0.prefix { $0 != "=" }) }
        // A function's name and its outcome must hold of one ending: only single ones are judged by the simple model.
        guard sharesEnding.count < 2 else { continue }
        let expected = events.filter { event in chosen.allSatisfy { $0.1(event) } }.compactMap { $0["id"]?.string }
        var found: [String] = []
        var next: String?
        repeat {
          let page = try await rows(server, query + "&limit=7" + (next.map { "&cursor=\($0)" } ?? ""))
          found += page.ids
          next = page.next
        } while next != nil
        #expect(found == expected, "\(query)")
        let count = try await server.send("GET", "/admin/v1/events?count=true&\(query)", headers: APIServer.admin)
        #expect(count.json?["count"]?.int == Int64(expected.count), "\(query)")
        #expect(count.json?["complete"] == true)
      }
    }
  }

  /// Whether an event is `id`, or its chain of causes leads there.
  private static func follows(_ event: JSON, _ id: String, _ all: [JSON]) -> Bool {
    if event["id"]?.string == id { return true }
    guard let cause = event["cause"]?["event"]?.string, let parent = all.first(where: { $0["id"]?.string == cause }) else {
      return false
    }
    return follows(parent, id, all)
  }

  @Test("A player's events are those in the path and those that moved the player's coins, also where the log is long")
  func beneficiary() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      for level in 1...40 {
        try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)"))
        try await server.expect(.init("PUT", "/other/thing.json", "\(level)"))
      }
      try await server.expect(.init("PUT", "/users/alice/name.json", #""Alice""#))
      let namespace = try #require(server.database.namespace(named: "game"))
      try await register(in: namespace, of: server)
      var request = CommitRequest(namespace: namespace, actor: .function("f"))
      request.ledger.transfers = [
        LedgerTransfer(
          debit: .issuance("level5"), credit: LedgerAccount("user:alice"), amount: 50, unit: "pieces_of_eight", code: "level5",
          key: BusinessKey("level5/bob"), event: "1-9:/users/bob/level", function: "f")
      ]
      request.triggers.execution = ExecutionRecord(
        event: try #require(EventID("1-9:/users/bob/level")), function: "f", outcome: .done, reason: nil, attempt: 1,
        startedAt: 1, finishedAt: 2, settings: nil)
      _ = try await server.database.commit(request)
      let inventory = "1-82:/users/alice/inventory/pieces_of_eight"
      #expect(try await rows(server, "uid=alice").ids == [inventory, "1-81:/users/alice/name", "1-9:/users/bob/level"])
      #expect(try await rows(server, "uid=alice&until=\(APIServer.start)&path=users/bob").ids == ["1-9:/users/bob/level"])
      #expect(
        try await rows(server, "uid=alice&limit=1&cursor=82:/users/alice/inventory/pieces_of_eight").ids.first
          == "1-81:/users/alice/name")
      #expect(try await coins(server, of: "1-9:/users/bob/level") == ["pieces_of_eight": 50])
      #expect(try await coins(server, of: "1-81:/users/alice/name") == nil)
      var others = CommitRequest(namespace: namespace, actor: .admin("ann"))
      others.ledger.transfers = (1...210).map { number in
        LedgerTransfer(
          debit: LedgerAccount("till"), credit: LedgerAccount("shop"), amount: 1, unit: "gems", code: "sale",
          key: BusinessKey("sale/\(number)"), event: nil, function: nil)
      }
      _ = try await server.database.commit(others)
      #expect(try await coins(server, of: "1-9:/users/bob/level") == ["pieces_of_eight": 50])
    }
  }

  /// What the list says that an event's runs gave.
  private func coins(_ server: APIServer, of id: String) async throws -> JSON? {
    let listed = try await server.send("GET", "/admin/v1/events?limit=1000", headers: APIServer.admin)
    return listed.json?["events"]?.array?.first { $0["id"]?.string == id }?["coins"]
  }

  @Test("One event tells its commit, its executions and its deliveries")
  func one() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await prepare(server)
      let event = try await server.send("GET", "/admin/v1/triggers/1-2:/users/bob/level", headers: APIServer.admin)
      #expect(event.json?["kind"] == "updated" && event.json?["actor"] == "anonymous" && event.json?["requestId"] == "r2")
      #expect(event.json?["time"]?.int == APIServer.start + 1000)
      #expect(event.json?["executions"]?.array?.first?["reason"] == "already_paid")
      let dead = try await server.send("GET", "/admin/v1/dead-letters", headers: APIServer.admin)
      #expect(dead.json?["deadLetters"]?.array?.first?["lastError"] == "boom")
      let executions = try await server.send(
        "GET", "/admin/v1/executions?event=1-2:%2Fusers%2Fbob%2Flevel", headers: APIServer.admin)
      #expect(executions.json?["executions"]?.array?.count == 1)
      try await server.expect(
        .init("GET", "/admin/v1/events/9-9:/none", headers: APIServer.admin, status: 404),
        .init("GET", "/admin/v1/events?cursor=odd", headers: APIServer.admin, status: 400))
    }
  }

  @Test("X-Doubloon-Wait asks for the write's own events, and says if they are not settled in time")
  func waiting() async throws {
    let effects = HeldEffects(.pending)
    try await APIServer.run(effects: effects, participants: [EveryChange()]) { server in
      try await server.expect(
        .init(
          "PUT", "/a/b.json", "1", headers: ["X-Doubloon-Wait": "effects"], is: "1",
          having: ["x-doubloon-effects": "pending"]))
      #expect(effects.events.map(\.id.description) == ["1-1:/a/b"])
    }
    let unfinished = HeldEffects(
      .settled(unfinished: [.init(.waiting, "pay"), .init(.dead, "gréét me"), .init(.dead, "pay"), .init(.dead, "pay")]))
    try await APIServer.run(effects: unfinished, participants: [EveryChange()]) { server in
      try await server.expect(
        .init(
          "PUT", "/a/b.json", "1", headers: ["X-Doubloon-Wait": "effects"], is: "1",
          having: ["x-doubloon-effects": "dead;function=gr%C3%A9%C3%A9t%20me, dead;function=pay, waiting;function=pay"]))
    }
  }
}
