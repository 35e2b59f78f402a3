import Credentials
import FunctionsKit
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import DoubloonCLI
@testable import ServerApp
@testable import ServerConfiguration

/// The accounts' commands against the whole server: a studio brings its users and takes them away again.
struct AccountCommandTests {
  /// A server in memory, and how a command is run against it.
  private struct Studio {
    let application: Application
    let client: AdminClient
    let address: String

    func call(_ arguments: [String], code: Int32 = 0) async -> CommandRun {
      let run = await CommandRun(["accounts"] + arguments + ["--server", address])
      #expect(run.code == code, "\(arguments): \(run.err)")
      return run
    }

    func signIn(_ email: String, _ password: String) async throws -> String? {
      try await client.post(
        "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k",
        ["email": .string(email), "password": .string(password)])["localId"]?.string
    }
  }

  private func running(cheaply: Bool = true, _ test: (Studio) async throws -> Void) async throws {
    var configuration = ServerConfiguration(storage: .memory)
    configuration.port = 0
    if cheaply { configuration.passwordCost = .test }
    let application = try Application(configuration: configuration, functions: { _ in })
    let address = "http://127.0.0.1:\(try await application.start())"
    do {
      try await test(Studio(application: application, client: AdminClient(server: address, token: "owner"), address: address))
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  /// Names that a careless format would break.
  private static let users: JSON = [
    "users": [
      [
        "localId": "ann", "email": "ann@x.io", "emailVerified": true, "displayName": "Ann \"the Knife\", of Tortuga",
        "createdAt": "1600000000000", "lastLoginAt": "1600000001000", "customAttributes": "{\"admin\":true,\"rank\":3}",
        "passwordHash": "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw==",
        "salt": "TmFDbA==",
        "providerUserInfo": [
          ["providerId": "google.com", "rawId": "g-1", "email": "ann@g.example", "displayName": "Ann, G."]
        ],
      ],
      ["localId": "bob", "phoneNumber": "+4915112345678", "disabled": true, "createdAt": "1600000002000"],
      ["localId": "line", "displayName": "two\nlines", "createdAt": "1600000003000"],
      ["localId": "nobody", "createdAt": "1600000004000"],
    ]
  ]

  private static let hashing: JSON = [
    "hashAlgorithm": "SCRYPT", "saltSeparator": "Bw==", "rounds": 8, "memoryCost": 14,
    "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
  ]

  /// What an import must bring back: everything that an export says but what a server adds by itself.
  private func essence(_ file: String) throws -> [JSON] {
    try AccountFile.read(try FileBytes.read(file), from: file).map { user in
      let identities = user.listed("providerUserInfo").filter { $0["providerId"]?.string?.hasSuffix(".com") == true }
        .map { identity in ["providerId", "rawId", "email", "displayName"].map { identity[$0] ?? .null } }
      let names = [
        "localId", "email", "emailVerified", "displayName", "createdAt", "lastLoginAt", "phoneNumber", "disabled",
        "customAttributes", "passwordHash", "salt",
      ]
      return .array(
        names.map { name in
          // What is not so is left out in one format and said in the other.
          let value = user[name] ?? .null
          return value == false ? .null : value
        } + [.array(identities.map { JSON.array($0) })])
    }
  }

  @Test("Users come with their passwords and leave as they came, in Firebase's formats", arguments: ["json", "csv"])
  func roundTrip(format: String) async throws {
    let folder = TemporaryFolder()
    try folder.write(Self.users.compactText, to: "users.json")
    try folder.write(Self.hashing.compactText, to: "hash.json")
    let (first, second) = (folder.file("first.\(format)"), folder.file("second.\(format)"))
    try await running { (studio: Studio) async throws in
      let imported = await studio.call(["import", folder.file("users.json"), "--hash-config", folder.file("hash.json")])
      #expect(imported.out == "Imported 4 of 4 accounts.\n")
      #expect(await studio.call(["export", first]).err.contains("Exported 4 accounts"))
      #expect(FileMode.of(first) == 0o600)
      let listed = await studio.call(["list", "--json"])
      #expect(try JSONParser.parse(listed.out)["count"] == 4)
      let table = await studio.call(["list", "--csv"]).out
      #expect(table.hasPrefix("\"uid\",\"name\","), "\(table)")
      #expect(table.contains(#""ann","Ann ""the Knife"", of Tortuga","ann@x.io","#), "\(table)")
      #expect(table.contains(#""bob","","","'+4915112345678","phone","true","2020-09-13T12:26:42"#), "\(table)")
    }
    try await running { (studio: Studio) async throws in
      _ = await studio.call(["import", first, "--hash-config", folder.file("hash.json")])
      _ = await studio.call(["export", second])
      #expect(try essence(second) == essence(first))
      #expect(try essence(first).count == 4)
      #expect(try await studio.signIn("ann@x.io", "password") == "ann")
      let shown = try JSONParser.parse(await studio.call(["show", "ann"]).out)
      #expect(shown["displayName"] == "Ann \"the Knife\", of Tortuga")
      #expect(shown["customAttributes"] == "{\"admin\":true,\"rank\":3}")
      // "REDACTED", as Firebase says it.
      #expect(shown["passwordHash"] == "UkVEQUNURUQ=")
    }
  }

  @Test("Players of two tenants with one address come and go with their tenants", arguments: ["json", "csv"])
  func tenants(format: String) async throws {
    let folder = TemporaryFolder()
    let file = folder.file("all.\(format)")
    try await running { (studio: Studio) async throws in
      let made = await studio.call(["tenants", "create", "Brand-A", "--switch-on", "--passwords", "--json"])
      let tenant = try #require(try JSONParser.parse(made.out)["tenantId"]?.string)
      let listed = await studio.call(["tenants", "list"])
      #expect(listed.out.contains(tenant))
      _ = await studio.call(["create", "--uid", "ann", "--email", "one@x.io", "--tenant", tenant])
      _ = await studio.call(["create", "--uid", "bob", "--email", "one@x.io"])
      let found = await studio.call(["list", "--tenant", tenant])
      #expect(found.out.contains("ann") && found.out.contains("TENANT") && !found.out.contains("bob"))
      let shown = try JSONParser.parse(await studio.call(["show", "one@x.io", "--tenant", tenant]).out)
      #expect(shown["localId"] == "ann" && shown["tenantId"]?.string == tenant)
      #expect(await studio.call(["disable", "two@x.io", "--tenant", tenant], code: 1).err.contains(tenant))
      let own = folder.file("one.\(format)")
      #expect(await studio.call(["export", own, "--tenant", tenant]).err.contains("Exported 1 account"))
      #expect(await studio.call(["export", file]).err.contains("Exported 2 accounts"))
      _ = await studio.call(["tenants", "delete", tenant, "--yes"])
      #expect(await studio.call(["show", "ann"], code: 1).out.isEmpty)
      // In development the tenant is there again when it is named.
      #expect(await studio.call(["import", file]).out == "Imported 2 of 2 accounts.\n")
      let again = try JSONParser.parse(await studio.call(["show", "ann"]).out)
      #expect(again["tenantId"]?.string == tenant)
    }
  }

  @Test("Rows that cannot be taken are named, the others are taken, and the command fails")
  func faults() async throws {
    let folder = TemporaryFolder()
    try folder.write(
      #"{"users":[{"localId":"a","email":"a@x.io"},{"localId":"b","email":"no address"},{"localId":"c","email":"A@x.io"}]}"#,
      to: "users.json")
    try await running { (studio: Studio) async throws in
      let run = await studio.call(["import", folder.file("users.json")], code: 1)
      #expect(run.out.contains("Row 2 (b): email is invalid"))
      #expect(run.out.contains("Row 3 (c): email exists in other account in database"))
      #expect(run.out.contains("Imported 1 of 3 accounts."))
    }
  }

  @Test("A password that costs what production pays is made, and signs in over HTTP")
  func fullCost() async throws {
    let folder = TemporaryFolder()
    try folder.write("correct horse", to: "password")
    try await running(cheaply: false) { (studio: Studio) async throws in
      _ = await studio.call(
        ["create", "--uid", "ann", "--email", "ann@x.io", "--password-file", folder.file("password")])
      #expect(try await studio.signIn("ann@x.io", "correct horse") == "ann")
    }
  }

  @Test("Erase shows its plan first, asks, does it, and finds nothing to do again; merge moves a referral")
  func eraseAndMerge() async throws {
    try await running { (studio: Studio) async throws in
      _ = try await studio.client.put("/users/bob.json", ["name": "Bob", "inventory": ["pieces_of_eight": 5]])
      _ = try await studio.client.put("/users/anon.json", ["referred_by": "alice"])
      _ = try await studio.client.put("/leaderboard/bob.json", 99)
      let path = ["--path", "/leaderboard/{uid}"]
      let plan = await studio.call(["erase", "bob", "--dry-run"] + path)
      #expect(plan.out.contains("There is no account bob."))
      #expect(plan.out.contains("/users/bob: 2 values"))
      #expect(plan.out.contains("The ledger takes back 5 pieces_of_eight."))
      let merged = await studio.call(["merge", "anon", "bob", "--reason", "ticket 1"])
      #expect(merged.out.contains("Referred by alice: moved."))
      // Nobody is there to be asked.
      #expect(await studio.call(["erase", "bob", "--reason", "ticket 2"] + path, code: 1).err.contains("--yes"))
      let erased = await studio.call(["erase", "bob", "--reason", "ticket 2", "--yes"] + path)
      #expect(erased.out.contains("bob is erased: "))
      #expect(await studio.call(["erase", "bob", "--reason", "ticket 2", "--yes"] + path).out == erased.out)
      #expect(await studio.call(["erasures"]).out.contains("bob  done"))
      #expect(await studio.call(["erase", "bob", "--yes"], code: 2).err.contains("--reason must say why"))
      let server = ["--server", studio.address]
      #expect(await CommandRun(["why", "bob"] + server).out.hasPrefix("bob was erased on "))
      #expect(await CommandRun(["triggers", "list", "--uid", "bob"] + server).out.contains("bob was erased up to revision"))
      let past = await CommandRun(["data", "get", "/users/bob", "--at", "1"] + server)
      #expect(past.code == 1 && past.err.contains("/users/bob was erased on "))
      #expect(
        await CommandRun(["data", "diff", "/users", "--from", "1"] + server).out.contains(
          "/users/bob was erased up to revision"))
      #expect(await CommandRun(["data", "log", "/users/bob"] + server).out.contains("/users/bob was erased up to revision"))
      #expect(await CommandRun(["log", "verify"] + server).out.contains("a part was erased"))
      #expect(await CommandRun(["ledger", "verify"] + server).code == 0)
    }
  }

  @Test("The codes that development does not mail are told by the player's address")
  func codes() async throws {
    try await running { (studio: Studio) async throws in
      _ = await studio.call(["create", "--uid", "ann", "--email", "ann@x.io"])
      #expect(await studio.call(["codes", "ann"]).out == "No code is on its way.\n")
      _ = try await studio.client.post(
        "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=k",
        ["requestType": "PASSWORD_RESET", "email": "ann@x.io"])
      let told = await studio.call(["codes", "ann@x.io"])
      #expect(told.out.contains("PASSWORD_RESET  ann@x.io") && told.out.contains("http"), "\(told)")
    }
  }

  @Test("Erase and merge find a player by the e-mail address, and say whom they found; the plan names what is held")
  func byAddress() async throws {
    try await running { (studio: Studio) async throws in
      for uid in ["ann", "anon", "bob"] {
        let email: [String] = uid == "anon" ? [] : ["--email", "\(uid)@x.io"]
        _ = await studio.call(["create", "--uid", uid] + email)
        _ = try await studio.client.put(
          "/users/\(uid).json", ["referred_by": "eve", "inventory": ["pieces_of_eight": 5]])
      }
      let merged = await studio.call(["merge", "anon", "Ann@x.io", "--balances", "--reason", "ticket 1"])
      #expect(merged.out.contains("anon was merged into ann at "), "\(merged)")
      let moved = await studio.call(["merge", "bob@x.io", "ann", "--reason", "ticket 2", "--dry-run"])
      #expect(moved.out.contains("bob would be merged into ann"), "\(moved)")
      let held = try await studio.client.post(
        "/admin/v1/ledger/holds", ["from": "user:ann", "owner": "ann", "amount": 4, "key": "h1"])
      let hold = try #require(held["entry"]?["sequence"]?.int)
      let plan = await studio.call(["erase", "ann@x.io", "--dry-run"])
      #expect(plan.out.contains("The account ann goes."), "\(plan)")
      #expect(plan.out.contains("Hold \(hold) is given back: 4 pieces_of_eight of hold:ann to user:ann."), "\(plan)")
      let erased = await studio.call(["erase", "ann@x.io", "--reason", "ticket 3", "--yes"])
      #expect(erased.out.contains("ann is erased: ") && erased.out.contains("/users/ann"), "\(erased)")
      for arguments in [["erase", "ann@x.io", "--dry-run"], ["merge", "bob", "ann@x.io", "--dry-run"]] {
        let nobody = await studio.call(arguments, code: 1)
        #expect(nobody.err.contains("No account has the e-mail address ann@x.io"), "\(nobody)")
      }
      #expect(await CommandRun(["verify", "--server", studio.address]).code == 0)
    }
  }
}
