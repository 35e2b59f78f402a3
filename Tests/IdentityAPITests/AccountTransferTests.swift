import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Accounts that come with their passwords and can be taken away with them.
struct AccountTransferTests {
  private func run(_ test: (APIServer, IdentityClient) async throws -> Void) async throws {
    try await APIServer.run(accounts: .development) { server in try await test(server, IdentityClient(server: server)) }
  }

  /// One of Firebase's own hash, of the password `password`.
  private static let foreign: JSON = [
    "hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "saltSeparator": "Bw==",
    "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
    "users": [
      [
        "localId": "old", "email": "old@x.io", "salt": "TmFDbA==",
        "passwordHash": "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==",
      ]
    ],
  ]

  @Test("What batchGet gives batchCreate takes, with every password, however each is hashed, and nothing said about it")
  func roundTrip() async throws {
    var users: [JSON] = []
    try await run { _, client in
      _ = try await client.admin("accounts:batchCreate", Self.foreign)
      _ = try await client.player("new@x.io", "secret-1")
      _ = try await client.anonymous()
      users =
        try await client.send(
          "GET", "/v1/projects/game/accounts:batchGet?maxResults=10", headers: IdentityClient.owner)["users"]?.array ?? []
    }
    #expect(
      Set(users.compactMap { $0["hashConfig"]?["hashAlgorithm"]?.string }) == ["SCRYPT", "STANDARD_SCRYPT"])
    let taken = users
    try await run { _, client in
      let answer = try await client.admin("accounts:batchCreate", ["users": .array(taken)])
      #expect(answer.status == 200 && answer["error"] == nil, "\(answer.json.compact)")
      #expect(try await client.signIn("old@x.io", "password").text("localId") == "old")
      #expect(try await client.signIn("new@x.io", "secret-1").status == 200)
      #expect(try await client.signIn("new@x.io", "secret-2").error == "INVALID_PASSWORD")
      // A row that says nothing of its hash needs the call's word, as ever.
      let bare: JSON = ["users": [["localId": "x", "email": "x@x.io", "passwordHash": "AAAA"]]]
      #expect(try await client.admin("accounts:batchCreate", bare).error == "MISSING_HASH_ALGORITHM")
      let nonsense: JSON = [
        "users": [["localId": "x", "passwordHash": "AAAA", "hashConfig": ["hashAlgorithm": "ROT13"]], ["localId": "y"]]
      ]
      let rows = try await client.admin("accounts:batchCreate", nonsense)
      #expect(rows.json["error"]?.array?.compactMap { $0["message"]?.string } == ["INVALID_HASH_ALGORITHM : ROT13"])
    }
  }

  @Test(
    "A password that is not hashed is hashed; of an emulator's export it is taken in development, in production it is no hash")
  func plainPasswords() async throws {
    let users: JSON = [
      ["localId": "ann", "email": "ann@x.io", "rawPassword": "notasecret"],
      ["localId": "bob", "email": "bob@x.io", "salt": "s", "passwordHash": "fakeHash:salt=s:password=with:colons"],
    ]
    try await run { _, client in
      #expect(try await client.admin("accounts:batchCreate", ["users": users])["error"] == nil)
      #expect(try await client.signIn("ann@x.io", "notasecret").text("localId") == "ann")
      #expect(try await client.signIn("bob@x.io", "with:colons").text("localId") == "bob")
      let page = try await client.send("GET", "/v1/projects/game/accounts:batchGet", headers: IdentityClient.owner)
      let hashes = page["users"]?.array?.compactMap { $0["passwordHash"]?.string } ?? []
      #expect(hashes.count == 2)
      for hash in hashes { #expect(!hash.contains("colons") && !hash.contains("fakeHash")) }
    }
    try await APIServer.run(accounts: .production) { server in
      let client = IdentityClient(server: server)
      let answer = try await client.admin("accounts:batchCreate", ["users": users])
      #expect(answer.error == "MISSING_HASH_ALGORITHM")
    }
  }

  @Test("Rows that cannot be taken are named by what is wrong with them; one call says one thing of an account")
  func badRows() async throws {
    try await run { _, client in
      let users: JSON = [
        ["localId": "a", "providerUserInfo": [["rawId": "1"]]], ["localId": "b", "customAttributes": "{\"sub\":1}"],
        ["localId": "c", "customAttributes": "nothing"], ["localId": "d", "mfaInfo": [["phoneInfo": "+15555550100"]]],
        ["localId": "e", "email": "e@x.io", "mfaInfo": [["phoneInfo": "+15555550100"]]],
        ["localId": "f", "email": "f@x.io", "emailVerified": true, "mfaInfo": [["phoneInfo": "+15555550100"]]],
      ]
      let answer = try await client.admin("accounts:batchCreate", ["users": users])
      #expect(
        answer["error"]?.array?.compactMap { $0["message"]?.string } == [
          "federatedId or (providerId & rawId) is required", "Custom claims provided include a reserved claim.",
          "Invalid custom claims provided.", "Second factor account requires email to be presented.",
          "Second factor account requires email to be verified.",
        ])
      let twice: JSON = ["users": [["localId": "g"], ["localId": "g", "displayName": "last"]]]
      #expect(try await client.admin("accounts:batchCreate", twice).error == "DUPLICATE_LOCAL_ID : g")
      let told: JSON = .object((twice.object ?? []) + [JSON.Member(key: "allowOverwrite", value: true)])
      #expect(try await client.admin("accounts:batchCreate", told)["error"] == nil)
    }
  }
}
