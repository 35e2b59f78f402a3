import AccessRules
import Credentials
import HTTPServer
import Logging
import ServerTestSupport
import StorageCore
import StoragePostgres
import StorageSQLite
import StorageTestSupport
import TestSupport
import Testing
import TextFormats
import TreeDatabase
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// What a node answers at its port for stale reads.
@Suite struct StaleReadsTests {
  /// A store that one node writes, and another node's copy with the port over it.
  private final class Nodes {
    let reads: StaleReads
    let database: Database
    let namespace: NamespaceID
    private let folder = TemporaryFolder()
    private let journal = MemoryJournal()
    private let engine: SQLiteEngine
    private let copy: WorkingCopy
    private let client: RawConnection
    private let running: Task<Void, any Error>

    init() async throws {
      let base = "\(folder.path)/base"
      for node in ["leading", "following"] {
        try SQLiteEngine.makeFirstCopy(at: base)
        try WorkingCopy.install(base, in: "\(folder.path)/\(node)")
      }
      engine = try SQLiteEngine(workingCopy: "\(folder.path)/leading", journal: journal, fence: 1)
      let configuration = ServerConfiguration(storage: .directory("\(folder.path)/following"))
      database = try Database(engine: engine, participants: [], clock: configuration.clock)
      namespace = try await database.openNamespace(named: configuration.defaultNamespace)
      copy = try WorkingCopy(in: "\(folder.path)/following")
      let key = try SigningKey.generate()
      reads = try StaleReads(
        at: PortAddress(host: "127.0.0.1", port: 0), configuration,
        keys: CurrentKeys(KeyRing([KeyRing.Entry(key: key, signsFrom: 0)])), logger: Logger(label: "test"))
      running = try await reads.start()
      client = try await RawConnection.connect(to: try #require(reads.port))
    }

    /// A folder that has no copy, and the one that has.
    var nowhere: String { "\(folder.path)/nowhere" }
    var following: String { "\(folder.path)/following" }

    /// Opens the copy, and brings it up to date.
    func follow() throws {
      reads.didOpen("\(folder.path)/following")
      try takeIn()
    }

    func takeIn(between: () -> Void = {}) throws {
      var tables: Set<String> = []
      try copy.apply(Array(journal.batches.dropFirst(Int(copy.position.batch)))) { touched in
        tables = touched
        reads.willShow(touched)
        between()
      }
      reads.didShow(tables)
    }

    func put(_ path: String, _ value: Scalar) async throws {
      _ = try await database.commit(
        CommitRequest(namespace: namespace, actor: .system("test"), operations: [.set(try Path(parsing: path), .leaf(value))]))
    }

    func revoke(_ uid: String, before time: Int64) async throws {
      var request = CommitRequest(namespace: namespace, actor: .system("test"))
      request.decision = Revoking(
        AccountRevocation(uid: uid, reason: .revoked, notBefore: time, effectiveAt: database.clock.now() - 1000))
      _ = try await database.commit(request)
    }

    func putRules(_ source: String) async throws {
      try await database.putRules(source, rules: try RuleSet(parsing: source), in: namespace)
    }

    func send(_ path: String, _ headers: String = "", method: String = "GET") async throws {
      try await client.send("\(method) \(path) HTTP/1.1\r\nHost: node\r\n\(headers)\r\n")
    }

    func answer() async throws -> RawResponse { try #require(try await client.next()) }

    func get(_ path: String, _ headers: String = "", method: String = "GET") async throws -> RawResponse {
      try await send(path, headers, method: method)
      return try await answer()
    }

    func end() async throws {
      reads.rest()
      running.cancel()
      _ = await running.result
      copy.close()
      database.shutDown()
      engine.close()
    }
  }

  private final class Revoking: WriterDecision {
    private let revocation: AccountRevocation

    init(_ revocation: AccountRevocation) { self.revocation = revocation }

    func decide(in namespace: NamespaceID, at time: Int64, session: any CommitSession) throws(CommitError)
      -> [WriteOperation.Assignment]
    {
      session.put(.revocation(revocation), in: namespace)
      return []
    }
  }

  @Test("A node that follows answers from its copy, and says for how long that may have been behind")
  func answers() async throws {
    let nodes = try await Nodes()
    try await nodes.put("/users/bob/level", 4)
    #expect(try await nodes.get("/users.json").status == 503)
    try nodes.follow()
    #expect(try await nodes.get("/users.json").status == 503, "not compared yet")
    #expect(try await nodes.get("/readyz").status == 503)
    nodes.reads.didCompare(at: MonotonicTime.now())
    let first = try await nodes.get("/users.json")
    #expect(first.status == 200 && first.json?["bob"]?["level"]?.int == 4 && first["age"] == "1")
    #expect(try await nodes.get("/readyz").status == 200)
    try await nodes.put("/users/bob/level", 5)
    #expect(try await nodes.get("/users/bob/level.json").body == "4", "the copy has not heard of it")
    try nodes.takeIn()
    #expect(try await nodes.get("/users/bob/level.json").body == "5")
    #expect(try await nodes.get("/users/bob.json?shallow=true").json?["level"]?.bool == true)
    nodes.reads.didCompare(at: MonotonicTime.now() - 7500)
    let old = try await nodes.get("/users/bob/level.json")
    #expect(old.status == 200 && old["age"] == "8" && old["access-control-expose-headers"] == "Age")
    #expect(try await nodes.get("/users.json", "Cache-Control: no-store, max-age=8\r\n").status == 200)
    let refused = try await nodes.get("/users.json", "Cache-Control: no-store\r\nCache-Control: Max-Age=7\r\n")
    #expect(refused.status == 503 && refused["retry-after"] == "1")
    nodes.reads.didCompare(at: MonotonicTime.now() - 3_601_000)
    #expect(try await nodes.get("/users.json").status == 503, "longer than a token lives")
    nodes.reads.willClose()
    #expect(try await nodes.get("/users.json").status == 503)
    try await nodes.end()
  }

  @Test(
    "It reads the tree, and does nothing else",
    arguments: [
      ("PUT", "/a.json", "", 405), ("POST", "/a.json", "", 405), ("DELETE", "/a.json", "X-HTTP-Method-Override: GET\r\n", 405),
      ("GET", "/a.json", "Accept: text/event-stream\r\n", 400),
      ("GET", "/a.json", "Accept: */*\r\nAccept: text/event-stream\r\n", 400), ("GET", "/admin/v1/status", "", 404),
      ("GET", "/", "", 404),
      ("GET", "/.settings/rules.json", "", 404), ("GET", "/.ws?v=5", "Upgrade: websocket\r\nConnection: Upgrade\r\n", 404),
      ("GET", "/healthz", "", 200), ("OPTIONS", "/a.json", "", 200), ("GET", "/a.json?ns=another", "", 200),
    ])
  func bounds(method: String, path: String, headers: String, status: Int) async throws {
    let nodes = try await Nodes()
    try nodes.follow()
    nodes.reads.didCompare(at: MonotonicTime.now())
    let found = try await nodes.get(path, headers, method: method)
    #expect(found.status == status, "\(found.body)")
    // A name that only a write makes.
    #expect(nodes.database.namespace(named: "another") == nil)
    try await nodes.end()
  }

  @Test("Rules that change are those of every answer that shows what they came with; what is asked meanwhile waits")
  func rules() async throws {
    let nodes = try await Nodes()
    try await nodes.putRules(#"{"rules": {".read": true}}"#)
    try await nodes.put("/secret", 1)
    try nodes.follow()
    nodes.reads.didCompare(at: MonotonicTime.now())
    #expect(try await nodes.get("/secret.json").body == "1")
    try await nodes.putRules(#"{"rules": {"open": {".read": true}}}"#)
    try await nodes.put("/secret", 2)
    let before = try #require(nodes.reads.source.content)
    try nodes.takeIn {
      guard case .copy(let view) = before else { return }
      // Who was asking before this, by the rules from before, sees no more.
      #expect(throws: StorageError.self) { try view.namespaces() }
      #expect(nodes.reads.source.content == nil)
    }
    let refused = try await nodes.get("/secret.json")
    #expect(refused.status == 401 && !refused.body.contains("2"))
    #expect(try await nodes.get("/secret.json", "Authorization: Bearer owner\r\n").body == "2")
    nodes.reads.willShow(["rules"])
    try await nodes.send("/open.json")
    while nodes.reads.source.heldCount == 0 { await Task.yield() }
    nodes.reads.didShow(["rules"])
    #expect(try await nodes.answer().body == "null")
    try await nodes.end()
  }

  @Test("A copy that cannot be read shows nothing; the next one that can be does")
  func unreadable() async throws {
    let nodes = try await Nodes()
    nodes.reads.didOpen(nodes.nowhere)
    nodes.reads.didCompare(at: MonotonicTime.now())
    #expect(try await nodes.get("/readyz").status == 503)
    try nodes.follow()
    nodes.reads.didCompare(at: MonotonicTime.now())
    #expect(try await nodes.get("/readyz").status == 200)
    try await nodes.end()
  }

  @Test("A token that was revoked is none any more, and the view stays")
  func revoked() async throws {
    let nodes = try await Nodes()
    try await nodes.putRules(#"{"rules": {"mine": {"$uid": {".read": "auth.uid === $uid"}}}}"#)
    try nodes.follow()
    nodes.reads.didCompare(at: MonotonicTime.now())
    let claims = [
      #""sub": "bob", "user_id": "bob", "aud": "demo", "iss": "https://securetoken.google.com/demo""#,
      #""iat": 1000, "exp": 9999999999, "auth_time": 1000"#,
    ]
    let parts = [#"{"alg": "none", "typ": "JWT"}"#, "{\(claims.joined(separator: ", "))}"]
    let token = parts.map { Base64.encode($0.utf8, as: .url) + "." }.joined()
    #expect(try await nodes.get("/mine/bob.json?auth=\(token)").status == 200)
    let before = try #require(nodes.reads.source.content)
    try await nodes.revoke("bob", before: 2000)
    try nodes.takeIn()
    #expect(try await nodes.get("/mine/bob.json?auth=\(token)").status == 401)
    if case .copy(let was) = before, case .copy(let view)? = nodes.reads.source.content { #expect(was === view) }
    try await nodes.end()
  }

  @Test("What cannot be judged is neither allowed nor denied")
  func unjudged() async throws {
    let nodes = try await Nodes()
    try await nodes.putRules(#"{"rules": {".read": "root.child('open').val() === true"}}"#)
    try await nodes.put("/open", true)
    try nodes.follow()
    let copy = FollowedCopy(try CopyReaders(in: nodes.following))
    let database = try Database(reading: copy, clock: AdjustableClock(), refusingWith: FollowedCopy.refusal)
    let rules = try #require(database.catalog.ruleSet(of: nodes.namespace))
    #expect(database.decideRead(.root, query: nil, in: nodes.namespace, as: nil, by: rules).isAllowed)
    copy.retire()
    let decision = database.decideRead(.root, query: nil, in: nodes.namespace, as: nil, by: rules)
    #expect(!decision.isAllowed && decision.isUnavailable)
    try await nodes.end()
  }

  @Test("A view that was retired goes, with all it has")
  func goes() async throws {
    let nodes = try await Nodes()
    try nodes.follow()
    nodes.reads.didCompare(at: MonotonicTime.now())
    #expect(try await nodes.get("/a.json").status == 200)
    weak var view: CopyView?
    if case .copy(let found) = nodes.reads.source.content { view = found }
    #expect(view != nil)
    nodes.reads.willShow(["rules"])
    nodes.reads.didShow(["rules"])
    #expect(view == nil)
    try await nodes.end()
  }

  @Test("A server is known to be the one that takes the batches while it shows new beats")
  func beats() {
    var watch = BeatWatch()
    watch.see(fence: 3, beat: 10, askedAt: 1000)
    #expect(watch.provenAt == nil)
    watch.see(fence: 3, beat: 10, askedAt: 1100)
    #expect(watch.provenAt == nil)
    watch.see(fence: 3, beat: 11, askedAt: 1200)
    #expect(watch.provenAt == 1100)
    watch.see(fence: 3, beat: 11, askedAt: 9000)
    #expect(watch.provenAt == 1100, "one that stands still")
    watch.see(fence: 4, beat: 1, askedAt: 9100)
    #expect(watch.provenAt == 9000)
    watch.see(fence: 4, beat: 0, askedAt: 9200)
    #expect(watch.provenAt == 9000, "one that was the primary before")
  }
}
