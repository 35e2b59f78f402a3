@testable import Accounts
@testable import AdminClient
import AdminModel
@testable import DoubloonCLI
import FunctionsKit
import Logging
import Mail
import MailContent
@testable import ServerApp
@testable import ServerConfiguration
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel
import Triggers

@Suite struct SMTPTransportTests {
  private func submit(_ application: Application, key: String, payload: String) async throws {
    let namespace = try await application.database.openNamespace(named: "demo-default-rtdb")
    var request = CommitRequest(namespace: namespace, actor: .system("test"))
    request.rows.outbox = [
      OutboxRecord(
        key: key, outlet: MailOrder.outlet, payload: payload, cause: nil, state: .waiting, attempts: 0, nextAttemptAt: 0,
        lastError: nil, createdAt: 0)
    ]
    let database = application.database
    let result: Result<Void, CommitError> = await withCheckedContinuation { continuation in
      database.submit(request) { continuation.resume(returning: $0.map { _ in }) }
    }
    try result.get()
    await application.outbox.drain()
  }

  private func record(_ application: Application, _ key: String) throws -> OutboxRecord? {
    try application.engine.read { snapshot in
      guard let namespace = try snapshot.namespaces().first?.id else { return nil }
      return try snapshot.outbox(in: namespace, key: key)
    }
  }

  @Test("in development a mail is shown, kept for administrators, and its words are gone from the store")
  func ring() async throws {
    var configuration = ServerConfiguration(storage: .memory)
    configuration.port = 0
    let application = try Application(configuration: configuration) { _ in }
    let port = try await application.start()
    let words = TemplateCatalog().words(.resetPassword, values: ["link": "https://game.example/code", "appName": "Hunt"])
    let order = MailOrder(kind: .resetPassword, to: "bob@example.com", words: words)
    try await submit(application, key: "m1", payload: order.payload)
    try await submit(application, key: "m2", payload: "{}")
    let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: "owner")
    let mails = try await client.get("/admin/v1/mail").listed("mails")
    #expect(mails.count == 1)
    #expect(mails.first?["to"]?.string == "bob@example.com" && mails.first?["link"]?.string == "https://game.example/code")
    #expect(mails.first?["subject"]?.string == "Your password for Hunt" && mails.first?["kind"]?.string == "resetPassword")
    let sent = try record(application, "m1")
    #expect(sent?.state == .delivered && sent?.payload == order.remainder && sent?.payload.contains("code") == false)
    let dead = try record(application, "m2")
    #expect(dead?.state == .dead && dead?.attempts == 1 && dead?.lastError?.contains("\"kind\" must be") == true)
    let report = application.outbox.report
    #expect(report.ready == 0 && report.later == 0 && report.running == 0 && report.outlets.map(\.name) == ["mail"])
    #expect(report.outlets.map { [$0.counts.delivered, $0.counts.failed, $0.counts.dead] } == [[1, 0, 1]])
    await client.close()
    await application.stop()
  }

  @Test("the ring keeps the latest, each once")
  func bound() async throws {
    let ring = DevelopmentMailbox(
      clock: AdjustableClock(frozenAt: 5), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    for number in 0..<120 {
      let order = MailOrder(kind: .invite, to: "p\(number)@example.com", subject: "s", text: "t")
      try await ring.deliver(key: "k\(number)", payload: order.payload)
      try await ring.deliver(key: "k\(number)", payload: order.payload)
    }
    #expect(ring.recentMail(limit: 1000).count == DevelopmentMailbox.countMax)
    #expect(ring.recentMail(limit: 2).map(\.to) == ["p119@example.com", "p118@example.com"])
  }

  @Test("what can never be sent fails for good, a server that is away does not")
  func failures() async throws {
    let from = try MailAddress(parsing: "Hunt <a@hunt.example>")
    let settings = MailSettings(server: SMTPConfiguration(host: "127.0.0.1", port: 1, security: .none), from: from)
    let outlet = try SMTPTransport(
      settings, clock: AdjustableClock(frozenAt: 5), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    for payload in ["", "{}", MailOrder(kind: .invite, to: "nobody", subject: "s", text: "t").payload] {
      await #expect(throws: PermanentError.self) { try await outlet.deliver(key: "k", payload: payload) }
    }
    let order = MailOrder(kind: .invite, to: "b@c.d", subject: "s", text: "t")
    await #expect { try await outlet.deliver(key: "k", payload: order.payload) } throws: {
      ($0 as? MailError)?.kind == .temporary
    }
    #expect(outlet.remainder(of: order.payload) == order.remainder && outlet.remainder(of: "x") == "x")
  }

  @Test("files of a folder replace the built-in words, and faults name them")
  func templates() throws {
    let folder = TemporaryFolder()
    try folder.write("Subject: Ahoy {{displayName}}\n\nClick {{link}}\n", to: "signIn.en.txt")
    try folder.write("<a href=\"{{link}}\">go</a>", to: "signIn.en.html")
    try folder.write("Subject: Hej\n\n{{link}}", to: "signIn.sv.txt")
    var catalog = TemplateCatalog()
    try TemplateFolder(folder.path).add(to: &catalog)
    let words = catalog.words(.signIn, locales: ["en-GB"], values: ["displayName": "Bob", "link": "https://l"])
    #expect(words == MailTemplate.Words(subject: "Ahoy Bob", text: "Click https://l\n", html: "<a href=\"https://l\">go</a>"))
    #expect(catalog.words(.signIn, locales: ["sv"], values: [:]) == MailTemplate.Words(subject: "Hej", text: "", html: nil))
    try folder.write("no subject", to: "invite.en.txt")
    try folder.write("x", to: "spam.en.txt")
    try folder.write("x", to: "README")
    try folder.write("x", to: "invite.fr.html")
    try folder.write("\n{{nobody}}", to: "signIn.en.html")
    #expect { try TemplateFolder(folder.path).add(to: &catalog) } throws: { error in
      let faults = (error as? TemplateFolderError)?.problems ?? []
      return faults.count == 5
        && [
          "/invite.en.txt:1: The file must begin", "/spam.en.txt: there is no mail \"spam\"", "/README: a template's files",
          "invite.fr.txt, with the subject and the text, is missing", "/signIn.en.html:2: There is no placeholder \"nobody\"",
        ]
        .allSatisfy { part in faults.contains { $0.contains(part) } }
    }
  }
}

