import Accounts
import Functions
import FunctionsKit
import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import HTTPServer
@testable import ServerConfiguration

/// Many players behind one address: a school.
struct SchoolTests {
  @Test("300 pupils behind one address sign up and play within ten minutes under production's limits, and none is refused")
  func pupils() async throws {
    let clock = AdjustableClock(frozenAt: 1_700_000_000_000)
    try await RunningServer.run {
      $0.clock = clock
      $0.requestLimits = RequestLimits()
      $0.accounts.signUpsPerHour = AccountOptions().signUpsPerHour
    } _: { server in
      let client = try AdminClient(server: server.address, token: nil)
      for number in 0..<300 {
        let made = try await client.post(
          "/identitytoolkit.googleapis.com/v1/accounts:signUp", [:], query: [QueryItem("key", "k")])
        let uid = try #require(made["localId"]?.string)
        let token = [QueryItem("auth", try #require(made["idToken"]?.string))]
        let record: JSON = ["name": "Pupil", "referred_by": .string(number == 0 ? "teacher" : "p\(number - 1)"), "level": 1]
        _ = try await client.put("/users/\(uid).json", record, query: token)
        _ = try await client.put("/users/\(uid)/last_signin_at.json", [".sv": "timestamp"], query: token)
        for level in 2...5 { _ = try await client.put("/users/\(uid)/level.json", .int(Int64(level)), query: token) }
        _ = try await client.get("/users/\(uid).json", query: token)
        // The whole class within a minute.
        clock.advance(by: 200)
      }
      _ = try await server.client.post("/admin/v1/drain", [:])
      let paid = try await server.client.get("/admin/v1/ledger/balance", query: [QueryItem("account", "issuance:signup")])
      #expect(paid["balance"] == -15_000)
      #expect(try await server.client.get("/admin/v1/ledger/holds")["count"] == 0)
    }
  }
}
