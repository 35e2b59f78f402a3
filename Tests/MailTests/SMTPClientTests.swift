import MailContent
import TestSupport
import Testing
import TextFormats
import TreeModel

@testable import Mail

@Suite struct SMTPClientTests {
  private func mail(_ text: String = "Hello\n.dot\nend", to recipient: String = "bob@example.com") throws -> EncodedMail {
    let order = MailOrder(kind: .signIn, to: recipient, subject: "s", text: text)
    let message = try MailMessage(order, from: try MailAddress(parsing: "a@hunt.example"))
    return EncodedMail(message, key: "ns/\(recipient)", time: 0)
  }

  /// A client of the server, which trusts the tests' authority.
  private func client(
    _ server: MailServer, _ folder: TemporaryFolder, security: SMTPConfiguration.Security = .none,
    login: SMTPConfiguration.Login? = nil, host: String = "127.0.0.1", timeout: Int64 = 5000, isTrusting: Bool = true
  ) throws -> SMTPClient {
    var configuration = SMTPConfiguration(host: host, port: server.port, security: security)
    configuration.login = login
    configuration.timeoutMilliseconds = timeout
    if isTrusting {
      try folder.write(TestCertificates.authority, to: "ca.pem")
      configuration.authorityFile = folder.file("ca.pem")
    }
    return try SMTPClient(configuration)
  }

  private func failure(_ client: SMTPClient, _ mail: EncodedMail) async -> MailError? {
    do throws(MailError) {
      try await client.send(mail)
      return nil
    } catch {
      return error
    }
  }

