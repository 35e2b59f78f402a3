import AdminModel
import Glibc
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import ServerApp
@testable import ServerConfiguration

/// The store of each version, as its own program left it: opened, verified, compared and played on by this one.
struct StoredFixtureTests {
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
  private static let folder = "\(root)/Fixtures/stores"

  /// The versions of which a store is kept.
  static let versions = names(in: folder).filter { access("\(folder)/\($0)/doubloon.db", R_OK) == 0 }

  /// What is in a folder, sorted, but for hidden files.
  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  /// A copy of a version's store, as a server's data folder, and what is in it.
  private static func copy(_ version: String) throws -> (folder: TemporaryFolder, expected: JSON) {
    let (source, target) = ("\(folder)/\(version)", TemporaryFolder())
    mkdir(target.file("data"), 0o700)
    try FileBytes.write(try FileBytes.contents(of: "\(source)/doubloon.db"), to: target.file("data/doubloon.db"))
    try DiskFiles.copy(folder: "\(source)/keys", to: target.file("data/keys"))
    // A checkout does not keep who may read a key.
    for name in names(in: target.file("data/keys")) { chmod(target.file("data/keys/\(name)"), 0o600) }
    let text = String(decoding: try FileBytes.contents(of: "\(source)/expected.json"), as: UTF8.self)
    return (target, try JSONParser.parse(text))
  }

  /// Starts a server on a copy, and runs a test against it.
  private func serving(_ version: String, _ test: (RunningServer, JSON) async throws -> Void) async throws {
    let (folder, expected) = try Self.copy(version)
    let server = try await RunningServer(folder: folder)
    do {
      try await test(server, expected)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private func balances(_ server: RunningServer) async throws -> [String: JSON] {
    let users = try await server.client.get("/users.json").object ?? []
    let pairs = users.compactMap { user in user.value["inventory"]?["pieces_of_eight"].map { (user.key, $0) } }
    return Dictionary(pairs) { $1 }
  }

  private func pairs(_ object: JSON?) -> [String: JSON] {
    Dictionary((object?.object ?? []).map { ($0.key, $0.value) }) { $1 }
  }

  @Test("A store of every version is kept, the first one's too")
  func kept() {
    #expect(Self.versions.contains("0.1.0-dev"))
  }

  @Test("What an older version stored is sound here, and all of it is there", arguments: versions)
  func content(_ version: String) async throws {
    try await serving(version) { server, expected in
      #expect(try await server.client.call(AdminSystem.verify).value.sound)
      #expect(try await balances(server) == pairs(expected["balances"]))
      let config = try await server.client.get("/config.json", query: [QueryItem("format", "export")])
      #expect(pairs(config) == pairs(expected["config"]))
      let namespace = try await server.client.call(AdminSystem.namespaces).value.namespaces[0]
      #expect(namespace.name == expected["namespace"]?.string)
      #expect(JSON.int(namespace.entries) == expected["entries"] && JSON.int(namespace.revision) == expected["revision"])
      let status = try await server.client.get("/admin/v1/status")
      #expect(status["deadLetters"]?["count"] == expected["deadLetters"])

      for (email, uid) in pairs(expected["accounts"]) where !email.isEmpty {
        let answer = try await server.player.post(
          "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k",
          ["email": .string(email), "password": expected["password"] ?? .null])
        #expect(answer["localId"] == uid)
      }
      let session = try await server.player.post(
        "/securetoken.googleapis.com/v1/token?key=k",
        ["grant_type": "refresh_token", "refresh_token": expected["refreshToken"] ?? .null])
      #expect(session["user_id"] == expected["accounts"]?["ann@example.com"])
    }
  }

  @Test("The game goes on: what was paid is not paid again, what comes is paid once, and all adds up", arguments: versions)
  func playedOn(_ version: String) async throws {
    try await serving(version) { server, expected in
      let client = server.client
      var coins = pairs(expected["balances"])
      // Paid in the version before: the business key stands in its ledger.
      for level: JSON in [4, 5] { _ = try await client.put("/users/player0/level.json", level) }
      let bonny: JSON = ["name": "Bonny", "referred_by": "player5", "level": 4]
      _ = try await client.put("/users/bonny.json", bonny)
      _ = try await client.put("/users/bonny/last_signin_at.json", 1_767_225_900_000)
      _ = try await client.put("/users/bonny/level.json", 5)
      try await server.application.settle()
      coins["bonny"] = 50
      #expect(try await balances(server) == coins)

      // The function was paused when the fixture was made; its events waited.
      _ = try await client.post("/admin/v1/functions/rewardReferrals/resume", [:])
      try await server.application.settle()
      coins["player5"] = .int((coins["player5"]?.int ?? 0) + 50)
      #expect(try await balances(server) == coins)
      #expect(try await client.call(AdminSystem.verify).value.sound)
    }
  }
}
