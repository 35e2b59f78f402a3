import Credentials
import NIOHTTP1
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import HTTPServer
@testable import RealtimeAPI
@testable import ServerApp

/// What each role may: viewer reads, support repairs, admin everything.
struct RoleTests {
  /// What changes nothing, though it is posted.
  static let looking: Set<String> = [
    "POST /admin/v1/drain", "POST /admin/v1/replays/preview", "POST /admin/v1/replays/dry-run",
    "POST /admin/v1/log/prune/preview", "POST /admin/v1/rules/explain",
    "POST /admin/v1/ledger/transfer/preview", "POST /admin/v1/ledger/reverse/preview",
    "POST /admin/v1/ledger/holds/preview", "POST /admin/v1/ledger/compensation/preview",
    "POST /admin/v1/accounts/{uid}/erase/preview", "POST /admin/v1/accounts/{uid}/merge/preview",
    "POST /admin/v1/data/preview", "POST /admin/v1/rules/check", "POST /admin/v1/rules/test",
    "POST /admin/v1/links/preview", "POST /admin/v1/accounts/export",
    "POST /admin/v1/messages/check", "POST /admin/v1/messages/preview", "POST /admin/v1/messages/{id}/preview",
    "POST /admin/v1/messages/{id}/explain",
  ]
  /// What repairs.
  static let repairing: Set<String> = [
    "POST /admin/v1/events/{event...}/redeliver", "POST /admin/v1/triggers/{event...}/redeliver",
    "POST /admin/v1/functions/{name}/pause", "POST /admin/v1/functions/{name}/resume",
    "POST /admin/v1/functions/{name}/retry", "POST /admin/v1/replays", "POST /admin/v1/replays/{id}/pause",
    "POST /admin/v1/replays/{id}/resume", "POST /admin/v1/replays/{id}/cancel", "POST /admin/v1/dead-letters/acknowledge",
    "POST /admin/v1/ledger/reverse", "POST /admin/v1/ledger/holds/{sequence}/release",
    "POST /admin/v1/ledger/holds/{sequence}/void", "POST /admin/v1/accounts/{uid}/disable",
    "POST /admin/v1/accounts/{uid}/enable", "POST /admin/v1/links", "PATCH /admin/v1/links/link",
    "DELETE /admin/v1/accounts/{uid}/sessions",
    "POST /admin/v1/ledger/holds/end",
    "POST /admin/v1/messages/{id}/test", "POST /admin/v1/messages/events",
  ]
  /// What must never be lowered by accident.
  static let ruling: Set<String> = [
    "GET /admin/v1/config", "POST /admin/v1/ledger/transfer", "POST /admin/v1/ledger/transfers", "POST /admin/v1/ledger/holds",
    "POST /admin/v1/ledger/compensation",
    "POST /admin/v1/log/prune", "POST /admin/v1/backup", "POST /admin/v1/functions/{name}/invoke",
    "POST /admin/v1/replays/rebuild", "POST /admin/v1/namespaces",
    "DELETE /admin/v1/namespaces/{name}", "POST /admin/v1/clock", "POST /admin/v1/service-accounts",
    "DELETE /admin/v1/service-accounts/{name}", "PUT /.settings/rules.json",
    "PUT /admin/v1/rules", "POST /admin/v1/rules/rollback",
    "POST /admin/v1/accounts/{uid}/erase", "POST /admin/v1/accounts/{uid}/merge", "DELETE /admin/v1/accounts/{uid}",
    "DELETE /admin/v1/accounts/{uid}/second-factors", "POST /admin/v1/accounts", "PATCH /admin/v1/accounts/{uid}",
    "PUT /admin/v1/data", "PATCH /admin/v1/data", "DELETE /admin/v1/data",
    "POST /admin/v1/data/import",
    "POST /admin/v1/messages", "PUT /admin/v1/messages/{id}", "DELETE /admin/v1/messages/{id}",
    "POST /admin/v1/messages/{id}/publish", "POST /admin/v1/messages/{id}/stop", "POST /admin/v1/messages/apply",
    "PUT /admin/v1/messages/settings",
  ]

  /// By which anybody becomes an administrator, or finds out that they are none.
  static let open: Set<String> = ["GET /admin/v1/session", "POST /admin/v1/session", "DELETE /admin/v1/session"]

  static let routes = (SettingsRoutes.routes.map(\.head) + ServerSurfaces.adminHeads).filter { !open.contains(name($0)) }

  static func name(_ route: RouteHead) -> String { "\(route.method.rawValue) \(route.template.text)" }

  static func needed(_ route: RouteHead) -> AdminRole {
    if looking.contains(name(route)) || route.method == .GET { return .viewer }
    return repairing.contains(name(route)) ? .support : .admin
  }

