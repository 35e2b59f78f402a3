import FunctionsKit
import NIOHTTP1
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// A function that dies is seen by the client that wrote, by administrators, and by those who ask about the player.
struct DeadLetterTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  /// A function of players that gives up, one of teams whose second capture is a player, one that is told of what another did,
  /// and one that fails and tries again.
  private static func register(_ functions: Functions) {
    functions.onWrite(TreePath<Int64, UserID>("/users/{uid}/level"), name: "pay") { event, context in
      if event.after == 13 { throw PermanentError("thirteen is unlucky") }
      if event.after == 5 { try await context.set(TreePath<Bool, UserID>("/badges/{uid}"), event.params, to: true) }
      if event.after == 7 { throw Oops() }
      return .done
    }
    functions.onCreate(TreePath<Bool, UserID>("/badges/{uid}"), name: "praise") { _, _ in throw PermanentError("no words") }
    functions.onCreate(TreePath<String, String, UserID>("/teams/{team}/members/{member}"), name: "greet") { _, _ in
      throw PermanentError("lost the hat")
    }
    functions.onCreate(TreePath<Int, String>("/chests/{chest}"), name: "open") { event, context in
      _ = try await context.get(TreePath<Int, String>("/keys/{key}"), event.params)
      return .done
    }
  }

  private func effects(_ server: RunningServer, _ path: String, _ value: JSON) async throws -> String? {
    var writer = JSONWriter()
    writer.write(value)
    let answer = try await server.client.send(.PUT, path, headers: Self.waits, body: writer.bytes)
    return answer.headers.first(name: "X-Doubloon-Effects")
  }

  private func run(_ test: (RunningServer) async throws -> Void) async throws {
    let server = try await RunningServer(functions: Self.register)
    do {
      try await test(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test("Who waits for the effects is told which function gave up, or tries again, also one that another function started")
  func header() async throws {
    try await run { (server: RunningServer) async throws in
      #expect(try await effects(server, "/users/bob/level.json", 4) == "settled")
      #expect(try await effects(server, "/users/bob/level.json", 13) == "dead;function=pay")
      #expect(try await effects(server, "/users/bob/level.json", 5) == "dead;function=praise")
      #expect(try await effects(server, "/users/eve/level.json", 7) == "waiting;function=pay")
    }
  }

  @Test("status and the list of functions name what they gave up on and what they try again, with event and reason")
  func listings() async throws {
    try await run { (server: RunningServer) async throws in
      _ = try await effects(server, "/users/bob/level.json", 13)
      _ = try await effects(server, "/users/eve/level.json", 7)
      _ = try await server.client.post("/admin/v1/functions/greet/pause", ["reason": "new hats"])
      let status = try await server.client.get("/admin/v1/status")
      let dead = status["deadLetters"]?["functions"]?.array?.first
      #expect(status["deadLetters"]?["count"] == 1 && dead?["function"] == "pay")
      #expect(dead?["event"]?.string?.hasSuffix(":/users/bob/level") == true && dead?["error"] == "thirteen is unlucky")
      #expect(status["retries"]?["functions"]?.array?.first?["event"]?.string?.hasSuffix(":/users/eve/level") == true)
      #expect(status["pausedFunctions"] == [["name": "greet", "reason": "new hats"]])
      #expect((status["disk"]?["freeBytes"]?.int ?? 0) > 0 && status["disk"]?["folder"]?.string == server.folder.file("data"))
      let functions = try await server.client.get("/admin/v1/functions")["functions"]?.array ?? []
      let pay = functions.first { $0["name"] == "pay" }
      #expect(pay?["deadLetters"]?["count"] == 1 && pay?["deadLetters"]?["error"] == "thirteen is unlucky")
      #expect(pay?["retries"]?["count"] == 1)
      #expect(functions.first { $0["name"] == "open" }?["deadLetters"] == nil)
    }
  }

  @Test("why names a dead letter of the player at any capture that is typed as one, and takes no other key for a player")
  func why() async throws {
    try await run { (server: RunningServer) async throws in
      _ = try await effects(server, "/teams/owls/members/bob.json", "captain")
      let bob = try await server.client.get("/admin/v1/why", query: [QueryItem("uid", "bob")])
      #expect(bob["deadLetters"]?.array?.map { $0["function"] } == ["greet"])
      let text = (bob["lines"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
      let event = bob["deadLetters"]?.array?.first?["event"]?.string ?? ""
      #expect(text.contains("greet gave up on \(event) after 1 attempt: lost the hat"), "\(text)")
      #expect(text.contains("doubloon replay --event \(event) --function greet --reason TEXT"), "\(text)")

      _ = try await effects(server, "/chests/c1.json", 1)
      let chest = try await server.client.get("/admin/v1/why", query: [QueryItem("uid", "c1")])
      #expect(chest["functions"]?.array?.contains { $0["function"] == "open" } == false)
      let owls = try await server.client.get("/admin/v1/why", query: [QueryItem("uid", "owls")])
      #expect(owls["deadLetters"] == [] && owls["known"] == false)
      #expect(owls["lines"]?.array?.first?.string?.hasPrefix("There is no player owls: no account") == true)
      #expect(owls["lines"]?.array?.count == 1)
    }
  }

  @Test("What stands at a place and is of another type fails for good, and says what was expected and what was found")
  func types() async throws {
    try await run { (server: RunningServer) async throws in
      _ = try await server.client.put("/keys/c1.json", "brass")
      #expect(try await effects(server, "/chests/c1.json", 1) == "dead;function=open")
      let letters = try await server.client.get("/admin/v1/dead-letters")
      #expect(
        letters["deadLetters"]?.array?.first?["lastError"]
          == "/keys/c1 is not of the type that the function's TreePath gives it: expected Int, found a string.")
      #expect(try await effects(server, "/users/bob/level.json", "five") == "settled")
      let events = try await server.client.get("/admin/v1/events", query: [QueryItem("path", "/users/bob/level")])
      #expect(
        events["events"]?.array?.first?["executions"]?.array?.first?["reason"]
          == "type_mismatch: /users/{uid}/level: expected Int64, found a string")
    }
  }
}
