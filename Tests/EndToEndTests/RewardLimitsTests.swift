import Accounts
import FunctionsKit
import NIOHTTP1
import Testing
import TreeModel

@testable import AdminClient
@testable import ServerConfiguration

/// A studio's function that declares limits: held in the ledger beyond them, seen and ended by an administrator.
struct RewardLimitsTests {
  private static let waits: HTTPHeaders = ["X-Doubloon-Wait": "effects"]

  private enum Pirates {
    static let joined = TreePath<UserID, UserID>("/pirates/{uid}/captain")
    static let gems = TreePath<Int64, UserID>("/pirates/{uid}/gems")
  }

  /// Pays the captain three gems for each pirate who joins: two at once a day, more after a look.
  private static func register(_ functions: Functions) {
    functions.currency("gems", at: Pirates.gems)
    functions.onCreate(
      Pirates.joined, name: "payCaptain", options: FunctionOptions(limits: RewardLimits(perReferrer: 2))
    ) { event, context in
      try await context.credit(
        Pirates.gems, event.value, amount: 3, code: "joined", once: "joined/\(event.params)", subject: "\(event.params)",
        terms: RewardTerms(about: event.params, referrer: event.value))
      return .done
    }
  }

  private func running(_ settings: TreeNode, _ test: (RunningServer) async throws -> Void) async throws {
    let server = try await RunningServer(functions: Self.register) { $0.functionSettings = settings }
    do {
      try await test(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// Four pirates join the captain; the gems that were paid, and the reasons of those that wait.
  private func joined(_ server: RunningServer) async throws -> (gems: Int64, waiting: [String]) {
    for number in 0..<4 {
      _ = try await server.client.put("/pirates/p\(number)/captain.json", "anne", headers: Self.waits)
    }
    let holds = try await server.client.get("/admin/v1/ledger/holds")["holds"]?.array ?? []
    return (
      try await server.client.get("/pirates/anne/gems.json").int ?? 0, holds.compactMap { $0["reason"]?.string }
    )
  }

  @Test("What a function declares holds without a line of configuration; what is held is paid out by a person")
  func declared() async throws {
    try await running(.absent) { server in
      let (gems, waiting) = try await joined(server)
      #expect(gems == 6)
      #expect(waiting == Array(repeating: "review: more than 2 a day for one referrer (perReferrer)", count: 2))
      let functions = try await server.client.get("/admin/v1/functions")["functions"]?.array ?? []
      #expect(functions.first?["settings"] == ["perReferrer": 2, "untilConfirmed": false], "\(functions)")
      let hold = try #require(try await server.client.get("/admin/v1/ledger/holds")["holds"]?.array?.first?["sequence"]?.int)
      _ = try await server.client.post("/admin/v1/ledger/holds/\(hold)/release", ["reason": "known to us"])
      #expect(try await server.client.get("/pirates/anne/gems.json") == 9)
      #expect(try await server.client.get("/admin/v1/ledger/verify")["sound"] == true)
    }
  }

  @Test("The configuration overrides a declared limit, and may ask for a confirmed address beside it")
  func overridden() async throws {
    try await running(["payCaptain": ["perReferrer": 3]]) { server in
      let (gems, waiting) = try await joined(server)
      #expect(gems == 9 && waiting == ["review: more than 3 a day for one referrer (perReferrer)"], "\(waiting)")
    }
    try await running(["payCaptain": ["perReferrer": 100, "untilConfirmed": true]]) { server in
      let (gems, waiting) = try await joined(server)
      #expect(gems == 0 && waiting.count == 4 && waiting.allSatisfy { $0.hasPrefix("unconfirmed: ") }, "\(waiting)")
      let functions = try await server.client.get("/admin/v1/functions")["functions"]?.array ?? []
      let names = functions.compactMap { $0["name"]?.string }
      #expect(names.contains("releaseConfirmedRewards"))
    }
  }
}
