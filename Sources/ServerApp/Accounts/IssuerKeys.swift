import AdminClient
import Credentials
import Logging
import NIOCore
import NIOHTTP1
import ServerConfiguration
import StorageCore
import Synchronization
import TextFormats
import TreeModel

/// The public keys of one issuer: fetched once for all waiting requests, cached as long as allowed, and never fetched more than
/// once a minute.
///
/// ``run()`` fetches; code that verifies a token awaits ``keys(for:)``, or calls ``keysAtHand(for:)`` on an event loop.
final class IssuerKeys: Sendable {
  private struct State {
    var cache = KeySetCache()
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// Whether the server stops; until then requests wait, those from before the start of ``IssuerKeys/run()`` too.
    var isOver = false
    /// From the request for a fetch until it is done.
    var isFetching = false
    /// Why the last fetch brought nothing; nil if it did.
    var lastError: String?
  }

  /// Requests that may wait for keys; more are refused as unavailable.
  private static let waitingMax = 1024

  let provider: IdentityProvider
  private let fetcher: DocumentFetcher
  private let clock: any WallClock
  private let logger: Logger
  private let state = Mutex(State())
  private let fetchRequests: AsyncStream<Void>
  private let fetchRequest: AsyncStream<Void>.Continuation

  init(_ issuer: TrustedIssuer, clock: any WallClock, logger: Logger) {
    provider = issuer.provider
    fetcher = DocumentFetcher(authority: issuer.authority)
    self.clock = clock
    self.logger = logger
    (fetchRequests, fetchRequest) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The keys, fetched first if this one is not among them.
  ///
  /// - Throws: `TokenError.keysUnavailable(_:)`
  func keys(for key: KeyID?) async throws(TokenError) -> KeySet {
    if want(key) {
      await withCheckedContinuation { continuation in
        let waits = state.withLock { state in
          guard state.isFetching, state.waiting.count < Self.waitingMax else { return false }
          state.waiting.append(continuation)
          return true
        }
        if !waits { continuation.resume() }
      }
    }
    return try found(key)
  }

  /// The keys as they are known; what is missing is fetched meanwhile.
  ///
  /// - Throws: `TokenError.keysUnavailable(_:)` while it is.
  func keysAtHand(for key: KeyID?) throws(TokenError) -> KeySet {
    let isMissing = want(key)
    let keys = try found(key)
    if isMissing, keys.key(key) == nil { throw .keysUnavailable(provider.id) }
    return keys
  }

  /// Has the keys fetched if that is due.
  func refresh() { _ = want(nil, onlyIfStale: true) }

  /// Has the keys fetched if that is due for this one; whether that is under way and would help.
  private func want(_ key: KeyID?, onlyIfStale: Bool = false) -> Bool {
    let now = clock.now()
    let (begins, isUnderWay) = state.withLock { state -> (Bool, Bool) in
      guard !state.isOver, !state.cache.isSettled(for: key, at: now) else { return (false, false) }
      if state.isFetching { return (false, true) }
      guard onlyIfStale ? state.cache.isStale(at: now) : state.cache.needsFetch(for: key, at: now) else {
        return (false, false)
      }
      state.isFetching = true
      state.cache.begin(at: now)
      return (true, true)
    }
    if begins { fetchRequest.yield() }
    return isUnderWay
  }

  private func found(_ key: KeyID?) throws(TokenError) -> KeySet {
    let now = clock.now()
    let (keys, lastError) = state.withLock { ($0.cache.keys(at: now), $0.lastError) }
    // An unknown key means nothing while it cannot be fetched.
    guard let keys, lastError == nil || keys.key(key) != nil else { throw .keysUnavailable(provider.id) }
    return keys
  }

  /// Fetches on request, until the task is cancelled.
  func run() async {
    refresh()
    for await _ in fetchRequests { await fetch() }
    finish { $0.isOver = true }
  }

  private func fetch() async {
    // The keys may be as old as the request, so their lifetime counts from there.
    let now = clock.now()
    let outcome: Result<(KeySet, String?), any Error>
    do {
      let document = try await fetcher.fetch(try await address())
      outcome = .success((try KeySet(json: document.json), document.cacheControl))
    } catch {
      outcome = .failure(error)
    }
    switch outcome {
    case .success(let (keys, cacheControl)):
      let before = finish { state in
        state.cache.store(keys, cacheControl: cacheControl, at: now)
        state.lastError = nil
      }
      logger.log(
        level: before == nil ? .debug : .notice, "the keys of an issuer were fetched",
        metadata: ["issuer": "\(provider.id)", "keys": "\(keys.count)"])
    case .failure(let error):
      let why = "\(error)"
      finish { $0.lastError = why }
      logger.warning(
        "the keys of an issuer cannot be fetched; tokens with keys that are not known yet wait for the next attempt",
        metadata: ["issuer": "\(provider.id)", "why": "\(why)"])
    }
  }

  /// Ends a fetch: records its result, and resumes waiting requests.
  ///
  /// - Returns: why the fetch before brought nothing; nil if it did.
  @discardableResult
  private func finish(_ note: (inout State) -> Void) -> String? {
    let (waiting, before) = state.withLock { state in
      let before = state.lastError
      note(&state)
      state.isFetching = false
      defer { state.waiting = [] }
      return (state.waiting, before)
    }
    for continuation in waiting { continuation.resume() }
    return before
  }

  /// Where the keys are, asked of the issuer if need be (OpenID Connect Discovery §4).
  private func address() async throws -> String {
    switch provider.keys {
    case .document(let url): return url
    case .discovery(let issuer):
      let url = (issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer) + "/.well-known/openid-configuration"
      let description = try await fetcher.fetch(url).json
      // A description of another issuer must not be used.
      guard description["issuer"]?.string == issuer else {
        throw AdminClientError(.badResponse, "\(url) describes another issuer than \(issuer).")
      }
      guard let keys = description["jwks_uri"]?.string else {
        throw AdminClientError(.badResponse, "\(url) does not say where the keys are (jwks_uri).")
      }
      return keys
    }
  }
}

/// Fetches the documents of identity providers: their discovery, and the keys of their tokens.
///
/// Over `https` only, with a verified certificate, so that nobody in between can substitute keys. Bounded in time and size; a
/// redirect is refused, because a document could then name an address that was not configured.
struct DocumentFetcher: Sendable {
  /// A document, and how long it may be kept.
  struct Document: Sendable {
    let json: JSON
    /// The header `Cache-Control`, as sent.
    let cacheControl: String?
  }

