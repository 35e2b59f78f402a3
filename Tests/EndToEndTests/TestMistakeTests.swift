import DoubloonTesting
import FunctionsKit
import Testing
import TreeModel

/// Mistakes in the tests of a function's author: each fails its own test, with a sentence.
struct TestMistakeTests {
  private static func register(_ functions: Functions) {
    functions.onCreate(Game.badge, name: "welcome") { _, _ in .done }
  }

  private func message(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "nothing"
    } catch {
      return "\(error)"
    }
  }

  @Test("Outcomes say why there are none: nothing is registered, nothing matched, nothing changed")
  func silence() async throws {
    try await TestServer.run({ _ in }) { server in
      let write = try await server.set("/users/bob/badge", "gold")
      #expect(
        "\(write.outcomes)"
          == "none: no function is registered; give TestServer.run the function that registers the game's")
    }
    try await TestServer.run(Self.register) { server in
      let other = try await server.set("/users/bob/level", 1)
      #expect(
        "\(other.outcomes)"
          == "none: no function wants what the write changed; there are welcome (onCreate /users/{uid}/badge, "
          + "any change)")
      let same = try await server.set("/users/bob/level", 1)
      #expect("\(same.outcomes)" == "none: the write changed nothing")
      let write = try await server.set("/users/bob/badge", "gold")
      #expect(write.outcomes == ["welcome": .done] && "\(write.outcomes)" == #"["welcome": .done]"#)
      #expect(write.outcomes["welcome"] == .done && other.outcomes == [:])
    }
  }

  @Test("An illegal path fails the call that it was given to", arguments: ["/users/a.b/level", "/users/$x", "/a\u{7}"])
  func paths(_ path: String) async throws {
    try await TestServer.run(Self.register) { server in
      for text in [
        await message { try await server.set(path, 1) }, await message { try await server.update("/", [path: 1]) },
        await message { try await server.increment(path, by: 1) }, await message { try await server.remove(path) },
        await message { _ = try await server.node(path) }, await message { _ = try await server.balance(path) },
      ] {
        #expect(text.hasPrefix("\"\(path)\" is no path: "), "\(text)")
      }
      await #expect(throws: (any Error).self) { try await server.get(Game.level, "a.b") }
      let unknown = await message { _ = try await server.balance("/gems/bob") }
      #expect(unknown.contains("functions.currency(\"gems\", at: place)"), "\(unknown)")
    }
  }

  @Test("A misspelt pattern and a wrong setting fail the test that registers them")
  func patterns() async throws {
    let misspelt = await message {
      try await TestServer.run({ functions in
        functions.onCreate(TreePath<Int, UserID>("/users/{uid/level"), name: "misspelt") { _, _ in .done }
      }) { _ in }
    }
    #expect(misspelt.hasPrefix("misspelt: TreePath(\"/users/{uid/level\"): Invalid pattern:"), "\(misspelt)")
    let setting = await message {
      try await TestServer.run(
        { functions in functions.onCreate(Game.badge, name: "welcome", settings: Amount()) { _, _, _ in .done } },
        settings: ["welcome": ["amuont": 3]]
      ) { _ in }
    }
    #expect(setting == "welcome has no setting amuont; it has amount.")
  }

  @Test("Coins for a place that is no balance name the way to declare a currency")
  func currency() async throws {
    try await TestServer.run({ functions in
      functions.onCreate(Game.badge, name: "pay") { event, context in
        try await context.credit(TreePath<Int64, UserID>("/pirates/{uid}/gems"), event.params, amount: 1, code: "badge")
        return .done
      }
    }) { server in
      guard case .dead(let reason) = try await server.set("/users/bob/badge", "gold").outcomes["pay"] else {
        Issue.record("it was paid")
        return
      }
      #expect(
        reason.hasPrefix("/pirates/bob/gems is no currency's balance; nothing was paid. Declare the currency beside the "))
      #expect(reason.contains("functions.currency(\"gems\", at: place)") && reason.contains("pieces_of_eight at /users/{uid}"))
    }
  }
}
