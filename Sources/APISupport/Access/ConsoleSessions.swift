import Crypto
package import HTTPServer
package import NIOHTTP1
package import StorageCore
import Synchronization
import TextFormats

/// How administrators may use the server by its own pages.
package struct ConsoleSettings: Sendable, Hashable {
  /// Whether there are pages, and sessions for them.
  package var isEnabled = true
  /// The names that the pages are reached by, in lower case and without port, beside those of this machine; nil where every
  /// name does that the server is reached by, for others are refused before.
  package var hosts: [String]?
  /// How long a session lasts in which nobody does anything, in milliseconds.
  package var idleTime: Int64 = 30 * 60_000
  /// How long a session lasts, in milliseconds.
  package var lifetime: Int64 = 12 * 3_600_000
  /// The claim of players' accounts that names a role, whose players may use the pages with that role; nil where none may.
  package var claim: String?
  /// Whether such a player must have shown a second factor.
  package var requiresSecondFactor = true
  /// A folder with the pages' files, which are read at each request: for those who work on them. Nil: those of the program.
  package var folder: String?

  package init() {}

  /// Whether pages may be reached by a host, as the header has it.
  package func allows(host: String?) -> Bool {
    guard isEnabled else { return false }
    guard let hosts else { return true }
    guard let host, let authority = URLAuthority(host.lowercased()) else { return false }
    let name = String(authority.host)
    return hosts.contains(name) || ["localhost", "::1"].contains(name) || name.hasPrefix("127.") || name.hasSuffix(".localhost")
  }
}

/// The sessions of administrators at the server's own pages.
///
/// A session begins with a credential that administrators have anyway, and never allows more than that does now: one that was
/// revoked ends it. What cannot be undone wants a credential that was shown within half an hour: signing in again begins a new
/// session in the place of the old one. The browser holds a random secret in a cookie that no script can read and that goes to `/admin/v1` only;
/// here stands its digest. A restart signs everybody out.
///
/// A browser sends a cookie along with requests that other pages make (RFC 6265 §8.2). So a request counts only with a header
/// that other origins cannot add without being allowed to, from the same origin where the browser says which, and, if it
/// changes something, with a second secret that only the page knows.
package final class ConsoleSessions: PageSessions {
  /// One administrator's session at one browser.
  package struct Session: Sendable {
    /// How other administrators name it; no secret.
    package let id: String
    package let caller: Caller
    /// What requests that change something repeat.
    package let csrf: String
    package let createdAt: Int64
    /// When a person last did something in it.
    package fileprivate(set) var activeAt: Int64
    /// When it ends, whatever happens.
    package let endsAt: Int64
    package let client: ClientAddress
    /// Whether what the session began with still stands, beside what the authenticator knows; nil: that knows all.
    fileprivate let stands: (@Sendable () -> Bool)?
  }

  private struct State {
    /// By the digest of the secret.
    var sessions: [[UInt8]: Session] = [:]
    var random: any RandomNumberGenerator & Sendable
    var attempts: TokenBuckets<ClientAddress>
  }

  private static let sessionsMax = 1000
  private static let sessionsOfActorMax = 5
  /// Credentials that one client network may try in a minute.
  private static let attempts = RateLimit(10, per: 60_000, burst: 10)
  private static let secretBytes = 32
  /// How long a credential that was shown is proof enough for what cannot be undone, in milliseconds.
  private static let proofTime: Int64 = 30 * 60_000

  package let settings: ConsoleSettings
  private let isDevelopment: Bool
  private let authenticator: any Authenticating
  private let clock: any WallClock
  private let state: Mutex<State>

  /// - `isDevelopment`: whether browsers may have the cookie without TLS.
  /// - `random`: makes the secrets; must be one that nobody can predict.
  package init(
    settings: ConsoleSettings, isDevelopment: Bool, authenticator: any Authenticating, clock: any WallClock,
    random: any RandomNumberGenerator & Sendable
  ) {
    self.settings = settings
    self.isDevelopment = isDevelopment
    self.authenticator = authenticator
    self.clock = clock
    state = Mutex(State(random: random, attempts: TokenBuckets(limit: Self.attempts, capacity: 4096)))
  }

  package func caller(_ method: HTTPMethod, headers: HTTPHeaders) throws(APIError) -> Caller? {
    guard let secret = secret(in: headers) else { return nil }
    try checkPage(headers)
    guard let session = session(of: secret, isActive: headers.contains(name: "x-doubloon-active")) else { throw .sessionIsOver }
    guard method == .GET || method == .HEAD || headers.first(name: "x-doubloon-csrf") == session.csrf else {
      throw APIError(
        .forbidden, "csrf", "The page's secret is missing or old: load the page again, and repeat what you wanted to do.")
    }
    var caller = session.caller
    caller.isProofOld = clock.now() - session.createdAt > Self.proofTime
    caller.isFromPage = true
    return caller
  }

  /// The session that a request shows; nil if it shows none, or one that is over.
  ///
  /// - Throws: 403 where another page may have sent it.
  package func session(_ headers: HTTPHeaders) throws(APIError) -> Session? {
    guard let secret = secret(in: headers) else { return nil }
    try checkPage(headers)
    return session(of: secret, isActive: headers.contains(name: "x-doubloon-active"))
  }

  /// Whether a page's stream may go on.
  package func isOver(_ id: String) -> Bool {
    let now = clock.now()
    let session = state.withLock { $0.sessions.values.first { $0.id == id } }
    return session.map { isOver($0, at: now) } ?? true
  }

  /// Refuses what a page of another origin may have sent.
  package func checkPage(_ headers: HTTPHeaders) throws(APIError) {
    guard settings.allows(host: headers.first(name: "host")) else { throw .otherName }
    let site = headers.first(name: "sec-fetch-site") ?? "same-origin"
    guard headers.first(name: "x-doubloon-console") == "1", site == "same-origin", isOwnOrigin(headers) else {
      throw APIError(
        .forbidden, "foreign_page",
        "The session's cookie counts only in requests of the console's own pages; send Authorization: Bearer TOKEN instead.")
    }
  }

  package func checkName(_ headers: HTTPHeaders) throws(APIError) {
    // A server without pages has no names for them: it asks for a key.
    guard settings.isEnabled, !settings.allows(host: headers.first(name: "host")) else { return }
    throw .otherName
  }

  private func isOwnOrigin(_ headers: HTTPHeaders) -> Bool {
    guard let origin = headers.first(name: "origin") else { return true }
    guard let host = headers.first(name: "host"), let authority = URLParts(origin).authority else { return false }
    return authority.lowercased() == host.lowercased()
  }
}

