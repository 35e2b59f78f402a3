import Credentials
import FunctionsKit
import Glibc
import Mail
import NIOCore
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import ServerConfiguration

@Suite struct ConfigurationTests {
  /// A machine that has these files and variables.
  static func machine(_ files: [String: String], _ variables: [String: String] = [:]) -> ConfigurationEnvironment {
    ConfigurationEnvironment(
      variable: { variables[$0] },
      file: { (path) throws(FileError) in
        guard let text = files[path] else { throw FileError("\(path) cannot be read: No such file or directory.") }
        return Array(text.utf8)
      })
  }

  static let rules = "{\"rules\": {\".read\": false}}"
  /// What every configuration needs.
  static let least = "\"project\": \"game\", \"data\": \"/d\", \"rules\": \"/r.json\""

  static func load(_ text: String, files: [String: String] = [:], variables: [String: String] = [:]) throws
    -> ServeConfiguration
  {
    let all = files.merging(["/c.jsonc": text, "/r.json": rules]) { mine, _ in mine }
    return try ServeConfiguration.load("/c.jsonc", surroundings: machine(all, variables))
  }

  static func faults(_ text: String, files: [String: String] = [:]) -> [String] {
    do {
      _ = try load(text, files: files)
      return []
    } catch {
      return "\(error)".split(separator: "\n").map { String($0.dropFirst("/c.jsonc:".count)) }
    }
  }

  @Test("the least that must be said, and the defaults of the rest")
  func least() throws {
    let configuration = try Self.load("{\(Self.least)}")
    let server = configuration.serverConfiguration
    #expect(server.mode == .production && server.host == "127.0.0.1" && server.port == 9000)
    #expect(server.namespaces == ["game-default-rtdb"] && server.defaultNamespace == "game-default-rtdb")
    #expect(server.storage == .directory("/d") && server.rules?.source == Self.rules)
    #expect(server.admins.isEmpty && server.certificates.isEmpty && server.mail == nil)
    #expect(server.requestLimits == RequestLimits())
    #expect(server.http.connectionsPerNetworkMax == 1000)
    #expect(server.listensPerNetworkMax == 100_000)
    #expect(server.unfinishedInputMax == 64 << 20 && server.unreadOutputMax == 64 << 20)
    #expect(server.currencies.map(\.unit) == ["pieces_of_eight"])
  }

  @Test("what is said arrives")
  func said() throws {
    let text = """
      // A comment, /* and one in it
      {
        \(Self.least), "namespaces": ["other", "game-default-rtdb"],
        "listen": {"host": "0.0.0.0", "port": 0, "behindProxy": true, "trustedProxies": ["10.0.0.0/8"], "drain": "90s",
          "connectionsPerNetwork": 50},
        "admins": [{"name": "ann", "token": {"env": "ANN"}}, {"name": "bob", "token": {"file": "bob.token"}}],
        "limits": {"requestBytes": "2MB", "commitLeaves": 7, /* so few */ "functionThreads": 2, "unfinishedInput": "32MB",
          "unreadOutput": "16MB", "listensPerNetwork": 9},
        "rateLimits": {"reads": "5/min burst 9", "writes": false, "socketWrites": "7/s", "socketWritesOfNetwork": false},
        "currencies": [{"unit": "gems", "path": "p/{id}/gems", "holder": "pirate"}],
        "mail": {"from": "Hunt <a@b.c>", "smtp": {"host": "m", "user": "u", "password": {"env": "PW"}, "timeout": "5s"}},
      }
      """
    let variables = ["ANN": "0123456789012345678901", "PW": "s3cret"]
    let configuration = try Self.load(text, files: ["/bob.token": "9876543210987654321098\n"], variables: variables)
    let server = configuration.serverConfiguration
    #expect(server.namespaces == ["game-default-rtdb", "other"])
    #expect(server.admins.map(\.name) == ["ann", "bob"])
    #expect(server.admins[0].matches("0123456789012345678901") && server.admins[1].matches("9876543210987654321098"))
    #expect(server.http.bodyBytesMax == 2 << 20 && server.limits.leavesMax == 7 && server.runners == 2)
    #expect(server.http.drainTimeout == .seconds(90))
    #expect(server.requestLimits?.reads?.description == "5/min burst 9")
    #expect(server.http.connectionsPerNetworkMax == 50)
    #expect(server.listensPerNetworkMax == 9)
    #expect(server.unfinishedInputMax == 32 << 20 && server.unreadOutputMax == 16 << 20)
    #expect(server.requestLimits?.socketWrites?.description == "7/s" && server.requestLimits?.socketWritesOfNetwork == nil)
    #expect(server.requestLimits?.writes == nil && server.requestLimits?.admin == RequestLimits().admin)
    #expect(server.currencies.map(\.holder) == ["pirate"])
    #expect(server.mail?.server.port == 587 && server.mail?.server.timeoutMilliseconds == 5000)
    #expect(server.mail?.from.description == "Hunt <a@b.c>")
    #expect(try Self.load("{\(Self.least), \"rateLimits\": false}").rateLimits == nil)
    let unlimited = try Self.load("{\(Self.least), \"listen\": {\"connectionsPerNetwork\": false}}")
    #expect(unlimited.serverConfiguration.http.connectionsPerNetworkMax == nil)
    let proxied = try Self.load("{\(Self.least), \"listen\": {\"behindProxy\": true}}")
    #expect(proxied.listen.trustedProxies == ["127.0.0.0/8", "::1"].compactMap { AddressRange(parsing: $0) })
  }