  @Test("Every route of the administrators declares the role it takes: reading, repairing, ruling")
  func declared() {
    let names = Set(Self.routes.map(Self.name))
    for expected in [Self.looking, Self.repairing, Self.ruling] { #expect(expected.isSubset(of: names)) }
    for route in Self.routes {
      let declared = route.role
      #expect(declared != nil, "\(Self.name(route)) is open to everybody")
      // A route that is not on these lists may ask for more than it must.
      #expect((declared ?? .viewer) >= Self.needed(route), "\(Self.name(route))")
      if Self.repairing.contains(Self.name(route)) { #expect(declared == .support, "\(Self.name(route))") }
      if Self.ruling.contains(Self.name(route)) { #expect(declared == .admin, "\(Self.name(route))") }
    }
  }

  @Test("Every route, asked for by every role: 403 below what it takes, admitted from there on; 401 for nobody")
  func everyRoute() async throws {
    try await KeyedServer.run { keyed in
      let account = try await keyed.account("ci", "viewer")
      let tokens = AccessTokens(keys: keyed.keys)
      for role in AdminRole.allCases {
        let grant = AccessGrant(
          account: "ci", keyID: account.key.id, role: role, expiresAt: keyed.server.clock.now() / 1000 + 600)
        let headers = ["Authorization": "Bearer \(tokens.token(for: grant, at: keyed.server.clock.now()))"]
        for route in Self.routes {
          // The account must outlive the test.
          let path = route.template.text.replacing("{name}", with: "nobody").replacing("{id}", with: "1")
            .replacing("{sequence}", with: "1").replacing("{version}", with: "1").replacing("{event...}", with: "1-1:/a")
            .replacing("{", with: "")
            .replacing("}", with: "").replacing("...", with: "")
          let response = try await keyed.server.send(route.method.rawValue, path, headers: headers)
          let isRefused = response.json?["code"]?.string == "role_needed"
          #expect(
            isRefused == (role < route.role ?? .viewer), "\(role) \(Self.name(route)): \(response.status) \(response.body)")
          #expect(isRefused == (response.status == 403 && response.json?["code"]?.string != "development_only"))
          #expect(response.status != 401, "\(role) \(Self.name(route))")
          if role == .viewer {
            let nobody = try await keyed.server.send(route.method.rawValue, path)
            #expect(nobody.status == 401, "\(Self.name(route)): \(nobody.status)")
          }
        }
      }
    }
  }

  @Test("What a role did not allow is in the audit log, with who tried")
  func audited() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("ci", "viewer"))
      let refused = try await keyed.server.send(
        "POST", "/admin/v1/ledger/reverse", #"{"sequence":1,"reason":"x"}"#, headers: ["Authorization": "Bearer \(token)"])
      #expect(refused.status == 403)
      #expect(refused.error == "This takes the role support, and admin:ci is viewer; ask an administrator.")
      let log = try await keyed.server.send("GET", "/admin/v1/audit?result=refused", headers: APIServer.admin)
      let row = log.json?["actions"]?.array?.first
      #expect(row?["actor"] == "admin:ci" && row?["action"] == "ledger.reverse")
      #expect(row?["result"]?.string == refused.error)
    }
  }

  @Test("Support ends a hold to its owner or back to where it came from: it makes no coins and sends none elsewhere")
  func holds() async throws {
    try await KeyedServer.run { keyed in
      let token = try await keyed.token(try await keyed.account("low", "support"))
      let low = ["Authorization": "Bearer \(token)"]
      func send(_ path: String, _ body: String, _ headers: [String: String]) async throws -> RawResponse {
        try await keyed.server.send("POST", "/admin/v1/ledger/\(path)", body, headers: headers)
      }
      let minting = #"{"from":"issuance:x","owner":"low","amount":1000000,"key":"k"}"#
      #expect(try await send("holds", minting, low).json?["code"] == "role_needed")
      for key in ["a", "b", "c"] {
        let hold = #"{"from":"issuance:level5","owner":"bob","amount":50,"key":"\#(key)"}"#
        #expect(try await send("holds", hold, APIServer.admin).status == 200)
      }
      let elsewhere = try await send("holds/1/release", #"{"to":"user:low"}"#, low)
      #expect(elsewhere.status == 403 && elsewhere.json?["code"] == "role_needed")
      #expect(elsewhere.error?.contains("Hold 1 is held for bob") == true)
      #expect(try await send("holds/9/release", #"{"to":"user:low"}"#, low).status == 404)
      #expect(try await send("holds/1/release", #"{"to":"user:bob"}"#, low).status == 200)
      #expect(try await send("holds/2/void", "{}", low).status == 200)
      #expect(try await send("holds/3/release", #"{"to":"user:carol"}"#, APIServer.admin).status == 200)
      let coins = try await keyed.server.send("GET", "/users/bob/inventory/pieces_of_eight.json", headers: APIServer.admin)
      #expect(coins.body == "50")
    }
  }

  @Test("The tree takes the role admin: what a lower one writes would pass the rules")
  func tree() async throws {
    try await KeyedServer.run { keyed in
      let low = try await keyed.token(try await keyed.account("low", "support"))
      let high = try await keyed.token(try await keyed.account("high", "admin"))
      func send(_ method: String, _ path: String, _ token: String) async throws -> Int {
        let body: String? = method == "GET" ? nil : "1"
        let response = try await keyed.server.send(method, path, body, headers: ["Authorization": "Bearer \(token)"])
        return response.status
      }
      #expect(try await send("PUT", "/a.json", low) == 401)
      #expect(try await send("GET", "/a.json", low) == 401)
      #expect(try await keyed.server.send("GET", "/a.json?access_token=\(low)").status == 401)
      #expect(try await keyed.server.send("GET", "/a.json?auth_variable_override=null&access_token=\(low)").status == 401)
      #expect(try await send("PUT", "/a.json", high) == 200)
      #expect(try await keyed.server.send("GET", "/a.json?access_token=\(high)").body == "1")
      let namespace = try #require(keyed.server.database.namespace(named: "game"))
      let commit = try keyed.server.database.engine.read { snapshot in
        try snapshot.commit(in: namespace, at: snapshot.head(of: namespace).revision)
      }
      #expect(commit?.actor == .admin("high"))
    }
  }
}
