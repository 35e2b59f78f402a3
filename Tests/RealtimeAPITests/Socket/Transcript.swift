import ServerTestSupport
import Testing
import TreeDatabase

@testable import APISupport

/// A conversation with the server, as it stands on the wire.
///
/// `a> …` is what client `a` sends, `a< …` what it gets next, both without the envelope `{"t":"d","d":…}`; `a! …` sends a whole
/// message; `a.` ends its connection; `PUT /x.json 1` is said over HTTP. What a client gets must be exactly the lines, in
/// their order: nothing is skipped.
struct Transcript: Sendable, CustomTestStringConvertible {
  let name: String
  var lines: [String]
  var access = AccessPolicy.development

  init(_ name: String, access: AccessPolicy = .development, _ lines: String...) {
    self.name = name
    self.lines = lines
    self.access = access
  }

  var testDescription: String { name }

  func play() async throws {
    try await APIServer.run(access: access) { server in
      // In production nobody makes it by coming.
      _ = try await server.database.openNamespace(named: "game")
      var clients: [Character: SocketClient] = [:]
      for line in lines {
        guard let letter = line.first, letter.isLowercase else {
          let words = line.split(separator: " ", maxSplits: 2).map(String.init)
          let answer = try await server.send(words[0], words[1], words.count > 2 ? words[2] : nil, headers: APIServer.admin)
          #expect(answer.status == 200, "\(line): \(answer.body)")
          continue
        }
        if clients[letter] == nil { clients[letter] = try await SocketClient.connect(to: server.port).client }
        let client = try #require(clients[letter])
        let text = String(line.dropFirst(3))
        switch line.dropFirst().first {
        case ">": try await client.request(text)
        case "!": try await client.send(text)
        case ".":
          try await client.close()
          clients[letter] = nil
        default:
          let answer = try await client.answer()
          #expect(answer == text, "\(name)")
          // What comes behind a wrong answer says nothing.
          guard answer == text else { return }
        }
      }
      for client in clients.values { try await client.close() }
    }
  }
}
