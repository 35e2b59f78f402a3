import Accounts
import AdminClient
import Credentials
import NIOCore
import NIOHTTP1
import StorageCore
import Synchronization
import TextFormats
import TreeModel

/// Asks an address by Firebase's own request, so that functions that were written for it run unchanged: `POST` of
/// `{"data":{"jwt":…}}`, answered with `{"userRecord":{"updateMask":…}}`
/// (https://cloud.google.com/identity-platform/docs/blocking-functions).
struct DecisionTarget: Sendable {
  static let bytesMax = 64 << 10
  /// What a target says when it refuses is cut to so many characters.
  private static let reasonMax = 500

  /// Signs what is asked, as ID tokens are signed; nil for development, where nothing is.
  let keys: CurrentKeys?
  let clock: any WallClock
  let timeout: TimeAmount
  private let newEventID: @Sendable () -> String
  private let clients: DecisionClients

  init(keys: CurrentKeys?, clock: any WallClock, timeout: TimeAmount, newEventID: @escaping @Sendable () -> String) {
    self.keys = keys
    self.clock = clock
    self.timeout = timeout
    self.newEventID = newEventID
    clients = DecisionClients(timeout: timeout)
  }

  /// - `forwarded`: which credentials of a provider it gets.
  func ask(
    _ url: String, _ question: SignInQuestion, forwarding forwarded: ForwardedCredentials, context: AccountContext
  ) async throws -> SignInAllowance {
    let parts = URLParts(url)
    guard let scheme = parts.scheme?.lowercased(), let authority = parts.authority else {
      throw AccountError.decisionFailed("\(url) is no address.")
    }
    let client = try clients.client(of: "\(scheme)://\(authority)")
    let path = (parts.path.isEmpty ? "/" : String(parts.path)) + (parts.query.map { "?\($0)" } ?? "")
    let body: JSON = ["data": ["jwt": .string(try token(question, for: url, forwarding: forwarded, context: context))]]
    let answer = try await client.send(
      .POST, path, headers: ["Content-Type": "application/json"], body: Array(body.compactText.utf8))
    guard (200..<300).contains(answer.status) else {
      let said = String(String(decoding: answer.body.prefix(4 * Self.reasonMax), as: UTF8.self).prefix(Self.reasonMax))
      throw AccountError.refusedByDecision("HTTP request to \(url) returned HTTP error \(answer.status): \(said)")
    }
    guard let json = try? JSONParser.parse(answer.body, depthMax: 32) else {
      throw AccountError.decisionFailed("Response body is not valid JSON.")
    }
    return try Self.allowance(json, of: question.occasion)
  }

  /// Reads what a target answers.
  static func allowance(_ json: JSON, of occasion: SignInOccasion) throws -> SignInAllowance {
    var allowance = SignInAllowance()
    guard let record = json["userRecord"], !record.isNull else { return allowance }
    guard let mask = record["updateMask"]?.string, !mask.isEmpty else {
      throw AccountError.decisionFailed("Response UserRecord is missing updateMask.")
    }
    for field in mask.split(separator: ",").map({ field in field.filter { $0 != " " } }) {
      switch field {
      case "displayName": allowance.displayName = .some(record[field]?.string)
      case "photoUrl": allowance.photoURL = .some(record[field]?.string)
      case "disabled": allowance.isDisabled = record[field]?.bool ?? false
      case "emailVerified": allowance.isEmailVerified = record[field]?.bool ?? false
      case "customClaims": allowance.claims = (record[field] ?? .object([])).compactText
      case "sessionClaims" where occasion == .signIn: allowance.sessionClaims = (record[field] ?? .object([])).compactText
      default: break
      }
    }
    return allowance
  }

  // MARK: What is asked

