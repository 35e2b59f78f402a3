import ClientRuntime
public import Foundation
import TextFormats
import TreeModel

/// By what a player shows who invited them.
public enum InviteProof: Sendable, Equatable {
  /// The link with its proof of a click (`cid`), as the page before the store hands it over.
  case link(String)
  /// The referrer that the Play Store kept.
  case referrer(String)
  /// The invitation code that the player typed.
  case code(String)

  var member: JSON.Member {
    switch self {
    case .link(let text): .init(key: "link", value: .string(text))
    case .referrer(let text): .init(key: "referrer", value: .string(text))
    case .code(let text): .init(key: "code", value: .string(text))
    }
  }
}

/// That a player was invited by another: written once, for ever.
public struct Claim: Sendable, Equatable {
  /// The inviter's uid.
  public let referredBy: String
  /// `click` or `code`.
  public let how: String
  /// The link by which it was; nil for a code that belongs to none.
  public let link: String?
}

/// Somebody whom a player brought.
public struct Referral: Sendable, Equatable {
  /// The uid.
  public let player: String
  /// How far it came, in the server's word: such as `joined` or `rewarded`.
  public let state: String
  /// What the inviter got for it, by currency.
  public let coins: [String: Int64]
  /// What waits for a review, by currency.
  public let held: [String: Int64]
}

/// Whom a player brought, and who brought the player.
public struct ReferralList: Sendable, Equatable {
  /// The inviter's uid; nil if there is none.
  public let referredBy: String?
  /// A page of those whom the player brought.
  public let referrals: [Referral]
  /// For the next page; nil at the end.
  public let next: String?
}

/// What came of a first start in one call.
public struct FirstStart: Sendable {
  /// The new player, who is signed in.
  public let user: User
  /// The link that led to the installation; nil for a code, or where none is known.
  public let link: DynamicLink?
  /// Who invited the player; nil without a proof, or where it does not count.
  public let claim: Claim?
  /// Why the proof does not count, in a sentence.
  public let claimProblem: String?
}

/// Who invited whom.
public final class Referrals: Sendable {
  private let links: DynamicLinks
  private let auth: Auth

  init(_ app: DoubloonApp) {
    links = app.links
    auth = app.authentication
  }

  /// The referrals of the default app.
  public static func referrals() -> Referrals { Referrals(DoubloonApp.current) }

  /// The referrals of an app.
  public static func referrals(app: DoubloonApp) -> Referrals { Referrals(app) }

  /// Says who invited the signed-in player. The server writes it once; who was invited stays so.
  ///
  /// - Throws: ``DynamicLinksError`` with the server's sentence where the proof does not count: a link of one's own, a code that
  ///   there is not, a second claim.
  public func claim(_ proof: InviteProof) async throws -> Claim {
    guard let token = try await links.bearer() else { throw AuthError(.nullUser) }
    return try Self.claim(in: try await links.ask("/v1/referrals:claim", .object([proof.member]), kind: .links, bearer: token))
  }

  /// A first start in one call: finds the link, signs a new player in, and claims. A proof that does not count keeps nobody
  /// out. Who is signed in already stays, and only claims.
  public func begin(proof: InviteProof?) async throws -> FirstStart {
    try await auth.turns.run { [self] in
      if let user = auth.currentUser { return try await resume(user, proof: proof) }
      let id = links.runtime.options.bundleID
      var body: [JSON.Member] = [.init(key: "bundleId", value: .string(id.isEmpty ? "unknown" : id))]
      if let proof { body.append(proof.member) }
      let json = try await links.ask("/v1/players:begin", .object(body), kind: .links)
      guard let player = json["player"] else { throw DynamicLinksError(.links, "The server's answer names no player.") }
      let user = try auth.begin(player)
      let link = json["attribution"].flatMap { $0["deepLink"] == nil ? nil : DynamicLink($0, confidence: nil) }
      return FirstStart(
        user: user, link: link, claim: try? Self.claim(in: json), claimProblem: json["claimProblem"]?["message"]?.string)
    }
  }

  private func resume(_ user: User, proof: InviteProof?) async throws -> FirstStart {
    guard let proof else { return FirstStart(user: user, link: nil, claim: nil, claimProblem: nil) }
    do {
      return FirstStart(user: user, link: nil, claim: try await claim(proof), claimProblem: nil)
    } catch let error as DynamicLinksError where error.remoteStatus != nil {
      return FirstStart(user: user, link: nil, claim: nil, claimProblem: error.message)
    }
  }

  /// Whom the signed-in player brought, and who brought them.
  ///
  /// - `cursor`: ``ReferralList/next`` of the page before.
  public func own(limit: Int = 100, after cursor: String? = nil) async throws -> ReferralList {
    guard let token = try await links.bearer() else { throw AuthError(.nullUser) }
    let place = cursor.map { "&cursor=\(PercentEncoding.encode($0))" } ?? ""
    let json = try await links.ask("/v1/referrals?limit=\(max(1, min(limit, 1000)))\(place)", nil, kind: .links, bearer: token)
    func counts(_ json: JSON?) -> [String: Int64] {
      Dictionary((json?.object ?? []).compactMap { member in member.value.int.map { (member.key, $0) } }) { $1 }
    }
    let rows = (json["referrals"]?.array ?? []).compactMap { row in
      row["player"]?.string.map {
        Referral(player: $0, state: row["state"]?.string ?? "", coins: counts(row["coins"]), held: counts(row["held"]))
      }
    }
    return ReferralList(referredBy: json["referredBy"]?.string, referrals: rows, next: json["next"]?.string)
  }

  private static func claim(in json: JSON) throws -> Claim {
    guard let inviter = json["referredBy"]?.string else {
      throw DynamicLinksError(.links, "The server's answer names no inviter.")
    }
    return Claim(referredBy: inviter, how: json["claim"]?["how"]?.string ?? "", link: json["claim"]?["link"]?.string)
  }
}

extension DynamicLinkComponents {
  /// Makes a short link, and the code that says the same to who cannot follow a link.
  public func invitation() async throws -> (link: URL, code: String?) {
    guard let url else { throw DynamicLinksError(.builder, "The link cannot be built: link or domainURIPrefix is no URL.") }
    let made = try await DynamicLinks.current.shorten(url, options: options)
    return (made.url, made.code)
  }
}
