import APISupport
import Accounts
import HTTPServer
import Invites
import Links
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// Who invites, and with which link: where invitations and links meet.
struct InvitationAccess {
  let call: RouteCall
  let links: LinkAccess
  let invites: InvitationService

  init(_ call: RouteCall) throws {
    guard let invites = call.services.invites else {
      throw LinksAPIError(.failedPrecondition, "This server sends no invitations.")
    }
    self.call = call
    self.invites = invites
    links = try LinkAccess(call)
  }

  /// A player or an administrator; an app by its key may have words rendered.
  func caller() throws -> Caller {
    let caller = try links.caller()
    if caller.actor == .anonymous { _ = try links.checkKey(for: "create") }
    return caller
  }

  /// The player who invites.
  func player(_ caller: Caller, _ json: JSON) throws -> String {
    switch caller.actor {
    case .user(let uid): return uid
    case .admin where caller.isAdmin:
      guard let uid = json["player"]?.string, !uid.isEmpty else {
        throw LinksAPIError(.invalidArgument, "player is missing: an administrator says who invites.")
      }
      return uid
    default:
      throw LinksAPIError(
        .unauthenticated, "Give a link, or send the ID token of the player who invites: Authorization: Bearer ID_TOKEN.")
    }
  }

  /// The name under which the server mails for a player; empty if the player has none.
  ///
  /// Refuses players who cannot be held to account: it takes a confirmed address, or an identity at a provider. The account
  /// decides; for players whose accounts are kept elsewhere, their token does.
  func mailSender(_ caller: Caller, player: String) throws -> String {
    let record = try account(of: player)
    let claims = caller.auth?.json["token"]
    guard caller.isAdmin || record.map({ $0.isProven }) ?? claims.map(Self.areProven) ?? false else {
      throw LinksAPIError(
        .permissionDenied,
        "The server mails for players whose address is confirmed, or who signed in by Google, Apple or the like: confirm the "
          + "address first, or share the link on another way.", reason: "unconfirmed")
    }
    return record?.displayName ?? claims?["name"]?.string ?? ""
  }

  private func account(of uid: String) throws -> AccountRecord? {
    let services = call.services
    guard let accounts = services.accounts, let namespace = services.database.namespace(named: services.defaultNamespace) else {
      return nil
    }
    do {
      return try accounts.account(uid, of: AccountProject(name: services.defaultNamespace, namespace: namespace))
    } catch AccountError.unavailable(let text) {
      throw LinksAPIError(.unavailable, text)
    } catch {
      throw LinksAPIError(.unavailable, "\(error)")
    }
  }

  private static func areProven(_ claims: JSON) -> Bool {
    if claims["email_verified"]?.bool == true, claims["email"]?.string?.isEmpty == false { return true }
    let provider = claims["firebase"]?["sign_in_provider"]?.string ?? ""
    return !["", "anonymous", "custom", "password", "phone"].contains(provider)
  }

  /// A link of the player's own, with the channel in it, so that channels can be compared.
  ///
  /// A new invitation counts against the limits of making links, except for an administrator. Words without one do not: their
  /// link is one for each player and channel, however often it is asked for.
  func link(_ request: InvitationRequest, owner: String, invite: String?, for caller: Caller) async throws -> String {
    if invite != nil, !caller.isAdmin { try links.countCreation(key: "player/\(owner)") }
    let campaign = try invites.campaign(request.campaign)
    guard let text = campaign.link else {
      throw LinksAPIError(
        .failedPrecondition,
        "The campaign \(request.campaign) has no link: set \"link\" (a long link) in the settings of invitations, or give one.")
    }
    let long = try LongLink(text, settings: links.links.settings)
    var parameters = long.parameters
    if parameters[.utmMedium] == nil { parameters[.utmMedium] = request.channel.rawValue }
    var newLink = LinkDraft(prefix: long.prefix, parameters: parameters)
    newLink.owner = owner
    newLink.invite = invite
    return try await links.links.create(newLink, isAdmin: false, actor: .user(uid: owner)).record.address
  }
}

extension AccountRecord {
  /// Whether the account has a confirmed address, or an identity at a provider.
  fileprivate var isProven: Bool { (email != nil && isEmailVerified) || !providers.isEmpty }
}

/// What somebody wants to invite with, as the request says it.
struct InvitationRequest: Sendable {
  let channel: InvitationChannel
  let campaign: String
  /// The languages of the player, the best first: the one that was asked for, or those of the request's headers.
  let locales: [String]
  /// The name that others see; of mails that the server sends it is the account's instead.
  let inviter: String
  let message: String?

  init(_ json: JSON, _ headers: HTTPHeaders) throws {
    guard let channel = json["channel"]?.string.flatMap(InvitationChannel.init) else {
      throw LinksAPIError(
        .invalidArgument, "channel must be one of \(InvitationChannel.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    self.channel = channel
    campaign = json["campaign"]?.string ?? InvitationSettings.standard
    let locale = json["locale"]?.string
    locales = locale.map { [$0] } ?? AcceptLanguage.locales(headers)
    inviter = json["inviter"]?.string ?? ""
    message = json["message"]?.string
    guard (locale ?? "").utf8.count <= 35, campaign.utf8.count <= 80 else {
      throw LinksAPIError(.invalidArgument, "locale must be like \"de\" or \"pt-BR\", and campaign a name of the settings.")
    }
  }
}
