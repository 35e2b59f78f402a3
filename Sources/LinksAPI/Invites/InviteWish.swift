import APISupport
import Invites
import Links
import NIOHTTP1
import TreeModel

/// What somebody wants to invite with, as the request says it.
struct InviteWish: Sendable {
  let channel: InviteChannel
  let campaign: String
  /// The languages of the player, the best first: the one that was asked for, or those of the request's headers.
  let locales: [String]
  /// The name that others see; of mails that the server sends it is the account's instead.
  let inviter: String
  let message: String?

  init(_ json: JSON, _ headers: HTTPHeaders) throws(LinkFault) {
    guard let channel = json["channel"]?.string.flatMap(InviteChannel.init) else {
      throw LinkFault(
        .invalidArgument, "channel must be one of \(InviteChannel.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    self.channel = channel
    campaign = json["campaign"]?.string ?? InviteSettings.standard
    let locale = json["locale"]?.string
    locales = locale.map { [$0] } ?? AcceptLanguage.locales(headers)
    inviter = json["inviter"]?.string ?? ""
    message = json["message"]?.string
    guard (locale ?? "").utf8.count <= 35, campaign.utf8.count <= 80 else {
      throw LinkFault(.invalidArgument, "locale must be like \"de\" or \"pt-BR\", and campaign a name of the settings.")
    }
  }
}
