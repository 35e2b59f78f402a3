import ClientRuntime
import Foundation
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// Types of the app's in the tree: by decoders and encoders of one's own, and by paths with types.
@Suite(.timeLimit(.minutes(5))) struct DatabaseCodingTests {
  private struct Note: Codable, Equatable {
    var at: Date
    var bytes: Data
    var later: Date?
  }

  private static let date = Date(timeIntervalSince1970: 1_700_000_000)

  @Test("dates and bytes are written as the encoder says, and read back by the decoder that says the same")
  func strategies() async throws {
    let note = Note(at: Self.date, bytes: Data([1, 2, 255]), later: nil)
    let cases: [(Doubloon.Database.Encoder.DateEncodingStrategy, Doubloon.Database.Decoder.DateDecodingStrategy, String)] = [
      (.deferredToDate, .deferredToDate, "721692800"), (.secondsSince1970, .secondsSince1970, "1700000000"),
      (.millisecondsSince1970, .millisecondsSince1970, "1700000000000"), (.iso8601, .iso8601, "\"2023-11-14T22:13:20Z\""),
      (
        .custom { date, encoder in
          var container = encoder.singleValueContainer()
          try container.encode("day \(Int(date.timeIntervalSince1970) / 86_400)")
        }, .custom { _ in Self.date }, "\"day 19675\""
      ),
    ]
    try await DatabaseClient.run { server, client in
      for (write, read, text) in cases {
        let (encoder, decoder) = (Doubloon.Database.Encoder(), Doubloon.Database.Decoder())
        (encoder.dateEncodingStrategy, decoder.dateDecodingStrategy) = (write, read)
        try await client.ref("note").setValue(from: note, encoder: encoder)
        #expect(try await server.value("/note.json") == "{\"at\":\(text),\"bytes\":\"AQL/\"}")
        #expect(try await client.ref("note").getData().data(as: Note.self, decoder: decoder) == note)
      }
      let encoder = Doubloon.Database.Encoder()
      encoder.dataEncodingStrategy = .deferredToData
      try await client.ref("bytes").setValue(from: [Data([7])], encoder: encoder)
      #expect(try await server.value("/bytes.json") == "[[7]]")
    }
  }

  @Test(
    "what is of another kind than the decoder expects is an error with its place",
    arguments: ["7", "\"yesterday\"", "{\"a\":1}"])
  func mismatches(_ json: String) async throws {
    let node = try TreeNode(json: JSONParser.parse("{\"at\":\(json),\"bytes\":\"!\"}"))
    let decoder = Doubloon.Database.Decoder()
    decoder.dateDecodingStrategy = .iso8601
    let error = await failure { _ = try TreeNodeDecoder.decode(Note.self, from: node, options: decoder.options) }
    guard case .some(let error as DecodingError) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    switch error {
    case .typeMismatch(_, let context), .dataCorrupted(let context): #expect(context.codingPath.map(\.stringValue) == ["at"])
    default: Issue.record("\(error)")
    }
  }

  @Test("types can ask the encoder and the decoder for what the app gave them")
  func userInfo() throws {
    struct Scaled: Codable {
      static let factor = CodingUserInfoKey(rawValue: "factor")!
      var value: Int
      init(value: Int) { self.value = value }
      init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Int.self) / (decoder.userInfo[Self.factor] as? Int ?? 1)
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value * (encoder.userInfo[Self.factor] as? Int ?? 1))
      }
    }
    let (encoder, decoder) = (Doubloon.Database.Encoder(), Doubloon.Database.Decoder())
    encoder.userInfo[Scaled.factor] = 10
    decoder.userInfo[Scaled.factor] = 10
    let node = try TreeNodeEncoder.encode(["a": Scaled(value: 4)], options: encoder.options)
    #expect(node == ["a": 40])
    #expect(try TreeNodeDecoder.decode([String: Scaled].self, from: node, options: decoder.options)["a"]?.value == 4)
  }

  private enum Users {
    static let level = TreePath<Int, UserID>("/users/{uid}/level")
  }

  @Test("a path with types is read, written, listened to and changed as its type; what does not fit is an error")
  func typedPaths() async throws {
    try await DatabaseClient.run { server, client in
      let level = client.database.reference(to: Users.level, "alice")
      #expect(level.ref.url.hasSuffix("/users/alice/level"))
      // A write waits for the connection; a read would be given up after three seconds.
      try await client.ref("begun").setValue(true)
      #expect(try await level.get() == nil)
      try await level.set(4)
      #expect(try await level.transaction { ($0 ?? 0) + 1 })
      #expect(try await server.value("/users/alice/level.json") == "5")
      var values = level.values.makeAsyncIterator()
      #expect(try await values.next() == .some(5))
      try await level.write(6).acknowledged()
      #expect(try await values.next() == .some(6))
      try await level.remove().acknowledged()
      #expect(try await values.next() == .some(nil))
      try await level.ref.setValue("high")
      await #expect(throws: DecodingError.self) { _ = try await level.get() }
      await #expect(throws: DatabaseError.self) {
        try await client.database.reference(to: Users.level, "a.b").set(1)
      }
      await #expect(throws: DatabaseError.self) {
        try await client.database.reference(to: TreePath<Int>("/users/{uid}")).set(1)
      }
    }
  }

  @Test("the log tells of connections where that was asked for, and never of values")
  func logging() async throws {
    Doubloon.Database.setLoggingEnabled(true)
    defer { Doubloon.Database.setLoggingEnabled(false) }
    try await AppServer.run { server in
      let lines = Locked<[String]>([])
      let app = server.app { options in options.logHandler = { line in lines.withLock { $0.append(line) } } }
      let user = try await app.authentication.signInAnonymously().user
      let database = Doubloon.Database.database(app: app)
      try await database.reference(withPath: "x").setValue("a secret value")
      database.goOffline()
      #expect(lines.copy.contains { $0.hasPrefix("debug: Connecting") })
      let token = try await user.getIDToken()
      #expect(!lines.copy.contains { $0.contains("a secret value") || $0.contains(token) })
    }
  }
}
