import Credentials
import FunctionsKit
import Glibc
import Logging
import MailContent
import NIOHTTP1
import StorageCore
import Synchronization
import TestSupport
import Testing
import TreeDatabase
import TreeModel
import Triggers

@testable import AdminClient
@testable import ServerApp
@testable import ServerConfiguration

/// Nothing secret is in the log, whatever its level, and nothing in the store that is not needed to know it again.
struct SecretsTests {
  /// Keeps every line of the log, with all that belongs to it.
  private struct Recorder: LogHandler {
    final class Lines: Sendable {
      private let lines = Mutex<[String]>([])
      func add(_ line: String) { lines.withLock { $0.append(line) } }
      var all: [String] { lines.withLock { $0 } }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let more = metadata.merging(event.metadata ?? [:]) { $1 }
      lines.add("\(event.level) \(event.message) \(more)")
    }
  }

  /// Takes mails out of the outbox as the real outlet does, and keeps them.
  private final class Mailbox: OutboxTransport {
    let name = MailOrder.outlet
    private let mails = Mutex<[MailOrder]>([])
    func deliver(key: String, payload: String) async throws {
      let order = try MailOrder(payload: payload)
      mails.withLock { $0.append(order) }
    }
    func remainder(of payload: String) -> String { (try? MailOrder(payload: payload))?.remainder ?? payload }

    /// The code of the latest mail of a kind.
    func code(_ kind: MailKind) throws -> String {
      let text = try #require(mails.withLock { $0.last { $0.kind == kind } }).text
      let parts = text.split(separator: "oobCode=", maxSplits: 1)
      try #require(parts.count == 2, "\(kind) has no code")
      return String(parts[1].prefix { $0 != "&" && !$0.isWhitespace })
    }
  }

  /// What must not be found anywhere, by a name for the report.
  private final class Secrets {
    private(set) var all: [(name: String, text: String)] = []
    func note(_ name: String, _ text: String) {
      #expect(text.utf8.count >= 6, "\(name) is too short to be looked for")
      all.append((name, text))
    }
    /// Notes the tokens of an answer, and gives the ID token.
    @discardableResult
    func tokens(_ name: String, _ json: JSON) -> String {
      for (member, what) in [
        ("idToken", "ID token"), ("id_token", "ID token"), ("refreshToken", "refresh token"),
        ("refresh_token", "refresh token"), ("access_token", "access token"),
      ] {
        if let text = json[member]?.string { note("\(name): \(what)", text) }
      }
      let token = json["idToken"]?.string ?? json["id_token"]?.string ?? ""
      if let signature = token.split(separator: ".").last { note("\(name): signature", String(signature)) }
      return token
    }
  }

  private let lines = Recorder.Lines()
  private let mailbox = Mailbox()

  private func post(_ server: IssuerServing, _ method: String, _ body: JSON) async throws -> JSON {
    let answer = try await server.send(.POST, "/v1/\(method)?key=k", body)
    #expect(answer.status == 200, "\(method): \(answer.json)")
    return answer.json
  }

  @Test("sign-up, sign-in, refresh, providers, custom tokens, mailed codes, key files: no secret in the log or in the store")
  func nowhere() async throws {
    let accounts =
      ProviderSignInTests.guild + ", \"publicURL\": \"https://game.example\", \"authorizedDomains\": [\"game.example\"]"
    let logger = Logger(label: "test") { [lines] _ in Recorder(lines: lines) }
    try await IssuerServing.run(accounts, logger: logger, outlets: [mailbox]) { server in
      let secrets = Secrets()
      secrets.note("an administrator's token", ServeTests.token)
      try await passwords(server, secrets)
      try await others(server, secrets)
      try await codes(server, secrets)
      try await machines(server, secrets)
      try await refusals(server, secrets)
      await server.application.outbox.drain()
      try check(server, secrets)
    }
  }