  /// Bytes that a document may have.
  static let bytesMax = 512 << 10

  /// Certificates that vouch for the providers', for a provider with a private authority; nil for those that the system
  /// trusts.
  let authority: String?
  /// How long making the connection, and the answer, may take each.
  let timeout: TimeAmount

  /// - `authority`: a file in PEM form.
  /// - timeout: short, for a player may be waiting to sign in.
  init(authority: String? = nil, timeout: TimeAmount = .seconds(5)) {
    self.authority = authority
    self.timeout = timeout
  }

  /// Fetches one document.
  ///
  /// - Parameter url: such as `https://accounts.google.com/.well-known/openid-configuration`.
  /// - Throws: `AdminClientError` with a sentence that names the address.
  func fetch(_ url: String) async throws -> Document {
    guard let (server, target) = Self.split(url) else {
      throw AdminClientError(.badAddress, "\"\(url)\" is no https address of a document.")
    }
    let limits = AdminClient.Limits(
      connectTimeout: timeout, requestTimeout: timeout, responseBytesMax: Self.bytesMax, idleConnectionsMax: 0)
    let client = try AdminClient(server: server, token: nil, authority: authority, limits: limits)
    let answer = try await client.send(.GET, target, headers: ["Accept": "application/json"])
    guard answer.status == 200 else {
      let why =
        (300..<400).contains(answer.status) ? "redirects, which is not followed" : "answered with status \(answer.status)"
      throw AdminClientError(.refused(status: answer.status), "\(url) \(why).")
    }
    do {
      return Document(
        json: try JSONParser.parse(answer.body, depthMax: 16), cacheControl: answer.headers.first(name: "cache-control"))
    } catch {
      throw AdminClientError(.badResponse, "What \(url) answered is no JSON: \(error)", cause: error)
    }
  }

  /// The server's address, and the path with its query.
  private static func split(_ text: String) -> (server: String, target: String)? {
    let url = URLParts(text)
    guard url.scheme?.lowercased() == "https", let authority = url.authority, text.utf8.count <= 2048 else { return nil }
    return ("https://\(authority)", (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?\($0)" } ?? ""))
  }
}
