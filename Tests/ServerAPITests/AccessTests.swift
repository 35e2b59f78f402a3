import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import ServerAPI

/// Who may do what, in both modes (design §8).
struct AccessTests {
  static let production = AccessPolicy(mode: .production, adminTokens: [AdminToken(name: "ops", secret: "s3cret")])
  /// Claims `{"sub":"alice"}`, unsigned.
  static let token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."

  @Test("In production everything is refused that is not an administrator's")
  func production() async throws {
    try await APIServer.run(access: Self.production) { server in
      let denied = APIServer.error("Permission denied")
      let admin = ["authorization": "bearer s3cret"]
      try await server.expect(
        .init("GET", "/a.json", status: 401, is: denied), .init("PUT", "/a.json", "1", status: 401, is: denied),
        .init("GET", "/a.json", headers: APIServer.admin, status: 401, is: APIServer.error("Unauthorized request.")),
        .init("GET", "/a.json?auth=\(Self.token)", status: 401, is: APIServer.error("Could not parse auth token.")),
        .init("GET", "/a.json", headers: admin, status: 404), .init("PUT", "/a.json", "1", headers: admin, status: 404),
        .init("POST", "/admin/v1/namespaces", #"{"name":"game"}"#, headers: admin),
        .init("PUT", "/a.json", "1", headers: admin), .init("GET", "/a.json?access_token=s3cret", is: "1"),
        .init("GET", "/a.json?auth=s3cret", is: "1"), .init("GET", "/a.json", status: 401, is: denied),
        .init("DELETE", "/admin/v1/namespaces/game", headers: admin, status: 403),
        .init("POST", "/admin/v1/clock", #"{"advance":1}"#, headers: admin, status: 403),
        .init("GET", "/a.json", headers: ["Authorization": "Bearer s3cre"], status: 401),
        .init("GET", "/a.json?auth_variable_override=null", headers: admin, status: 401, is: denied))
    }
  }

  @Test("In development the tree is open, unsigned tokens name a user, malformed ones are refused")
  func development() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/a.json", "1"), .init("PUT", "/a.json?auth=\(Self.token)", "2"),
        .init("PUT", "/a.json", "3", headers: APIServer.admin), .init("PUT", "/a.json?access_token=owner", "4"),
        .init("PUT", #"/a.json?auth_variable_override={"uid":"bob"}"#, "5", headers: APIServer.admin),
        .init("GET", "/a.json?auth=nonsense", status: 401, is: APIServer.error("Could not parse auth token.")),
        .init("GET", "/a.json?auth=a.b.c", status: 401),
        .init("GET", "/a.json?auth_variable_override=5", headers: APIServer.admin, status: 401))
      let namespace = try #require(server.database.namespace(named: "game"))
      let commits = try server.database.engine.read { (snapshot) throws(StorageError) in
        try snapshot.commits(in: namespace, after: .zero, limit: 10)
      }
      #expect(
        commits.map(\.actor) == [.anonymous, .user(uid: "alice"), .admin("owner"), .admin("owner"), .user(uid: "bob")])
    }
  }

  @Test("disableTriggers, import and writeSizeLimit=unlimited need credentials")
  func privileges() async throws {
    try await APIServer.run { server in
      try await server.expect(
        .init("PUT", "/a.json?disableTriggers=true", "1"), .init("PUT", "/a.json?import=true", "1", status: 401),
        .init("PUT", "/a.json?writeSizeLimit=unlimited", "1", status: 401),
        .init("PUT", "/a.json?writeSizeLimit=huge", "1", status: 400), .init("PUT", "/a.json?writeSizeLimit=tiny", "1"),
        .init("PUT", "/a.json?disableTriggers=maybe", "1", status: 400),
        .init(
          "PUT", "/users/bob/inventory/pieces_of_eight.json?import=true&disableTriggers=true", "120", headers: APIServer.admin))
      let entries = try await server.send("GET", "/admin/v1/ledger/entries", headers: APIServer.admin)
      #expect(entries.json?["entries"]?.array?.first?["debit"] == "opening")
    }
  }
}