  private func token(
    _ question: SignInQuestion, for url: String, forwarding forwarded: ForwardedCredentials, context: AccountContext
  ) throws -> String {
    let now = clock.now()
    let seconds = timeout.nanoseconds / 1_000_000_000
    let claims = JSON(fields: [
      ("iss", .string(IDTokenIssuer.issuer(context.project.name))), ("aud", .string(url)), ("iat", .int(now / 1000)),
      ("exp", .int(now / 1000 + seconds)), ("event_id", .string(newEventID())),
      ("event_type", .string(question.occasion.rawValue)), ("ip_address", .string(context.network)),
      ("user_agent", ""), ("locale", .string(context.locales.first ?? "en")), ("sub", .string(question.account.uid)),
      ("sign_in_method", .string(question.method)), ("sign_in_second_factor", question.secondFactor.map { .string($0.kind) }),
      ("user_record", Self.record(question.account)), ("tenant_id", question.account.tenant.map(JSON.string)),
      ("oauth_id_token", forwarded.idToken ? question.credential?.idToken.map(JSON.string) : nil),
      ("oauth_access_token", forwarded.accessToken ? question.credential?.accessToken.map(JSON.string) : nil),
    ])
    guard let keys else { return WebToken.unsigned(claims) }
    return try keys.ring.signingKey(at: now).token(claims)
  }

  private static func record(_ account: AccountRecord) -> JSON {
    let providers = account.providers.map { provider in
      JSON(fields: [
        ("provider_id", .string(provider.id)), ("uid", .string(provider.rawID)), ("email", provider.email.map(JSON.string)),
        ("display_name", provider.displayName.map(JSON.string)), ("photo_url", provider.photoURL.map(JSON.string)),
        ("phone_number", provider.phoneNumber.map(JSON.string)),
      ])
    }
    let factors = account.secondFactors.map { factor in
      JSON(fields: [("uid", .string(factor.id)), ("factor_id", .string(factor.kind.rawValue))])
    }
    return JSON(fields: [
      ("uid", .string(account.uid)), ("tenant_id", account.tenant.map(JSON.string)), ("email", account.email.map(JSON.string)),
      ("email_verified", .bool(account.isEmailVerified)), ("display_name", account.displayName.map(JSON.string)),
      ("photo_url", account.photoURL.map(JSON.string)), ("disabled", .bool(account.isDisabled)),
      ("phone_number", account.phoneNumber.map(JSON.string)),
      ("custom_claims", account.claims.flatMap { try? JSONParser.parse($0) } ?? .object([])),
      ("provider_data", .array(providers)),
      ("multi_factor", factors.isEmpty ? nil : ["enrolled_factors": .array(factors)]),
      (
        "metadata",
        JSON(fields: [
          ("creation_time", .int(account.createdAt)), ("last_sign_in_time", account.lastLoginAt.map(JSON.int)),
        ])
      ),
    ])
  }
}

/// The clients of the servers that are asked. Their connections stand between questions: to make one, with TLS above all, takes
/// longer than most answers.
private final class DecisionClients: Sendable {
  /// Servers that there are clients for. A configuration names one or two; others are of earlier ones, or of other projects.
  private static let serversMax = 16
  /// Connections that are kept to each.
  private static let connectionsMax = 8

  private let timeout: TimeAmount
  private let byServer = Mutex<[String: AdminClient]>([:])

  init(timeout: TimeAmount) { self.timeout = timeout }

  /// - `server`: its scheme and authority.
  func client(of server: String) throws -> AdminClient {
    let (client, given) = try byServer.withLock { clients -> (AdminClient, AdminClient?) in
      if let known = clients[server] { return (known, nil) }
      let given = clients.count < Self.serversMax ? nil : clients.popFirst()?.value
      var limits = AdminClient.Limits(
        connectTimeout: timeout, requestTimeout: timeout, responseBytesMax: DecisionTarget.bytesMax,
        idleConnectionsMax: Self.connectionsMax)
      // A question that arrives twice is answered twice, and one of the answers counts.
      limits.repeatsWrites = true
      let made = try AdminClient(server: server, token: nil, limits: limits)
      clients[server] = made
      return (made, given)
    }
    if let given { Task { await given.close() } }
    return client
  }
}
