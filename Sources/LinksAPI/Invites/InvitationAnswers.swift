import AdminModel
import HTTPServer
import Invites
import TreeModel

extension InvitationContent {
  /// As `render` answers it.
  var json: JSON {
    .record([
      ("channel", .string(channel.rawValue)), ("subject", subject.map(JSON.string)), ("body", body.map(JSON.string)),
      ("text", channel == .email ? body.map(JSON.string) : nil), ("html", html.map(JSON.string)), ("link", .string(link)),
      ("uri", uri.map(JSON.string)),
    ])
  }
}

extension AdminInvitations.Invitation {
  /// As players and administrators see it.
  init(_ status: InvitationStatus) {
    let (record, marks) = (status.record, status.marks.mapValues { Timestamp($0) })
    self.init(
      id: record.id, channel: record.channel.rawValue, campaign: record.campaign, locale: record.locale,
      sender: record.sender, to: record.recipient, link: record.link, createdAt: Timestamp(record.createdAt),
      state: status.state.rawValue, attempts: status.attempts > 0 ? Int64(status.attempts) : nil,
      lastError: status.lastError, openedAt: marks[.opened], clickedAt: marks[.clicked], convertedAt: marks[.converted])
  }
}

extension AdminInvitations.Suppression {
  init(_ suppressed: SuppressedAddress) {
    self.init(email: suppressed.address, at: suppressed.at.map { Timestamp($0) }, reason: suppressed.reason)
  }
}