  private func passwords(_ server: IssuerServing, _ secrets: Secrets) async throws {
    secrets.note("password", "Tr0ub4dor-and-3")
    secrets.note("new password", "correct-horse-battery")
    secrets.note("wrong password", "wrong-horse-battery")
    let guest = secrets.tokens("guest", try await post(server, "accounts:signUp", ["returnSecureToken": true]))
    let linked = try await post(
      server, "accounts:signUp",
      ["idToken": .string(guest), "email": "jim@x.io", "password": "Tr0ub4dor-and-3", "returnSecureToken": true])
    secrets.tokens("link", linked)
    let signedIn = try await post(
      server, "accounts:signInWithPassword", ["email": "jim@x.io", "password": "Tr0ub4dor-and-3", "returnSecureToken": true])
    let token = secrets.tokens("sign-in", signedIn)
    secrets.tokens(
      "refresh",
      try await post(server, "token", ["grantType": "refresh_token", "refreshToken": signedIn["refreshToken"] ?? .null]))
    let wrong = try await server.send(
      .POST, "/v1/accounts:signInWithPassword?key=k", ["email": "jim@x.io", "password": "wrong-horse-battery"])
    #expect(wrong.status == 400)
    server.clock.advance(by: 2000)
    secrets.tokens(
      "change",
      try await post(
        server, "accounts:update",
        ["idToken": .string(token), "password": "correct-horse-battery", "returnSecureToken": true]))
    _ = try await server.send(.GET, "/users/\(linked["localId"]?.string ?? "").json?auth=\(token)")
    _ = try await server.send(.GET, "/users.json", token: token)
  }

  private func others(_ server: IssuerServing, _ secrets: Secrets) async throws {
    let text = try LocalIssuer.first.get().token(LocalIssuer.claims(server.address, at: server.clock.now(), [("nonce", nil)]))
    secrets.note("provider's token", text)
    secrets.tokens("provider", try await server.signIn(text).json)
    let expired = try LocalIssuer.first.get().token(
      LocalIssuer.claims(server.address, at: server.clock.now(), [("exp", 1_700_000_000), ("iat", 1_699_999_000)]))
    secrets.note("provider's expired token", expired)
    #expect(try await server.signIn(expired, nonce: "a-nonce-of-somebody").status == 400)
    secrets.note("nonce", "a-nonce-of-somebody")
  }

  private func codes(_ server: IssuerServing, _ secrets: Secrets) async throws {
    func mail(_ type: String, _ kind: MailKind) async throws -> String {
      _ = try await post(
        server, "accounts:sendOobCode",
        ["requestType": .string(type), "email": "jim@x.io", "continueUrl": "https://game.example/"])
      await server.application.outbox.drain()
      let code = try mailbox.code(kind)
      secrets.note("code of \(type)", code)
      return code
    }
    secrets.note("password by mail", "set-by-a-mailed-code")
    _ = try await post(
      server, "accounts:resetPassword",
      ["oobCode": .string(try await mail("PASSWORD_RESET", .resetPassword)), "newPassword": "set-by-a-mailed-code"])
    let link = try await post(
      server, "accounts:signInWithEmailLink",
      ["email": "jim@x.io", "oobCode": .string(try await mail("EMAIL_SIGNIN", .signIn))])
    secrets.tokens("link by mail", link)
  }

  private func machines(_ server: IssuerServing, _ secrets: Secrets) async throws {
    let made = try await server.send(
      .POST, "/admin/v1/service-accounts", ["name": "backend", "role": "admin", "server": "https://game.example"],
      token: ServeTests.token)
    let key = try #require(ServiceAccountKey(file: made.json["key"] ?? .null))
    // The lines of the key without the frame: each alone would be a leak.
    for line in key.key.pem.split(separator: "\n").dropFirst().dropLast() where line.utf8.count > 40 {
      secrets.note("private key", String(line))
    }
    let assertion = try key.assertion(at: server.clock.now())
    secrets.note("assertion", assertion)
    let client = try AdminClient(server: "http://127.0.0.1:\(server.port)", token: nil, limits: .init(idleConnectionsMax: 0))
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
    let answer = try await client.send(
      .POST, "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(form.utf8)
    ).json()
    let access = try #require(answer["access_token"]?.string)
    secrets.note("access token", access)
    let list = "/v1/projects/game/accounts:batchGet?access_token=\(access)&maxResults=5"
    #expect(try await server.send(.GET, list, token: access).status == 200)
    #expect(try await server.send(.DELETE, "/admin/v1/events/nothing?access_token=\(access)").status >= 400)
    let now = server.clock.now() / 1000
    let custom = try key.key.token([
      "iss": .string(key.email), "sub": .string(key.email), "aud": .string(CustomToken.audience), "uid": "jill",
      "iat": .int(now), "exp": .int(now + 60),
    ])
    secrets.note("custom token", custom)
    secrets.tokens("custom", try await post(server, "accounts:signInWithCustomToken", ["token": .string(custom)]))
    let create: JSON = ["localId": "made", "email": "made@x.io", "password": "given-by-an-administrator"]
    secrets.note("password by an administrator", "given-by-an-administrator")
    #expect(try await server.send(.POST, "/v1/projects/game/accounts", create, token: access).status == 200)
  }

