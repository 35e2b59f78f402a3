import AdminModel
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import AdminAPI

/// The tree as documents: exports and imports.
struct TransferRouteTests {
  private func take(_ server: APIServer, _ body: String, status: Int = 200) async throws -> JSON {
    let response = try await server.send("POST", "/admin/v1/data/import", body, headers: APIServer.admin)
    #expect(response.status == status, "\(body.prefix(200)): \(response.body)")
    return response.json ?? .null
  }

  private func export(_ server: APIServer, _ query: String, status: Int = 200) async throws -> RawResponse {
    let response = try await server.send("GET", "/admin/v1/data/export?\(query)", headers: APIServer.admin)
    #expect(response.status == status, "\(query): \(response.body)")
    return response
  }

  @Test("An import replaces: a dry run counts what it would do, and it does that; functions see it only if they shall")
  func importing() async throws {
    try await APIServer.run(participants: [EveryChange()]) { server in
      try await server.expect(.init("PUT", "/at.json", #"{"a":1,"b":{"c":2,"d":3},"e":4,"gone":{"x":1}}"#))
      func body(_ flags: String) -> String {
        #"{"path":"at","value":{"a":1,"b":{"c":"new","n":{".value":5,".priority":2},".priority":"p"},"e":{"f":1}},"#
          + #""last":true,"reason":"a copy"\#(flags)}"#
      }
      let trial = try await take(server, body(#","dryRun":true,"triggers":true"#))
      #expect(trial["added"] == 2 && trial["changed"] == 1 && trial["removed"] == 3 && trial["same"] == 1)
      #expect(trial["priorities"] == 1 && trial["events"] == 6 && trial["complete"] == true && trial["taken"] == 4)
      #expect(trial["revision"] == 1)
      #expect(try await server.value("/at/b/c.json") == "2")
      let made = try await take(server, body(""))
      #expect(made["removed"] == 3 && made["revision"] == 2 && made["complete"] == true)
      let namespace = try #require(server.database.namespace(named: "game"))
      let commit = try server.database.engine.read { snapshot in try snapshot.commit(in: namespace, at: Revision(2)) }
      #expect(commit?.suppressesTriggers == true)
      let found = try await export(server, "path=/at")
      #expect(
        found.body == #"{"a":1,"b":{".priority":"p","c":"new","n":{".value":5,".priority":2}},"e":{"f":1}}"#)
      let again = try await take(server, body(#","triggers":true"#))
      #expect(again["same"] == 4 && again["events"] == 0 && again["revision"] == 2)
    }
  }

  @Test("An export is the state of one revision, null where nothing is, one value where there is one; and is recorded")
  func exporting() async throws {
    try await APIServer.run { server in
      let keys = (0..<6000).map { #""k\#($0)":{"v":\#($0)}"# }.joined(separator: ",")
      try await server.expect(
        .init("PUT", "/many.json", "{\(keys)}"), .init("PUT", "/one.json", "7"), .init("DELETE", "/many/k3.json"))
      let whole = try await export(server, "path=/many")
      #expect(whole["transfer-encoding"] == "chunked" && whole["x-doubloon-revision"] == "3")
      #expect(whole["content-disposition"] == "attachment; filename=\"game-r3.json\"")
      #expect(whole.json?.object?.count == 5999 && whole.json?["k5999"]?["v"] == 5999)
      #expect(try await export(server, "path=/many&revision=1").json?.object?.count == 6000)
      #expect(try await export(server, "path=/one").body == "7")
      #expect(try await export(server, "path=/none").body == "null")
      #expect(try await export(server, "path=/one&revision=1").body == "null")
      #expect(try await export(server, "path=/one&revision=9", status: 404).json?["code"] == "not_found")
      #expect(try await export(server, "path=/a.b", status: 400).error?.isEmpty == false)
      let head = try await server.send("HEAD", "/admin/v1/data/export?path=/one", headers: APIServer.admin)
      #expect(head.status == 200 && head.body.isEmpty)
      let log = try await server.send("GET", "/admin/v1/audit?action=data.export", headers: APIServer.admin)
      let rows = log.json?["actions"]?.array ?? []
      #expect(rows.contains { $0["detail"]?["path"] == "/many" && $0["result"] == "ok" && $0["actor"] == "admin:owner" })
      #expect(rows.contains { $0["result"]?.string?.hasPrefix("There is no revision 9") == true })
    }
  }

  @Test("What makes no part is refused with what to do, and changes nothing")
  func refusals() async throws {
    try await APIServer.run { server in
      try await server.expect(.init("PUT", "/at.json", #"{"a":1}"#))
      for (body, words) in [
        (#"{"path":"at","reason":"x"}"#, "There is no value in this part"),
        (#"{"path":"at","value":{"a":1},"after":"at/b","reason":"x"}"#, "/at/a comes before after"),
        (#"{"path":"at","value":{"a":1},"after":"other","reason":"x"}"#, "after must be path or lie below it"),
        (#"{"path":"at","value":{"a":{".sv":"timestamp"}},"reason":"x"}"#, "server values are not allowed"),
        (#"{"path":"at","value":{"a.b":1},"reason":"x"}"#, "a.b"), (#"{"path":"at","value":{"a":1}}"#, "reason"),
        (#"{"path":"at","value":{"a":{".value":1,"b":2}},"reason":"x"}"#, ".value"),
      ] {
        #expect(try await take(server, body, status: 400)["error"]?.string?.contains(words) == true, "\(words)")
      }
      #expect(try server.revision() == 1)
    }
  }

  @Test("What is removed, replaced and added makes balances' openings, and the record says where and why, not what")
  func ledger() async throws {
    try await APIServer.run { server in
      _ = try await take(
        server, #"{"path":"/","value":{"users":{"eve":{"inventory":{"pieces_of_eight":7}}}},"last":true,"reason":"moved"}"#)
      let balance = try await server.send("GET", "/admin/v1/ledger/statement?account=user:eve", headers: APIServer.admin)
      #expect(balance.json?["entries"]?.array?.first?["code"] == "opening")
      let log = try await server.send("GET", "/admin/v1/audit?action=data.import", headers: APIServer.admin)
      #expect(log.json?["actions"]?.array?.first?["detail"]?["body"] == ["path": "/", "last": true, "reason": "moved"])
      // A part that others write into at the same time is begun again: none of them waits for the whole.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<6 {
          group.addTask { try await server.expect(.init("PUT", "/users/w\(number).json", "1")) }
          group.addTask {
            let body = #"{"path":"/","value":{"users":{"x\#(number)":1}},"after":"/users/x","reason":"x"}"#
            _ = try await server.send("POST", "/admin/v1/data/import", body, headers: APIServer.admin)
          }
        }
        try await group.waitForAll()
      }
      #expect(try await server.value("/users/w5.json") == "1")
    }
  }

  @Test("Whatever stood there, and however it is cut: in the end there is the document, and nothing beside it changed")
  func model() async throws {
    var random = RandomTree(seed: 21)
    try await APIServer.run { server in
      let namespace = try await server.database.openNamespace(named: "game")
      for round in 0..<150 {
        let (old, new) = (random.node(depthMax: 4), random.node(depthMax: 4))
        let base = random.chance(3) ? Path.root : random.path(depthMax: 2)
        _ = try await commit(server, namespace, [.set(.root, WriteNode(TreeNode.absent.setting(base, to: old)))])
        let before = try tree(server, namespace)
        let leaves = new.leaves(at: PathBytes(base))
        let sum = try await send(leaves, at: base, to: server, namespace, &random)
        let found = try tree(server, namespace)
        #expect(found == before.setting(base, to: new), "round \(round) at \(base)")
        #expect(sum == leaves.count { !$0.path.isPriority }, "round \(round)")
      }
    }
  }

  /// Sends leaves in parts of a few values, of each of which a few are taken at once; how many values were taken.
  private func send(
    _ leaves: [Leaf], at base: Path, to server: APIServer, _ namespace: NamespaceID, _ random: inout RandomTree
  ) async throws -> Int {
    var (at, after, isDone) = (0, String?.none, false)
    let ends = leaves.indices.filter { !leaves[$0].path.isPriority }
    while !isDone {
      let count = random.pick([1, 2, 3, 7, 1000])
      let to = min(at + count, ends.count)
      // From behind the last value's priority up to the last value, with its own priority.
      let start = at == 0 ? 0 : end(of: ends[at - 1], in: leaves)
      let stop = to == 0 ? 0 : end(of: ends[to - 1], in: leaves)
      let value = start < stop ? TreeNode(leaves: leaves[start..<stop], at: PathBytes(base))?.jsonValue(.export) : nil
      let order = AdminTree.ImportOrder(path: "\(base)", value: value, after: after, last: to == ends.count, reason: "x")
      let part = try ImportPart(order, bounds: .none)
      let plan = try server.database.engine.read { snapshot in
        try ImportPlan(part, in: namespace, valuesMax: random.pick([1, 2, 5, 1000]), snapshot: snapshot)
      }
      let operations = try [plan.values, plan.priorities].filter { !$0.isEmpty }.map { try WriteOperation.update(base, $0) }
      if !operations.isEmpty { _ = try await commit(server, namespace, operations) }
      at += Int(plan.answer.taken)
      after = plan.answer.through ?? after
      isDone = plan.answer.complete
    }
    return at
  }

  private func end(of value: Int, in leaves: [Leaf]) -> Int {
    let next = value + 1
    return next < leaves.count && leaves[next].path == leaves[value].path.priority ? next + 1 : next
  }

  private func commit(_ server: APIServer, _ namespace: NamespaceID, _ operations: [WriteOperation]) async throws -> Bool {
    let request = CommitRequest(namespace: namespace, actor: .admin("owner"), operations: operations)
    return try await server.database.commit(request).changed
  }

  private func tree(_ server: APIServer, _ namespace: NamespaceID) throws -> TreeNode {
    let leaves = try server.database.engine.read { snapshot in
      try snapshot.leaves(in: namespace, under: .root, limit: 100_000).map(\.leaf)
    }
    return try #require(TreeNode(leaves: leaves, at: .root))
  }
}
