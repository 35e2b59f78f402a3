import ClientNIO
import ClientRuntime
import Dispatch
import Foundation
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// A server with accounts and links, and apps that are configured for it.
struct AppServer {
  let api: APIServer
  let folder: TemporaryFolder
  let clock = StandingClock()

  static let settings = """
    {"domains":["https://example.page.link","https://go.acme.test/r"],"hosts":["acme.test"],
     "apps":{"ios":[{"bundleId":"test.acme.ios","appStoreId":"900100200"}],"android":[{"packageName":"test.acme.app"}]},
     "apiKeys":["web-key-1"],"limits":{"createPerSecond":1000}}
    """

  /// Runs a test against a server of its own.
  static func run(_ kind: AccountKind = .development, _ test: (AppServer) async throws -> Void) async throws {
    let folder = TemporaryFolder()
    try await APIServer.run(accounts: kind) { api in
      let put = try await api.send("PUT", "/admin/v1/links/settings", settings, headers: APIServer.admin)
      #expect(put.status == 200, "\(put.body)")
      try await test(AppServer(api: api, folder: folder))
    }
  }

  var url: String { "http://127.0.0.1:\(api.port)" }

  func options() -> FirebaseOptions {
    let options = FirebaseOptions(server: URL(string: url)!, apiKey: "web-key-1")
    options.storageFolder = folder.path + "/app"
    options.bundleID = "test.acme.ios"
    options.dynamicLinkDomains = ["https://go.acme.test/r"]
    options.callbackQueue = DispatchQueue(label: "callbacks")
    options.logHandler = { _ in }
    options.clock = clock
    return options
  }

  /// An app as its next start finds it: another one of the same name has the same session.
  func app(
    _ name: String = "game", http: (any HTTPTransport)? = nil, _ change: (FirebaseOptions) -> Void = { _ in }
  ) -> DoubloonApp {
    let options = options()
    change(options)
    let taken = FirebaseOptions(options.copy)
    return DoubloonApp(name: name, options: taken, runtime: AppRuntime(taken, http: http ?? counting()))
  }

  /// A client of the server that counts what it is asked, and can be told to fail.
  func counting() -> CountingTransport { CountingTransport(NIOTransport()) }

  var identity: ServerTestSupport.IdentityClient { ServerTestSupport.IdentityClient(server: api) }
}

/// A clock that only a test moves.
final class StandingClock: AppClock {
  private let state = Locked<(now: Date, sleepers: [Int: (end: Date, wake: CheckedContinuation<Void, Never>)], next: Int)>(
    (Date(timeIntervalSince1970: 1_700_000_000), [:], 0))

  var now: Date { state.withLock { $0.now } }

  func sleep(seconds: Double) async throws {
    guard seconds > 0 else { return }
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard !Task.isCancelled else { return true }
          state.sleepers[id] = (state.now.addingTimeInterval(seconds), continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id) }?.wake.resume()
    }
    try Task.checkCancellation()
  }

  /// Moves on, and wakes who waited for that.
  func move(_ seconds: Double) {
    let woken = state.withLock { state in
      state.now += seconds
      let due = state.sleepers.filter { $0.value.end <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.wake)
    }
    for continuation in woken { continuation.resume() }
  }

  /// How long the sleepers still wait, in seconds, the shortest first.
  var waits: [Double] { state.withLock { state in state.sleepers.values.map { $0.end.timeIntervalSince(state.now) }.sorted() } }
}

/// Passes requests on, counts them, and fails or answers as a test says.
final class CountingTransport: HTTPTransport {
  private let inner: any HTTPTransport
  private let state = Locked<(targets: [String], answer: (@Sendable (HTTPRequest) throws -> HTTPResponse?)?)>(([], nil))

  init(_ inner: any HTTPTransport) { self.inner = inner }

  /// Paths that were asked for, without their query.
  var targets: [String] { state.withLock { $0.targets } }
  func forget() { state.withLock { $0.targets = [] } }
  /// Answers instead of the server; nil for what the server answers.
  func answer(_ answer: (@Sendable (HTTPRequest) throws -> HTTPResponse?)?) { state.withLock { $0.answer = answer } }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let answer = state.withLock { state in
      state.targets.append(String(request.target.prefix { $0 != "?" }))
      return state.answer
    }
    if let response = try answer?(request) { return response }
    var request = request
    // Server and client have this machine in common with all other tests.
    request.timeout = max(request.timeout, 300_000)
    return try await inner.send(request)
  }

  func events(_ request: HTTPRequest) async throws -> AsyncThrowingStream<StreamEvent, any Error> {
    try await inner.events(request)
  }
}

extension HTTPResponse {
  /// A refusal in the Identity Toolkit's words.
  static func refusal(_ message: String, status: Int = 400) -> HTTPResponse {
    let json: JSON = ["error": ["code": .int(Int64(status)), "message": .string(message)]]
    return HTTPResponse(status: status, headers: [], body: Array(json.compactText.utf8))
  }
}

/// A URL that there must be.
func webURL(_ text: String) throws -> URL { try #require(URL(string: text)) }

/// The number of an error as `NSError`.
func number(of error: (any Error)?) -> Int? { error.map { ($0 as NSError).code } }

/// The error that a call fails with.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}