  /// What is wrong is told to who sent it, not to the log.
  private func refusals(_ server: IssuerServing, _ secrets: Secrets) async throws {
    let texts = ["not-a-secret-of-ours-0123456789", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJub2JvZHkifQ.c2lnbmF0dXJl"]
    for text in texts {
      secrets.note("what is no token", text)
      let bodies: [(String, JSON)] = [
        ("token", ["grantType": "refresh_token", "refreshToken": .string(text)]),
        ("accounts:lookup", ["idToken": .string(text)]),
        ("accounts:signInWithCustomToken", ["token": .string(text)]), ("accounts:resetPassword", ["oobCode": .string(text)]),
        ("accounts:update", ["oobCode": .string(text)]),
      ]
      for (method, body) in bodies {
        #expect(try await server.send(.POST, "/v1/\(method)?key=k", body).status == 400, "\(method)")
      }
      #expect(try await server.send(.POST, "/token", ["assertion": .string(text)]).status == 400)
      for path in ["/a.json?auth=\(text)", "/admin/v1/status?access_token=\(text)", "/a.json?access_token=\(text)"] {
        #expect(try await server.send(.GET, path).status == 401, "\(path)")
      }
      #expect(try await server.send(.PUT, "/a.json", 1, token: text).status == 401)
      #expect(try await server.send(.POST, "/admin/v1/namespaces", ["name": "x1"], token: text).status == 401)
      let action = "/emulator/action?mode=resetPassword&oobCode=\(text)&apiKey=k&newPassword=\(text)"
      // What follows links is shown the page, and what presses its button is refused.
      #expect(try await server.send(.GET, action).status == 200)
      #expect(try await server.send(.POST, action).status == 400)
    }
  }

  private func check(_ server: IssuerServing, _ secrets: Secrets) throws {
    let log = lines.all.joined(separator: "\n")
    #expect(log.contains("admin action"), "the log was heard")
    #expect(secrets.all.count > 50)
    for (name, text) in secrets.all { #expect(!log.contains(text), "\(name) is in the log") }
    let store = try Self.store(server.application)
    #expect(store.contains("jim@x.io") && store.contains("service-accounts.create") && store.contains("account-code/"))
    for (name, text) in secrets.all { #expect(!store.contains(text), "\(name) is in the store") }
    // The files hold former states of rows too: what was mailed stood in the outbox until it left, everything else never did.
    for file in ["data/doubloon.db", "data/doubloon.db-wal"] {
      let bytes = try FileBytes.read(server.folder.file(file))
      for (name, text) in secrets.all where !name.hasPrefix("code of ") {
        #expect(!Self.contains(bytes, Array(text.utf8)), "\(name) is in \(file)")
      }
    }
  }

  /// The outbox, the commits with their changes, the events, and what administrators did, as text.
  private static func store(_ application: Application) throws -> String {
    try application.engine.read { snapshot in
      var text = ""
      for namespace in try snapshot.namespaces().map(\.id) {
        for state: OutboxRecord.State in [.waiting, .delivered, .dead] {
          text += "\(try snapshot.outbox(in: namespace, state: state, after: nil, limit: 1000))\n"
        }
        text += "\(try snapshot.commits(in: namespace, after: .zero, limit: 1000))\n"
        text += "\(try snapshot.events(in: namespace, after: nil, limit: 1000))\n"
      }
      text += "\(try snapshot.audits(before: nil, limit: 1000).map { $0.record })\n"
      return text
    }
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { whole in
      part.withUnsafeBytes { part in
        guard var place = whole.baseAddress, let wanted = part.baseAddress else { return false }
        let last = place + whole.count - part.count
        while place <= last, let found = memchr(place, Int32(part[0]), last - place + 1) {
          if memcmp(found, wanted, part.count) == 0 { return true }
          place = UnsafeRawPointer(found) + 1
        }
        return false
      }
    }
  }
}