  static let rows: [(String, [String])] = [
    ("", ["1:1: The configuration ends too early: a value is missing."]),
    ("[]", ["1:1: The configuration must be an object: { … }."]),
    ("{\"a\": 1} x", ["1:10: The configuration ends with its last \"}\"; remove what comes behind it."]),
    ("{\n  \"project\": \"a\"\n  \"data\": \"b\"}", ["3:3: Expected \",\" or \"}\"."]),
    ("{\"a\": tru}", ["1:7: tru is no value: texts stand in double quotes, and other values are numbers, true and false."]),
    ("{\"a\": \"x\n\"}", ["1:7: This text does not end on its line; close it with a double quote."]),
    ("{\"a\": 1, \"a\": 2}", ["1:10: \"a\" is written twice; keep one."]),
    ("{ /* x", ["1:3: This comment does not end; close it with */."]),
    (
      "{\(least), \"prot\": 1, \"listne\": {}}",
      [
        "1:55: There is no setting \"prot\"; there are accounts, admins, alerts, backups, console, currencies, data, functions, limits, "
          + "links, listen, log, mail, messages, metrics, namespaces, project, rateLimits, rules, storage, tls, upgradeCopy.",
        "1:66: There is no setting \"listne\"; did you mean \"listen\"?",
      ]
    ),
    (
      "{\(least),\n\"listen\": {\"host\": 1, \"port\": 70000, \"drain\": \"5\", \"trustedProxies\": [\"x\"]}}",
      [
        "2:20: \"listen.host\" must be a text, not a number.", "2:31: \"listen.port\" must be 0 to 65535.",
        "2:47: \"listen.drain\" must be a span of time such as \"30s\", \"5min\" or \"12h\".",
        "2:70: \"x\" is no address; write \"10.0.0.5\", \"10.0.0.0/8\" or \"fd00::/8\".",
      ]
    ),
    (
      "{\(least),\n\"console\": {\"claim\": \"sub\", \"requireSecondFactor\": 1}}",
      [
        "2:22: \"console.claim\" must name a claim of players' accounts that the server does not set.",
        "2:52: \"console.requireSecondFactor\" must be true or false, not a number.",
      ]
    ),
    (
      "{\(least), \"listen\": {\"host\": \"0.0.0.0\"}}",
      [
        "1:65: 0.0.0.0 can be reached by others, and tokens would travel in the clear: give \"tls\", listen on 127.0.0.1, "
          + "or say \"behindProxy\": true where a proxy speaks TLS."
      ]
    ),
    (
      "{\(least), \"listen\": {\"host\": \"0.0.0.0\", \"behindProxy\": true}}",
      [
        "1:65: Name the proxy's address in \"trustedProxies\": without its word for who the client is, all players would be one "
          + "client, and share one client's limits."
      ]
    ),
    (
      "{\(least), \"backups\": {\"at\": \"3:30\", \"keep\": {\"last\": 0}, \"recipient\": \"x\"}}",
      [
        "1:66: \"backups.to\" is missing: a folder such as \"/var/backups/doubloon\"; or give \"command\", whose standard input gets "
          + "the backup.",
        "1:73: \"backups.at\" must be a time of day such as \"03:30\", by this machine's clock.",
        "1:98: \"backups.keep.last\" must be 1 to 10000.",
        "1:115: \"backups.recipient\" is no public key for backups; make a pair with \"doubloon backup-key FILE\".",
      ]
    ),
    (
      "{\(least), \"backups\": {\"at\": \"03:30\", \"every\": \"6h\", \"command\": [\"cat\"], \"keep\": {}}}",
      [
        "1:91: \"backups.every\" must be whole days such as \"1d\" where \"at\" names the time of day.",
        "1:125: \"backups.keep\" is about a folder: what a command is given, the command keeps.",
      ]
    ),
    (
      "{\(least), \"backups\": {\"to\": \"/b\", \"command\": []}}",
      ["1:90: Give \"to\" or \"command\", not both."]
    ),
  ]

  @Test("every fault has its place, and all are listed", arguments: rows)
  func faults(_ text: String, _ expected: [String]) {
    #expect(Self.faults(text) == expected)
  }