// MARK: - Beginning and end

extension ConsoleSessions {
  /// Begins a session with a credential.
  ///
  /// - Parameters:
  ///   - key: an administrator's token, or the access token of a service account.
  ///   - isForeign: see ``RequestCredentials``.
  /// - Returns: the session, and the secret for the cookie.
  /// - Throws: 401 for a credential that is not good, with the same words whatever is wrong with it; 429 for too many.
  package func open(_ key: String, isForeign: Bool, from client: ClientAddress) throws(APIError) -> (Session, secret: String) {
    try open(from: client) {
      guard let caller = try? authenticator.caller(RequestCredentials(accessToken: key, isForeign: isForeign)) else {
        return nil
      }
      return (caller, nil)
    }
  }

  /// The same with a credential that the caller knows how to judge.
  ///
  /// - `judge`: who it is, and whether the credential still stands, asked at every request; nil for none that is good. Called
  ///   once, and not at all where too many were tried.
  package func open(
    from client: ClientAddress, judge: () -> (caller: Caller, stands: (@Sendable () -> Bool)?)?
  ) throws(APIError) -> (Session, secret: String) {
    let now = clock.now()
    let verdict = state.withLock { $0.attempts.take(client.clientNetwork, at: now, cost: 1) }
    if case .wait(let milliseconds) = verdict {
      throw APIError(
        .tooManyRequests, "too_many_attempts", "Too many attempts to sign in: try again in a minute.",
        headers: [HTTPResponse.Header("Retry-After", String((milliseconds + 999) / 1000))])
    }
    guard let (caller, stands) = judge(), caller.role != nil else {
      throw APIError(.unauthorized, "wrong_credential", "This is no administrator's credential, or it has ended.")
    }
    return state.withLock { state in
      state.attempts.giveBack(client.clientNetwork)
      Self.makeRoom(in: &state.sessions, for: caller.actor)
      let secret = Self.word(&state.random)
      // Without signs that a command would take for an option.
      let id = String(Self.word(&state.random).filter { $0 != "-" && $0 != "_" }.prefix(16))
      let session = Session(
        id: id, caller: caller, csrf: Self.word(&state.random), createdAt: now, activeAt: now, endsAt: now + settings.lifetime,
        client: client, stands: stands)
      state.sessions[Self.digest(secret)] = session
      return (session, secret)
    }
  }

