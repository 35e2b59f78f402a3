import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import APISupport

/// Who may do what, in both modes.
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
      let commits = try server.database.engine.read { snapshot in
        try snapshot.commits(in: namespace, after: .zero, limit: 10)
      }
      #expect(
        commits.map(\.actor) == [.anonymous, .user(uid: "alice"), .admin("owner"), .admin("owner"), .user(uid: "bob")])
    }
  }

  /// An unsigned token with these claims.
  private static func token(_ claims: String) -> String { "eyJhbGciOiJub25lIn0." + Base64.encode(claims.utf8, as: .url) + "." }

  private static let ruled =
    #"{"rules":{"own":{"$uid":{".read":"auth.uid == $uid",".write":"auth.uid == $uid && auth.team == 'red'"}}}}"#

  @Test("A token of the database's first years: auth is what it holds in d; admin passes by the rules, in development alone")
  func legacy() async throws {
    let red = Self.token(#"{"v":0,"iat":1,"d":{"uid":"bob","team":"red"}}"#)
    let blue = Self.token(#"{"v":0,"iat":1,"d":{"uid":"bob","team":"blue"}}"#)
    let nobody = Self.token(#"{"v":0,"iat":1,"d":{"team":"red"}}"#)
    let admin = Self.token(#"{"v":0,"iat":1,"admin":true,"d":{"uid":"ops"}}"#)
    try await APIServer.run { server in
      let denied = APIServer.error("Permission denied")
      try await server.expect(
        .init("PUT", "/.settings/rules.json", Self.ruled, headers: APIServer.admin),
        .init("PUT", "/own/bob.json?auth=\(red)", "1"), .init("GET", "/own/bob.json?auth=\(blue)", is: "1"),
        .init("PUT", "/own/bob.json?auth=\(blue)", "2", status: 401, is: denied),
        .init("GET", "/own/bob.json?auth=\(nobody)", status: 401, is: denied),
        .init("PUT", "/elsewhere.json?auth=\(admin)", "3"), .init("GET", "/.json?auth=\(admin)"),
        // Claims of another's kind in d give nothing.
        .init("GET", "/.json?auth=\(Self.token(#"{"v":0,"d":{"uid":"bob","admin":true}}"#))", status: 401, is: denied),
        .init("GET", "/.json?auth=\(Self.token(#"{"v":0,"d":5}"#))", status: 401))
      // An explanation comes along, as with the claim debug of the hosted service: in development everybody gets it.
      let answer = try await server.send("PUT", "/own/bob.json?auth=\(blue)", "2")
      #expect(answer["x-firebase-auth-debug"]?.contains("auth.team == 'red'") == true)
      let namespace = try #require(server.database.namespace(named: "game"))
      let actors = try server.database.engine.read { snapshot in
        try snapshot.commits(in: namespace, after: .zero, limit: 10).map(\.actor)
      }
      #expect(actors.suffix(2) == [.user(uid: "bob"), .admin("ops")])
    }
    // Where administrators have a secret, nobody becomes one by a claim; in production no such token is one.
    let secret = AccessPolicy(mode: .development, adminTokens: [AdminToken(name: "owner", secret: "s3cret")])
    for (access, message) in [(secret, "Could not parse auth token."), (Self.production, "Could not parse auth token.")] {
      try await APIServer.run(access: access) { server in
        try await server.expect(.init("GET", "/a.json?auth=\(admin)", status: 401, is: APIServer.error(message)))
      }
    }
    try await APIServer.run(access: Self.production) { server in
      try await server.expect(.init("GET", "/a.json?auth=\(red)", status: 401))
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