  @Test("secrets do not stand in the file, and are not guessed")
  func secrets() {
    let found = Self.faults(
      """
      {\(Self.least), "admins": [{"name": "a b", "token": "hunter2"}, {},
        {"name": "c", "token": {"env": "NONE"}}, {"name": "d", "token": {"file": "/none"}},
        {"name": "e", "token": {"file": "/short"}}, {"name": "f", "token": {"file": "/two"}}]}
      """, files: ["/short": "hunter2", "/two": "a\nb\n"])
    let expected = [
      "An administrator's name is letters, digits, and - _ . @.", "is a secret, which does not stand in this file",
      "\"admins[1].name\" is missing", "\"admins[1].token\" is missing", "the variable NONE of the environment is not set",
      "/none cannot be read", "This token is shorter than 20 characters", "must hold the secret on one line",
    ]
    #expect(found.count == expected.count, "\(found)")
    for sentence in expected { #expect(found.contains { $0.contains(sentence) }, "\(sentence): \(found)") }
    #expect(!found.contains { $0.contains("hunter2") })
    let secret = Secret("hunter2")
    var dumped = ""
    dump([secret], to: &dumped)
    #expect(!"\(secret) \(String(reflecting: secret)) \(dumped)".contains("hunter2"))
  }

  @Test("a secret that every user of the machine may read is a warning, and no more")
  func openSecrets() async throws {
    let folder = TemporaryFolder()
    let files = [
      "r.json": Self.rules, "a.token": "0123456789012345678901", "b.token": "9876543210987654321098",
      "c.pem": TestCertificates.local, "k.pem": TestCertificates.localKey,
      "c.jsonc": """
      {"project": "game", "data": "d", "rules": "r.json", "tls": [{"certificate": "c.pem", "key": "k.pem"}],
       "admins": [{"name": "a", "token": {"file": "a.token"}}, {"name": "b", "token": {"file": "b.token"}}]}
      """,
    ]
    for (name, text) in files { try FileBytes.write(Array(text.utf8), to: folder.file(name)) }
    #expect(chmod(folder.file("b.token"), 0o640) == 0)
    let run = await CommandRun(["config", "check", folder.file("c.jsonc")])
    #expect(run.code == 0 && run.out.contains("is well."))
    let warnings = run.out.split(separator: "\n").filter { $0.hasPrefix("Warning: ") }
    #expect(warnings.count == 2, "\(run.out)")
    #expect(
      warnings.contains {
        $0.contains(":1:93: \"tls[0].key\": every user") && $0.hasSuffix("chmod o-r \(folder.file("k.pem"))")
      })
    #expect(warnings.contains { $0.contains(":2:36: \"admins[0].token\": every user") })
    #expect(!run.out.contains("0123456789"))
  }

  @Test("who else is believed is said whole, and only who is needed for that")
  func issuers() throws {
    let text = """
      {\(Self.least), "accounts": {
        "providers": [{"id": "google.com", "audiences": ["a", "b"]}, {"id": "apple.com", "audiences": ["c"], "trustEmail": false},
          {"id": "oidc.guild", "issuer": "https://id.example/", "audiences": ["g"], "database": true, "uidPrefix": "g-"}],
        "firebaseProjects": [{"project": "old-game"}, {"project": "older", "keys": "https://mirror/x509", "ca": "ca.pem"}]}}
      """
    let issuers = try Self.load(text).serverConfiguration.issuers
    #expect(issuers.map(\.provider.id) == ["google.com", "apple.com", "oidc.guild", "firebase.old-game", "firebase.older"])
    #expect(issuers.map(\.use) == [.signIn, .signIn, .signInAndTree(uidPrefix: "g-"), .firebase, .firebase])
    #expect(issuers.map(\.provider.vouchesForEmail) == [true, false, false, true, true])
    #expect(issuers[0].provider.audiences == ["a", "b"] && issuers[2].provider.issuers == ["https://id.example/"])
    #expect(issuers[2].provider.keys == .discovery(issuer: "https://id.example/"))
    #expect(
      issuers[3].provider.keys
        == .document("https://www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com"))
    #expect(issuers[4].provider.keys == .document("https://mirror/x509") && issuers[4].authority == "/ca.pem")
    let found = Self.faults(
      """
      {\(Self.least), "accounts": {
        "providers": [{"id": "google.com", "audiences": []}, {"id": "password", "audiences": ["a"]}, {"id": "oidc.a", "audiences": ["a"]},
          {"id": "apple.com", "audiences": ["a"], "issuer": "https://evil.example"},
          {"id": "oidc.b", "audiences": ["b"], "issuer": "http://id.example"},
          {"id": "oidc.c", "audiences": ["b"], "issuer": "https://c.example", "uidPrefix": "x"},
          {"id": "oidc.d", "audiences": ["b"], "issuer": "https://c.example", "database": true, "uidPrefix": "a/b"},
          {"id": "oidc.d", "audiences": ["b"], "issuer": "https://d.example", "keys": "https://d.example/k?x=1"}],
        "firebaseProjects": [{"project": "a b"}, {"project": "x"}, {"project": "x"}]}}
      """)
    let expected = [
      "\"accounts.providers[0].audiences\" must name the client ids", "A provider's id is \"google.com\"",
      "\"accounts.providers[1].issuer\" is missing", "\"accounts.providers[2].issuer\" is missing",
      "The issuer of apple.com is known", "\"accounts.providers[4].issuer\" must be an address that begins with https://",
      "\"uidPrefix\" belongs to \"database\"", "\"uidPrefix\" must be at most 32 characters",
      "oidc.d has the issuer of another",
      "oidc.d has two entries", "\"accounts.providers[7].keys\" must be an address", "\"a b\" is no Firebase project's id",
      "firebase.x has two entries",
    ]
    #expect(found.count == expected.count, "\(found)")
    for sentence in expected { #expect(found.contains { $0.contains(sentence) }, "\(sentence): \(found)") }
  }