  /// Whether everybody at this machine may sign in without a credential of their own: with the word that emulators know.
  package func takesOwner(isForeign: Bool) -> Bool {
    guard isDevelopment else { return false }
    return (try? authenticator.caller(RequestCredentials(accessToken: Self.owner, isForeign: isForeign)))?.role != nil
  }

  /// The administrator's token of emulators.
  package static let owner = "owner"

  /// Ends the session that a request shows, if it shows one.
  package func close(_ headers: HTTPHeaders) {
    guard let secret = secret(in: headers) else { return }
    state.withLock { _ = $0.sessions.removeValue(forKey: Self.digest(secret)) }
  }

  /// Ends a session by its name; false if there is none.
  package func close(id: String) -> Bool {
    state.withLock { state in
      guard let key = state.sessions.first(where: { $0.value.id == id })?.key else { return false }
      state.sessions[key] = nil
      return true
    }
  }

  /// The sessions, newest first.
  package var all: [Session] {
    let now = clock.now()
    let sessions = state.withLock { Array($0.sessions.values) }
    return sessions.filter { !isOver($0, at: now) }.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
  }

  /// When a session ends if nobody does anything.
  package func idleEnd(of session: Session) -> Int64 { min(session.endsAt, session.activeAt + settings.idleTime) }

  /// The header that gives a browser its secret, or takes it away.
  ///
  /// - `secret`: nil to take it away.
  /// - `headers`: of the request.
  package func cookie(_ secret: String?, for headers: HTTPHeaders) -> HTTPResponse.Header {
    let age = secret == nil ? 0 : settings.lifetime / 1000
    let secure = isDevelopment ? "" : "; Secure"
    return HTTPResponse.Header(
      "Set-Cookie",
      "\(cookieName(headers))=\(secret ?? ""); Path=/admin/v1; Max-Age=\(age); HttpOnly\(secure); SameSite=Strict")
  }

  /// Cookies know no ports: in development each server on a machine has a name of its own.
  private func cookieName(_ headers: HTTPHeaders) -> String {
    guard isDevelopment else { return "__Secure-doubloon-console" }
    let port = headers.first(name: "host").flatMap { URLAuthority($0)?.portNumber } ?? 80
    return "doubloon-console-\(port)"
  }

  private func secret(in headers: HTTPHeaders) -> String? {
    let name = cookieName(headers)
    for line in headers["cookie"] {
      for pair in line.split(separator: ";") {
        let pair = pair.drop { $0 == " " }
        guard pair.hasPrefix(name), pair.dropFirst(name.count).first == "=" else { continue }
        return String(pair.dropFirst(name.count + 1).prefix(128))
      }
    }
    return nil
  }

  private func session(of secret: String, isActive: Bool) -> Session? {
    let (digest, now) = (Self.digest(secret), clock.now())
    guard let session = state.withLock({ $0.sessions[digest] }) else { return nil }
    // The store is asked without the lock.
    let isOver = isOver(session, at: now)
    return state.withLock { state in
      guard !isOver else {
        state.sessions[digest] = nil
        return nil
      }
      if isActive { state.sessions[digest]?.activeAt = now }
      return state.sessions[digest]
    }
  }

  private func isOver(_ session: Session, at now: Int64) -> Bool {
    now >= idleEnd(of: session) || authenticator.isVoid(session.caller) || session.stands?() == false
  }

  private static func makeRoom(in sessions: inout [[UInt8]: Session], for actor: Actor) {
    let own = sessions.filter { $0.value.caller.actor == actor }.sorted { $0.value.activeAt < $1.value.activeAt }
    for (key, _) in own.prefix(max(0, own.count + 1 - sessionsOfActorMax)) { sessions[key] = nil }
    guard sessions.count >= sessionsMax else { return }
    let oldest = sessions.min { $0.value.activeAt < $1.value.activeAt }
    if let oldest { sessions[oldest.key] = nil }
  }

  private static func digest(_ secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

  private static func word(_ random: inout any RandomNumberGenerator & Sendable) -> String {
    Base64.encode((0..<secretBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }, as: .url)
  }
}

extension APIError {
  /// A name that the pages do not have. It says no more than that there is nothing.
  fileprivate static let otherName = APIError(
    .notFound, "unknown_host",
    "Nothing is here without a key: browsers administer this server by the names of \"console.hosts\" alone, "
      + "or else by that of \"accounts.publicURL\".")

  /// The session of a page that was there once.
  fileprivate static let sessionIsOver = APIError(
    .unauthorized, "session_over", "The session is over: sign in again.")
}