@Suite struct TemplatedCodeMailTests {
  private func mail(_ name: String?, locales: [String]) throws -> MailOrder {
    let letter = CodeMail(
      project: "game", kind: .verifyEmail, to: "victim@example.com", newEmail: nil, displayName: name, locales: locales,
      link: "https://game.example/code")
    let mail = TemplatedCodeMail(templates: TemplateCatalog(defaultLocale: "fr"), appName: "Acme")
    return try MailOrder(payload: try #require(mail.message(for: letter)).payload)
  }

  @Test("a letter is in the first language that there is, or else in the game's")
  func languages() throws {
    #expect(try mail("Ann", locales: ["sv", "de-AT", "en"]).text.hasPrefix("Hallo Ann,\n"))
    #expect(try mail("Ann", locales: ["ja"]).text.hasPrefix("こんにちは、Ann様。\n"))
    #expect(try mail("Ann", locales: []).text.hasPrefix("Bonjour Ann,\n"))
  }

  @Test("a name with an address in it is not shown to the recipient")
  func names() throws {
    let mail = try mail("You won! Claim at evil.com/prize", locales: ["en"])
    #expect(mail.text.hasPrefix("Hello,\n") && mail.html?.contains("<p>Hello,</p>") == true)
    #expect(!mail.payload.contains("evil"))
  }
}
