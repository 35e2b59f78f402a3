import NIOHTTP1
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import APISupport
@testable import HTTPServer
@testable import RealtimeAPI

/// Small parts, without a server.
struct PieceTests {
  @Test("Push ids of one clock and one seed differ between epochs")
  func epochs() {
    func ids(epoch: Int64) -> [String] {
      var generator = PushIDGenerator()
      var random = EpochMixedRandom(base: SplitMix64(seed: 7), epoch: epoch)
      return (0..<100).map { generator.next(now: Int64($0), random: &random) }
    }
    let all = (0..<20).flatMap { ids(epoch: $0) }
    #expect(Set(all).count == all.count)
    #expect(ids(epoch: 3) == ids(epoch: 3))
  }

  @Test(
    "The first label of a host is its namespace; addresses and single labels have none",
    arguments: [
      ("game.example.com", "game"), ("game.localhost:9000", "game"), ("localhost:9000", nil), ("game", nil), ("", nil),
      ("127.0.0.1", nil), ("10.0.0.1:80", nil), ("[::1]:9000", nil), ("game.", nil), (".com", ""),
    ] as [(String, String?)])
  func host(_ row: (String, String?)) {
    #expect(HostName.namespace(in: row.0).map(String.init) == row.1)
  }

  @Test(
    "Dates as HTTP writes them",
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    ] as [(Int64, String)])
  func date(_ row: (Int64, String)) {
    #expect(DateHeader.text(second: row.0) == row.1)
  }

  @Test("What is kept of an answer reads back")
  func answer() {
    for answer in [
      WriteAnswer(status: 200, etag: nil, body: Array("{}".utf8)), WriteAnswer(status: 204, etag: "abc=", body: []),
    ] {
      #expect(WriteAnswer(stored: answer.stored) == answer)
    }
    #expect(WriteAnswer(stored: [0, 200, 9, 1]) == nil)
    #expect(WriteAnswer(stored: []) == nil)
  }

  @Test(
    "Templates match whole paths, and ids with slashes",
    arguments: [
      ("/a/{x}", "/a/1", ["x": "1"]), ("/a/{x}", "/a", nil), ("/a/{x}", "/a/1/2", nil),
      ("/e/{id...}", "/e/1-2:/u/b", ["id": "1-2:/u/b"]), ("/e/{id...}/redo", "/e/1:/u/redo", ["id": "1:/u"]),
      ("/e/{id...}/redo", "/e/redo", nil), ("/e/{id...}", "/e", nil),
    ] as [(String, String, [String: String]?)])
  func template(_ row: (String, String, [String: String]?)) {
    let path = row.1.split(separator: "/").map(String.init)
    #expect(RouteTemplate(stringLiteral: row.0).match(path) == row.2)
  }

  @Test("Every refusal of the write pipeline has a status; only what was not applied has 5xx")
  func statuses() {
    let rows: [(CommitError.Code, UInt)] = [
      (.stale(.absent), 412), (.permissionDenied, 401), (.invalid, 400), (.tooLarge, 400), (.triggersExceeded, 400),
      (.idempotencyConflict, 422), (.overloaded, 503), (.unavailable, 503), (.insufficientFunds, 409),
    ]
    for (code, status) in rows { #expect(APIError(CommitError(code, "text")).status.code == status) }
    #expect(APIError(CommitError(.overloaded, "text")).headers == [HTTPResponse.Header("Retry-After", "1")])
  }
}
