import APISupport
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
  static func begin(_ access: LinkAccess, _ json: JSON) async throws(LinkError) -> JSON {
    let key = try access.checkKey(for: "attribute")
    guard let accounts = access.call.services.accounts else {
      throw LinkError(.failedPrecondition, "This server has no accounts.")
    }
    var members: [JSON.Member] = []
    let hasProof = ["link", "referrer", "code"].contains { json[$0]?.string?.isEmpty == false }
    let presented = hasProof ? try LinkRoutes.presented(json) : nil
    if let presented, let request = attribution(presented, json) {
      members.append(
        .init(key: "attribution", value: try await access.book.installAttribution(request, address: access.address)))
    }
    let session = try await signUp(accounts, access, key: key)
    members.append(.init(key: "player", value: session))
    if let presented, let uid = session["localId"]?.string {
      do throws(LinkError) {
        let claim = try await access.book.claim(presented, for: uid, address: access.address)
        members.append(.init(key: "claim", value: claim.json))
        members.append(.init(key: "referredBy", value: .string(claim.inviter)))
      } catch {
        members.append(.init(key: "claimProblem", value: ["reason": .string(error.reason), "message": .string(error.message)]))
      }
    }
    return .object(members)
  }

  /// What `installAttribution` is asked for a proof; nil for a code, which says nothing of an installation.
  private static func attribution(_ presented: LinkService.Presented, _ json: JSON) -> JSON? {
    let bundle = JSON.Member(key: "bundleId", value: json["bundleId"] ?? .null)
    switch presented {
    case .link(let text): return .object([bundle, .init(key: "uniqueMatchLinkToCheck", value: .string(text))])
    case .referrer(let text): return .object([bundle, .init(key: "installReferrer", value: .string(text))])
    case .code: return nil
    }
  }

  private static func signUp(_ accounts: AccountService, _ access: LinkAccess, key: String) async throws(LinkError) -> JSON {
    let services = access.call.services
    let name = services.defaultNamespace
    let suffix = "-default-rtdb"
    do throws(CommitError) {
      let project = AccountProject(
        name: name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name,
        namespace: try await services.database.openNamespace(named: name))
      let call = IdentityCall(
        project: project, fields: IdentityFields(["returnSecureToken": true]), isPrivileged: false, actor: .anonymous,
        address: "\(access.call.request.client.clientNetwork)", base: "", apiKey: key)
      do throws(AccountError) {
        return try await accounts.signUp(call)
      } catch {
        throw CommitError(.invalid, error.message)
      }
    } catch {
      if case .invalid = error.code { throw LinkError(.failedPrecondition, error.message, reason: "sign_up") }
      throw LinkError(.unavailable, error.message)
    }
  }
}
