import Mail

/// How the server's mail leaves the house.
struct MailSettings: Sendable {
  let server: SMTPConfiguration
  /// The sender of mails that name none.
  let from: MailAddress
}