  @Test("rules, limits, rates and mail are checked by those who know them")
  func rooms() {
    let found = Self.faults(
      """
      {"project": "a b", "data": "/d", "rules": "/bad.json",
       "limits": {"commitBytes": "1XB", "hops": 0}, "rateLimits": {"reads": "0/s", "links": "1/y"},
       "currencies": [{"unit": "gems", "path": "p//gems"}],
       "mail": {"from": "nobody", "locale": "../x", "templates": "/none", "smtp": {"host": "m", "security": "none", "user": "u"}}}
      """, files: ["/bad.json": "{\"rules\": {\"a\": }}"])
    for sentence in [
      "\"project\" must be 1 to 48", "/bad.json:1:", "\"limits.commitBytes\" must be a number of bytes",
      "\"limits.hops\" must be 1",
      "\"rateLimits.reads\" must be a rate", "\"rateLimits.links\" must be a rate", "\"nobody\" is no address",
      "is no language",
      "/none cannot be read as a folder", "belong together", "A password is not sent without TLS",
    ] {
      #expect(found.contains { $0.contains(sentence) }, "\(sentence): \(found)")
    }
  }

  @Test("functions' settings are checked against the code, with their places")
  func functions() async throws {
    let folder = TemporaryFolder()
    try FileBytes.write(Array(Self.rules.utf8), to: folder.file("r.json"))
    let text = """
      {"project": "game", "data": "d", "rules": "r.json",
       "functions": {"pay": {"amount": "much", "amuont": 1}, "pya": {}, "count": 3}}
      """
    try FileBytes.write(Array(text.utf8), to: folder.file("c.jsonc"))
    struct Settings: FunctionSettings { var amount = 50 }
    let run = await CommandRun(["config", "check", folder.file("c.jsonc")]) { functions in
      functions.onCreate(TreePath<Int>("/a"), name: "pay", settings: Settings()) { _, _, _ in .done }
      functions.onCreate(TreePath<Int>("/b"), name: "count") { _, _ in .done }
    }
    #expect(run.code == 2)
    for sentence in [
      ":2:42: pay has no setting amuont; it has amount.", "There is no setting \"pya\" in \"functions\"; did you mean \"pay\"?",
      "\"functions.count\" must be an object of settings, not a number.", "The settings of pay cannot be read",
    ] {
      #expect(run.err.contains(sentence), "\(run.err)")
    }
  }

  @Test("the example is well, and names every setting")
  func example() throws {
    let source = String(decoding: try FileBytes.read("Examples/doubloon.jsonc"), as: UTF8.self)
    var faults: [String] = []
    do {
      _ = try ServeConfiguration.load("Examples/doubloon.jsonc")
    } catch {
      faults = error.message.split(separator: "\n").map(String.init)
    }
    // It needs no file of the reader's machine; only its functions are not registered here.
    let expected = ["grantSignupReward", "rewardReferrals"]
    #expect(faults.count == expected.count, "\(faults)")
    for part in expected { #expect(faults.contains { $0.contains(part) }, "\(part): \(faults)") }
    let asked = ConfigurationReader.Diagnostics()
    let file = FileBytes.absolute("Examples/doubloon.jsonc")
    _ = ConfigurationReader.read(
      Array(source.utf8), file: file, surroundings: .process, diagnostics: asked, ServeConfiguration.init)
    #expect(asked.asked.count > 40)
    // The members of settings that are commented out are not asked for.
    for name in asked.asked.union(["certificate", "key", "name", "token"]) {
      #expect(source.contains("\"\(name)\""), "\(name)")
    }
  }
}
