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

extension InvitationStatus {
  /// As players and administrators see it.
  var json: JSON {
    .record([
      ("id", .string(record.id)), ("channel", .string(record.channel.rawValue)), ("campaign", .string(record.campaign)),
      ("locale", .string(record.locale)), ("sender", .string(record.sender)), ("to", record.recipient.map(JSON.string)),
      ("link", .string(record.link)), ("createdAt", .int(record.createdAt)), ("state", .string(state.rawValue)),
      ("attempts", attempts > 0 ? .int(Int64(attempts)) : nil), ("lastError", lastError.map(JSON.string)),
      ("openedAt", marks[.opened].map(JSON.int)), ("clickedAt", marks[.clicked].map(JSON.int)),
      ("convertedAt", marks[.converted].map(JSON.int)),
    ])
  }
}

extension SuppressedAddress {
  /// As administrators see it.
  var json: JSON {
    .record([("email", .string(address)), ("at", at.map(JSON.int)), ("reason", reason.map(JSON.string))])
  }
}
