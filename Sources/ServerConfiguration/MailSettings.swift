package import Mail

/// How the server's mail is sent.
package struct MailSettings: Sendable {
  package let server: SMTPConfiguration
  /// The sender of mails that name none.
  package let from: MailAddress
}
