import APISupport
import AdminModel
import Accounts
import HTTPServer
import Links
import StorageCore
import TreeDatabase
import TreeModel

/// The first start of a game in one call: which link led here, a new player, and who invited them.
enum FirstStart {
  /// Attributes the installation, signs a new player in without a name, and claims.
  ///
  /// A proof that cannot be claimed does not keep the player out: `claimProblem` says why. An installation that was
  /// attributed before signs nobody in twice: the app keeps what it got.
  static func begin(_ access: LinkAccess, _ json: JSON) async throws -> JSON {
    let key = try access.checkKey(for: "attribute")
    guard let accounts = access.call.services.accounts else {
      throw LinksAPIError(.failedPrecondition, "This server has no accounts.")
    }
    var members: [JSON.Member] = []
    let hasProof = ["link", "referrer", "code"].contains { json[$0]?.string?.isEmpty == false }
    let presented = hasProof ? try LinkRoutes.presented(json) : nil
    if let presented, let installation = try installation(presented, json: json, address: access.address) {
      let attribution = try await access.links.attribution.install(installation)
      members.append(.init(key: "attribution", value: attribution.json(for: installation)))
    }
    let session = try await signUp(accounts, access: access, key: key)
    members.append(.init(key: "player", value: session))
    if let presented, let uid = session["localId"]?.string {
      do {
        let claim = try await access.links.claims.claim(presented, for: uid, address: access.address)
        members.append(.init(key: "claim", value: JSON(encoding: AdminLedger.ReferralEvidence(claim))))
        members.append(.init(key: "referredBy", value: .string(claim.inviter)))
      } catch {
        let error = LinksAPIError(error)
        members.append(.init(key: "claimProblem", value: ["reason": .string(error.reason), "message": .string(error.message)]))
      }
    }
    return .object(members)
  }

  /// The installation that a proof is attributed for; nil for a code, which says nothing of an installation.
  private static func installation(_ presented: LinkClaims.Presented, json: JSON, address: String?) throws -> Installation? {
    let (link, referrer): (String?, String?)
    switch presented {
    case .link(let text): (link, referrer) = (text, nil)
    case .referrer(let text): (link, referrer) = (nil, text)
    case .code: return nil
    }
    var installation = try Installation(json: .record([("bundleId", json["bundleId"])]), address: address)
    (installation.link, installation.referrer) = (link, referrer)
    return installation
  }

  /// Makes an anonymous account, and answers as the Identity Toolkit's `accounts:signUp` does.
  private static func signUp(_ accounts: AccountService, access: LinkAccess, key: String) async throws -> JSON {
    let services = access.call.services
    let name = services.defaultNamespace
    let suffix = "-default-rtdb"
    do {
      let project = AccountProject(
        name: name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name,
        namespace: try await services.database.openNamespace(named: name))
      let context = AccountContext(
        project: project, network: "\(access.call.request.client.clientNetwork)", apiKey: key)
      let signedIn = try await accounts.signUpAnonymously(context)
      let tokens = signedIn.result.tokens
      return JSON(fields: [
        ("kind", "identitytoolkit#SignupNewUserResponse"), ("localId", .string(signedIn.account.uid)),
        ("idToken", tokens.map { .string($0.idToken) }), ("refreshToken", tokens.map { .string($0.refreshToken) }),
        ("expiresIn", tokens.map { .string(String($0.lifetime)) }),
      ])
    } catch let error as AccountError {
      throw LinksAPIError(.failedPrecondition, message(of: error), reason: "sign_up")
    } catch let error as CommitError {
      if case .invalid = error.code { throw LinksAPIError(.failedPrecondition, error.message, reason: "sign_up") }
      throw LinksAPIError(.unavailable, error.message)
    } catch {
      throw LinksAPIError(.unavailable, "\(error)")
    }
  }

  /// Why no account was made, in the words of `accounts:signUp`.
  private static func message(of error: AccountError) -> String {
    switch error {
    case .signUpDisabled: "ADMIN_ONLY_OPERATION"
    case .tooManyFailures:
      "TOO_MANY_ATTEMPTS_TRY_LATER : Access to this account has been temporarily disabled due to many failed login attempts. "
        + "Try again later, or reset the password."
    case .unavailable(let text), .rejected(let text): text
    default: "\(error)"
    }
  }
}
