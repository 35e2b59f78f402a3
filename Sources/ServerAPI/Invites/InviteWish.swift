import Invites
import Links
import TreeModel

/// What somebody wants to invite with, as the request says it.
struct InviteWish: Sendable {
  let channel: InviteChannel
  let campaign: String
  let locale: String
  /// The name that others see.
  let inviter: String
  let message: String?

  init(_ json: JSON) throws(LinkFault) {
    guard let channel = json["channel"]?.string.flatMap(InviteChannel.init) else {
      throw LinkFault(
        .invalidArgument, "channel must be one of \(InviteChannel.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    self.channel = channel
    campaign = json["campaign"]?.string ?? InviteSettings.standard
    locale = json["locale"]?.string ?? "en"
    inviter = json["inviter"]?.string ?? ""
    message = json["message"]?.string
    guard locale.utf8.count <= 35, campaign.utf8.count <= 80 else {
      throw LinkFault(.invalidArgument, "locale must be like \"de\" or \"pt-BR\", and campaign a name of the settings.")
    }
  }
}
