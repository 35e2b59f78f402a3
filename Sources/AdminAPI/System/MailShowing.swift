package import TreeModel

/// Shows mail that was not sent: what `doubloon dev` does instead of talking to a mail server.
package protocol MailShowing: Sendable {
  /// The latest mails, newest first: `{"time", "to", "from", "subject", "kind", "text", "html", "link"}`.
  func recentMail(limit: Int) -> [JSON]
}
