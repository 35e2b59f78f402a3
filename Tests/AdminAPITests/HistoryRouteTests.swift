import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

/// The tree as it was.
struct HistoryRouteTests {
  /// Commits a second apart: bob's levels 1 to 4, a priority, eve, and bob's record removed.
  private func prepare(_ server: APIServer) async throws {
    for level in 1...4 {
      try await server.expect(.init("PUT", "/users/bob/level.json", "\(level)"))
      server.clock.advance(by: 1000)
    }
    try await server.expect(.init("PUT", "/users/bob/.priority.json", "7"))
    server.clock.advance(by: 1000)
    try await server.expect(.init("PUT", "/users/eve/name.json", #""Eve""#))
    server.clock.advance(by: 1000)
    try await server.expect(.init("DELETE", "/users/bob.json"))
  }

  private func get(_ server: APIServer, _ path: String, status: Int = 200) async throws -> JSON {
    let response = try await server.send("GET", "/admin/v1/\(path)", headers: APIServer.admin)
    #expect(response.status == status, "\(path): \(response.body)")
    return response.json ?? .null
  }

  @Test("A value as of every revision, and as of times between the commits, is the value of then")
  func past() async throws {
    try await APIServer.run { server in
      try await prepare(server)
      for (parameters, value) in [
        ("revision=0", .null), ("revision=1", 1), ("revision=3", 3), ("revision=6", 4), ("revision=7", .null), ("", .null),
        ("time=\(APIServer.start - 1)", .null), ("time=\(APIServer.start + 999)", 1), ("time=\(APIServer.start + 1000)", 2),
      ] as [(String, JSON)] {
        let answer = try await get(server, "data?path=users/bob/level&\(parameters)")
        #expect(answer["value"] == value, "\(parameters)")
      }
      let record = try await get(server, "data?path=users/bob&revision=6&format=export")
      #expect(record["value"] == ["level": 4, ".priority": 7] && record["time"]?.int == APIServer.start + 5000)
      let priority = try await get(server, "data?path=users/bob/.priority&revision=5")
      #expect(priority["value"] == 7)
      let future = try await get(server, "data?path=users&revision=8", status: 404)
      #expect(future["error"]?.string?.contains("must be 0 to 7") == true)
      _ = try await get(server, "data?path=users&revision=1&time=5", status: 400)
      _ = try await get(server, "data?path=a.b", status: 400)
    }
  }

  @Test("A difference is what makes one state the other, priorities included")
  func differences() async throws {
    try await APIServer.run { server in
      try await prepare(server)
      let diff = try await get(server, "data/diff?path=users&from=2&to=6")
      #expect(
        diff["changes"] == [
          ["path": "/users/bob/.priority", "before": .null, "after": 7],
          ["path": "/users/bob/level", "before": 2, "after": 4],
          ["path": "/users/eve/name", "before": .null, "after": "Eve"],
        ])
      let back = try await get(server, "data/diff?path=users/bob&from=6&toTime=\(APIServer.start)&limit=1")
      #expect(back["count"] == 2 && back["changes"]?.array?.count == 1 && back["to"] == 1)
      #expect(try await get(server, "data/diff?path=users&from=7")["count"] == 0)
      _ = try await get(server, "data/diff?path=users", status: 400)
    }
  }

  @Test("The log of a place names the commits that touched it, with what they did there")
  func log() async throws {
    try await APIServer.run { server in
      try await prepare(server)
      func revisions(_ query: String) async throws -> [Int64] {
        (try await get(server, "data/log?\(query)")["commits"]?.array ?? []).compactMap { $0["revision"]?.int }
      }
      #expect(try await revisions("path=users/bob/level") == [7, 4, 3, 2, 1])
      #expect(try await revisions("path=users/bob") == [7, 5, 4, 3, 2, 1])
      #expect(try await revisions("path=users/eve") == [6])
      #expect(try await revisions("path=users/nobody").isEmpty)
      #expect(try await revisions("path=users&since=\(APIServer.start + 3000)&until=\(APIServer.start + 5000)") == [6, 5, 4])
      let page = try await get(server, "data/log?path=users/bob/level&limit=2")
      #expect(page["next"] == 4 && page["complete"] == false)
      #expect(try await revisions("path=users/bob/level&before=4") == [3, 2, 1])
      let last = try await get(server, "data/log?path=users/bob&limit=1")["commits"]?.array?.first
      #expect(last?["changeCount"] == 2 && last?["actor"] == "anonymous" && last?["triggers"] == true)
    }
  }

  @Test("Long texts are cut where that is asked for, and an answer holds no more changes than fit")
  func cut() async throws {
    try await APIServer.run { server in
      let long = String(repeating: "é", count: 100_000)
      try await server.expect(.init("PUT", "/note.json", "\"\(long)\""))
      let members = (0..<20).map { #""k\#($0)":"\#(String(repeating: "x", count: 9000))""# }
      for _ in 0..<3 {
        try await server.expect(
          .init("PUT", "/many.json", "{" + members.joined(separator: ",") + "}"), .init("DELETE", "/many.json"))
      }
      let log = try await get(server, "data/log?path=note&cut=1024")
      let change = log["commits"]?.array?.first?["changes"]?.array?.first
      #expect(change?["after"]?.string == String(long.prefix(512)) && change?["cut"] == true && change?["before"] == .null)
      let whole = try await get(server, "data/log?path=note")["commits"]?.array?.first?["changes"]?.array?.first
      #expect(whole?["after"]?.string == long && whole?["cut"] == nil)
      let many = try await get(server, "data/log?path=many&cut=4096")
      let commits = many["commits"]?.array ?? []
      #expect(commits.count == 6 && commits.allSatisfy { $0["changeCount"] == 20 })
      let shown = commits.reduce(0) { $0 + ($1["changes"]?.array?.count ?? 0) }
      #expect(shown == 10 && many.compactText.utf8.count < 64 << 10, "\(shown)")
      let diff = try await get(server, "data/diff?path=/&from=0&to=2&cut=1024")
      #expect(diff["count"] == 21 && diff.compactText.utf8.count < 64 << 10 && diff["changes"]?.array?.count == 21)
      _ = try await get(server, "data/log?path=note&cut=0", status: 400)
    }
  }

  @Test("The log brings no more changes of a commit than were asked for, and counts them all", arguments: [0, 1, 20])
  func changesOfTheLog(limit: Int) async throws {
    try await APIServer.run { server in
      try await prepare(server)
      let log = try await get(server, "data/log?path=users/bob&limit=1&changes=\(limit)")
      let commit = try #require(log["commits"]?.array?.first)
      #expect(commit["changeCount"] == 2 && commit["changes"]?.array?.count == min(limit, 2))
      _ = try await get(server, "data/log?path=users/bob&changes=21", status: 400)
    }
  }
}