  @Test("a mail goes over, whole, and the next by the same connection")
  func sending() async throws {
    let folder = TemporaryFolder()
    try await MailServer.run { server in
      let client = try client(server, folder)
      try await client.send(try mail())
      try await client.send(try mail("second", to: "eve@example.com"))
      client.close()
      let seen = server.seen
      #expect(
        seen.commands == [
          "1 EHLO [127.0.0.1]", "1 MAIL FROM:<a@hunt.example>", "1 RCPT TO:<bob@example.com>", "1 DATA",
          "1 MAIL FROM:<a@hunt.example>", "1 RCPT TO:<eve@example.com>", "1 DATA",
        ])
      #expect(seen.mails.count == 2 && seen.connections == 1)
      #expect(seen.mails[0].contains("\nHello\n.dot\nend\n") && seen.mails[0].contains("To: bob@example.com\n"))
    }
  }

  @Test("a burst shares few connections")
  func burst() async throws {
    let folder = TemporaryFolder()
    try await MailServer.run { server in
      let client = try client(server, folder)
      for round in 0..<3 {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<4 {
            let mail = try mail(to: "p\(round)\(number)@example.com")
            group.addTask { try await client.send(mail) }
          }
          try await group.waitForAll()
        }
      }
      #expect(server.seen.mails.count == 12 && server.seen.connections <= 4, "\(server.seen.connections)")
      client.close()
    }
  }

  @Test("TLS after STARTTLS and from the first byte, with both ways to sign in")
  func privacy() async throws {
    let folder = TemporaryFolder()
    let login = SMTPConfiguration.Login(user: "ü", password: "p\"w")
    let plain = Base64.encode("\0ü\0p\"w".utf8, as: .standard)
    for (isImplicit, auth, lines) in [
      (false, "AUTH PLAIN LOGIN", ["AUTH PLAIN \(plain)"]), (true, "AUTH PLAIN", ["AUTH PLAIN \(plain)"]),
      (false, "AUTH LOGIN", ["AUTH LOGIN", Base64.encode("ü".utf8, as: .standard), Base64.encode("p\"w".utf8, as: .standard)]),
    ] {
      var script = MailServer.Script()
      script.isImplicit = isImplicit
      script.features = ["mx", auth, "STARTTLS"]
      try await MailServer.run(script) { server in
        for host in ["127.0.0.1", "localhost"] {
          let client = try client(server, folder, security: isImplicit ? .tls : .startTLS, login: login, host: host)
          try await client.send(try mail())
          client.close()
        }
        let own = server.seen.commands.filter { $0.hasPrefix("1 ") }.map { String($0.dropFirst(2)) }
        let hello = ["EHLO [127.0.0.1]"]
        #expect(own == (isImplicit ? hello : hello + ["STARTTLS"] + hello) + lines + own.suffix(3), "\(own)")
        #expect(server.seen.wasPrivate == [true, true])
      }
    }
  }

  @Test("nothing is sent to a server that cannot prove who it is, or that somebody has tampered with")
  func distrust() async throws {
    let folder = TemporaryFolder()
    var tampered = MailServer.Script()
    tampered.features = ["mx", "STARTTLS"]
    var smuggling = tampered
    smuggling.smuggled = "250 injected\r\n"
    let rows: [(MailServer.Script, SMTPConfiguration.Security, Bool, String)] = [
      (tampered, .startTLS, false, "TLS:"), (smuggling, .startTLS, true, "said more than it was asked"),
      (MailServer.Script(), .startTLS, true, "does not offer STARTTLS"), (MailServer.Script(), .tls, true, "failed"),
    ]
    for (script, security, isTrusting, sentence) in rows {
      try await MailServer.run(script) { server in
        let client = try client(server, folder, security: security, timeout: 2000, isTrusting: isTrusting)
        let refusal = await failure(client, try mail())
        #expect(refusal?.kind == .temporary && refusal?.message.contains(sentence) == true, "\(refusal?.message ?? "sent")")
        #expect(server.seen.mails.isEmpty && !server.seen.commands.contains { $0.contains("MAIL") })
      }
    }
  }

  static let refusals: [(String, String, MailError.Kind, String)] = [
    ("RCPT", "550 5.1.1 no such user\r\n", .permanent, "refused the recipient bob@example.com: 550 5.1.1 no such user"),
    ("RCPT", "450-busy\r\n450 later\r\n", .temporary, "450 busy later"),
    ("MAIL", "552 too much\r\n", .permanent, "the sender"), ("MAIL", "530 sign in first\r\n", .temporary, "530"),
    ("DATA", "554 no\r\n", .permanent, "the mail"), (".", "554 spam\r\n", .permanent, "554 spam"),
    (".", "452 full\r\n", .temporary, "452 full"), ("EHLO", "550 go away\r\n", .temporary, "answered EHLO"),
    ("MAIL", "421 bye\r\n", .temporary, "421"), ("RCPT", "hang up", .temporary, "hung up"),
    (".", "hang up", .temporary, "hung up"),
    ("DATA", "HTTP/1.1 400 Bad\r\n", .temporary, "is no answer of a mail server"),
    ("MAIL", "250 a\r\n250 b\r\n250 c\r\n", .temporary, "failed"), ("RCPT", "", .temporary, "did not answer in time"),
    ("DATA", String(repeating: "x", count: 10_000), .temporary, "too long"),
    ("RCPT", "550 \u{1B}[2J\u{7}bad\r\n", .permanent, "550  [2J bad"),
  ]

  @Test("what the server says decides whether a mail is tried again", arguments: refusals)
  func refusal(_ place: String, _ answer: String, _ kind: MailError.Kind, _ sentence: String) async throws {
    let folder = TemporaryFolder()
    var script = MailServer.Script()
    script.answer = { line, _ in line.hasPrefix(place) ? answer : nil }
    try await MailServer.run(script) { server in
      let client = try client(server, folder, timeout: answer.isEmpty ? 200 : 5000)
      let refusal = await failure(client, try mail())
      #expect(refusal?.kind == kind && refusal?.message.contains(sentence) == true, "\(refusal?.message ?? "sent")")
      client.close()
    }
  }

  @Test("a greeting that is none, and a wrong password, leave the mail waiting")
  func unready() async throws {
    let folder = TemporaryFolder()
    var closed = MailServer.Script()
    closed.greeting = "554 no service\r\n"
    var strict = MailServer.Script()
    strict.features = ["mx", "AUTH PLAIN"]
    strict.answer = { line, _ in line.hasPrefix("AUTH") ? "535 5.7.8 wrong\r\n" : nil }
    for (script, sentence) in [(closed, "greeted with 554"), (strict, "did not accept user and password: 535")] {
      try await MailServer.run(script) { server in
        let client = try client(server, folder, login: .init(user: "u", password: "s3cret"))
        let refusal = await failure(client, try mail())
        #expect(refusal?.kind == .temporary && refusal?.message.contains(sentence) == true, "\(refusal?.message ?? "sent")")
        #expect(refusal?.message.contains("s3cret") == false)
      }
    }
    let nobody = try SMTPClient(SMTPConfiguration(host: "127.0.0.1", port: 1, security: .none))
    let refusal = await failure(nobody, try mail())
    #expect(refusal?.kind == .temporary && refusal?.message.contains("cannot be reached") == true)
  }

  @Test("a kept connection that the server has closed costs the mail nothing")
  func staleConnection() async throws {
    let folder = TemporaryFolder()
    var script = MailServer.Script()
    script.answer = { line, connection in
      connection == 1 && line.contains("TO:<eve") ? "hang up" : nil
    }
    try await MailServer.run(script) { server in
      let client = try client(server, folder)
      try await client.send(try mail())
      try await client.send(try mail(to: "eve@example.com"))
      #expect(server.seen.mails.count == 2 && server.seen.connections == 2)
      client.close()
    }
  }

  @Test("after a refused recipient the connection carries the next mail")
  func reset() async throws {
    let folder = TemporaryFolder()
    var script = MailServer.Script()
    script.answer = { line, _ in line.contains("TO:<eve") ? "550 no\r\n" : nil }
    try await MailServer.run(script) { server in
      let client = try client(server, folder)
      #expect(await failure(client, try mail(to: "eve@example.com"))?.kind == .permanent)
      try await client.send(try mail())
      #expect(server.seen.connections == 1 && server.seen.commands.contains("1 RSET") && server.seen.mails.count == 1)
      client.close()
    }
  }

  @Test("a mail that the server says is too large is not sent at all; a server from before EHLO is greeted the old way")
  func features() async throws {
    let folder = TemporaryFolder()
    var small = MailServer.Script()
    small.features = ["mx", "SIZE 400"]
    try await MailServer.run(small) { server in
      let client = try client(server, folder)
      #expect(await failure(client, try mail(String(repeating: "x", count: 500)))?.kind == .permanent)
      #expect(!server.seen.commands.contains { $0.contains("MAIL") })
    }
    var old = MailServer.Script()
    old.answer = { line, _ in line.hasPrefix("EHLO") ? "502 what\r\n" : nil }
    try await MailServer.run(old) { server in
      try await client(server, folder).send(try mail())
      #expect(server.seen.commands.prefix(2) == ["1 EHLO [127.0.0.1]", "1 HELO [127.0.0.1]"])
    }
  }

  @Test("a task that is cancelled lets go of a server that does not answer")
  func cancelling() async throws {
    let folder = TemporaryFolder()
    var script = MailServer.Script()
    script.answer = { line, _ in line.hasPrefix("RCPT") ? "" : nil }
    try await MailServer.run(script) { server in
      let client = try client(server, folder, timeout: 600_000)
      let mail = try mail()
      let begin = ContinuousClock.now
      await withTaskGroup(of: MailError?.self) { group in
        group.addTask { await failure(client, mail) }
        while !server.seen.commands.contains(where: { $0.contains("RCPT") }) { await Task.yield() }
        group.cancelAll()
        let ending = await group.next() ?? nil
        #expect(ending?.kind == .temporary)
      }
      #expect(ContinuousClock.now - begin < .seconds(300))
    }
  }
}
