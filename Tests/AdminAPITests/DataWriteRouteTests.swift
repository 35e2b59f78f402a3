import PlayerLifecycle
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI

/// Writes with a condition, a reason and a preview.
struct DataWriteRouteTests {
  private func send(_ server: APIServer, _ method: String, _ body: String, status: Int = 200) async throws -> JSON {
    let response = try await server.send(method, "/admin/v1/data", body, headers: APIServer.admin)
    #expect(response.status == status, "\(method) \(body.prefix(200)): \(response.body)")
    return response.json ?? .null
  }

  private func preview(_ server: APIServer, _ body: String, status: Int = 200) async throws -> JSON {
    let response = try await server.send("POST", "/admin/v1/data/preview", body, headers: APIServer.admin)
    #expect(response.status == status, "\(body): \(response.body)")
    return response.json ?? .null
  }

  @Test("A write goes the way of all writes: events, adjustments, exact numbers; a database begins with it")
  func writes() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      let first = try await send(
        server, "PUT", #"{"path":"/users/bob","value":{"level":4,"big":9007199254740993},"reason":"new player"}"#)
      #expect(first == ["revision": 1, "changed": true, "events": 2])
      #expect(try await server.value("/users/bob/big.json") == "9007199254740993")
      let same = try await send(server, "PUT", #"{"path":"users/bob/level","value":4,"reason":"again"}"#)
      #expect(same == ["revision": 1, "changed": false, "events": 0])
      let update = #"{"path":"users","value":{"bob/level":5,"eve/inventory/pieces_of_eight":7,"bob/big":null},"reason":"fix"}"#
      #expect(try await send(server, "PATCH", update)["events"] == 3)
      #expect(try await server.value("/users.json") == #"{"bob":{"level":5},"eve":{"inventory":{"pieces_of_eight":7}}}"#)
      let balance = try await server.send("GET", "/admin/v1/ledger/statement?account=user:eve", headers: APIServer.admin)
      #expect(balance.json?["entries"]?.array?.first?["code"] == "adjustment")
      let priority = try await send(server, "PUT", #"{"path":"users/bob/.priority","value":3,"reason":"order"}"#)
      #expect(priority["changed"] == true)
      #expect(try await send(server, "DELETE", #"{"path":"users/bob/.priority","reason":"order"}"#)["changed"] == true)
      #expect(try await send(server, "DELETE", #"{"path":"users/bob","reason":"gone"}"#)["events"] == 1)
      #expect(try await server.value("/users/bob.json") == "null")
      let quiet = try await send(
        server, "PUT", #"{"path":"users/bob/level","value":1,"reason":"import","triggers":false}"#)
      #expect(quiet["changed"] == true)
      let namespace = try #require(server.database.namespace(named: "game"))
      let commit = try server.database.engine.read { snapshot in
        try snapshot.commit(in: namespace, at: snapshot.head(of: namespace).revision)
      }
      #expect(commit?.suppressesTriggers == true && commit?.actor == .admin("owner"))
      #expect(try await send(server, "PUT", #"{"path":"users/bob","value":null,"reason":"gone"}"#)["changed"] == true)
    }
  }

  @Test("A write is recorded with where and why, whether it was made or refused; never with its values")
  func audit() async throws {
    try await APIServer.run { server in
      let long = String(repeating: "x", count: 6000)
      _ = try await send(server, "PUT", #"{"path":"users/bob/name","value":"secret \#(long)","reason":"a typo"}"#)
      _ = try await send(server, "DELETE", #"{"path":"users/bob","reason":"asked for","ifRevision":0}"#, status: 409)
      let log = try await server.send("GET", "/admin/v1/audits?action=data", headers: APIServer.admin)
      let rows = log.json?["actions"]?.array ?? []
      #expect(rows.map { $0["action"]?.string } == ["data.remove", "data.set"])
      #expect(rows.last?["detail"]?["body"] == ["path": "users/bob/name", "reason": "a typo"])
      #expect(rows.last?["detail"]?["bodyBytes"]?.int ?? 0 > 6000 && rows.last?["result"] == "ok")
      #expect(rows.first?["detail"]?["body"]?["reason"] == "asked for")
      #expect(rows.first?["result"]?.string?.hasPrefix("/users/bob was changed by revision 1, after 0") == true)
      #expect(!log.body.contains("secret"))
    }
  }

  @Test("What changed after the revision that somebody saw is not overwritten: written, removed, below; other places may")
  func conditions() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/users/bob.json", #"{"level":4,"name":"Bob"}"#), .init("PUT", "/users/bobby.json", "1"))
      func write(_ revision: Int64, status: Int = 200) async throws -> JSON {
        try await send(
          server, "PUT",
          #"{"path":"users/bob","value":{"level":\#(revision),"name":"Bob"},"ifRevision":\#(revision),"reason":"x"}"#,
          status: status)
      }
      _ = try await write(0, status: 409)
      #expect(try await write(1)["revision"] == 3)
      let refusal = try await write(2, status: 409)
      #expect(refusal["code"] == "conflict")
      #expect(refusal["error"] == "/users/bob was changed by revision 3, after 2. Read it again and retry.")
      try await server.expect(.init("PUT", "/users/eve.json", "1"))
      #expect(try await write(3)["revision"] == 5)
      try await server.expect(.init("DELETE", "/users/bob/name.json"))
      _ = try await write(5, status: 409)
      #expect(try await write(6)["revision"] == 7)
      _ = try await write(99, status: 400)
      let body = #"{"path":"users/bob","method":"DELETE","ifRevision":6}"#
      #expect(try await preview(server, body, status: 409)["code"] == "conflict")
    }
  }

  @Test("Of writers who saw the same revision one is right, however close they come")
  func race() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/n.json", "0"))
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 1...12 {
          group.addTask {
            let body = #"{"path":"n","value":\#(number),"ifRevision":1,"reason":"race"}"#
            return try await server.send("PUT", "/admin/v1/data", body, headers: APIServer.admin).status
          }
        }
        return try await group.reduce(into: [Int]()) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 409 } == 11)
    }
  }

  @Test("A preview tells what would happen, and nothing does")
  func previews() async throws {
    let functions = DescribedFunctions()
    try await APIServer.run(functions: functions, participants: [EveryChange()]) { server in
      let users = #"{"bob":{"level":4,"inventory":{"pieces_of_eight":50}},"eve":{"level":1}}"#
      try await server.expect(.init("PUT", "/users.json", users), .init("PUT", "/flag.json", "true"))
      let (before, value) = (try server.revision(), try await server.value("/users.json"))
      let raise = try await preview(server, #"{"path":"users/bob/level","method":"PUT","value":5}"#)
      #expect(
        raise == [
          "leavesBefore": 1, "leavesAfter": 1, "leavesRemoved": 0,
          "events": [["path": "/users/bob/level", "kind": "updated", "functions": ["reward"]]], "eventCount": 1,
          "adjustments": [], "adjustmentCount": 0,
        ])
      let lower = try await preview(server, #"{"path":"users/bob/level","method":"PUT","value":3}"#)
      #expect(lower["events"]?.array?.first?["functions"] == [])
      let remove = try await preview(server, #"{"path":"users","method":"DELETE"}"#)
      #expect(remove["leavesBefore"] == 3 && remove["leavesAfter"] == 0 && remove["leavesRemoved"] == 3)
      #expect(
        remove["adjustments"] == [
          [
            "path": "/users/bob/inventory/pieces_of_eight", "account": "user:bob", "unit": "pieces_of_eight", "before": 50,
            "after": 0,
          ]
        ])
      let update = try await preview(
        server, #"{"path":"users","method":"PATCH","value":{"bob/inventory/pieces_of_eight":9007199254740993,"eve/name":"E"}}"#)
      #expect(update["leavesBefore"] == 1 && update["leavesAfter"] == 2 && update["leavesRemoved"] == 0)
      #expect(update["adjustments"]?.array?.first?["after"] == 9_007_199_254_740_993)
      let below = try await preview(server, #"{"path":"flag/deep","method":"PUT","value":{"a":1,"b":2}}"#)
      #expect(below["leavesBefore"] == 0 && below["leavesAfter"] == 2 && below["leavesRemoved"] == 1)
      let many = "{" + (0..<30).map { #""k\#($0)":1"# }.joined(separator: ",") + "}"
      let wide = try await preview(server, #"{"path":"wide","method":"PUT","value":\#(many)}"#)
      #expect(wide["eventCount"] == 30 && wide["events"]?.array?.count == 20)
      #expect(try server.revision() == before)
      #expect(try await server.value("/users.json") == value)
      let log = try await server.send("GET", "/admin/v1/audits?action=data", headers: APIServer.admin)
      #expect(log.json?["actions"] == [])
    }
  }

  @Test("What makes no sense is refused with a sentence, and nothing is removed by a value that was forgotten")
  func refusals() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/a.json", "1"))
      for (method, body, words) in [
        ("PUT", #"{"path":"a","reason":"x"}"#, "\"value\" is missing"),
        ("PUT", #"{"path":"a","value":2}"#, "\"reason\" is missing"),
        ("PUT", #"{"path":"a","value":2,"reason":""}"#, "not empty"),
        ("PATCH", #"{"path":"a","value":2,"reason":"x"}"#, "an object"),
        ("DELETE", #"{"path":"a","value":2,"reason":"x"}"#, "takes no \"value\""),
        ("PUT", #"{"path":"a.b","value":2,"reason":"x"}"#, "a.b"),
        ("PUT", #"{"path":"a","value":{"x.y":1},"reason":"x"}"#, "x.y"),
        ("PATCH", #"{"path":"a/.priority","value":{"b":1},"reason":"x"}"#, "no children"),
        ("PUT", #"{"path":"b/.priority","value":1,"reason":"x"}"#, "does not exist"),
      ] {
        let answer = try await send(server, method, body, status: 400)
        #expect(answer["error"]?.string?.contains(words) == true, "\(body): \(answer.compactText)")
      }
      _ = try await preview(server, #"{"path":"a","method":"POST","value":1}"#, status: 400)
      _ = try await preview(server, #"{"path":"a","method":"PUT"}"#, status: 400)
      #expect(try await server.value("/a.json") == "1")
    }
  }
}

/// Functions that are only described: one that waits for levels that rise to 5.
private final class DescribedFunctions: FunctionOperating {
  let problems: [String] = []

  var descriptions: [FunctionDescription] {
    [
      FunctionDescription(
        name: "reward", pattern: "users/{uid}/level", players: ["uid"], kinds: [.updated], runsOn: "an update rising to 5",
        admits: { before, after in (before?.intValue ?? 0) < 5 && after?.intValue == 5 })
    ]
  }

  func functionRecords() throws -> [FunctionRecord] { [] }
  func pause(_ function: String, reason: String, by actor: Actor) async throws {}
  func resume(_ function: String, by actor: Actor) async throws {}
  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws -> Int { 0 }
  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws {}
  func drain(timeoutMilliseconds: Int64) async -> DrainReport { DrainReport(isComplete: true, running: [], unfinished: []) }
}
