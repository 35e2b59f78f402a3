/// What a mail is for: decides its template, and stands in the log and the outbox instead of its text.
public enum MailKind: String, Sendable, Hashable, CaseIterable {
  /// Confirms that an address is the player's (spec: auth-protocol §2.5, VERIFY_EMAIL).
  case verifyEmail
  /// Lets the player choose another password (PASSWORD_RESET).
  case resetPassword
  /// Signs the player in by a link (EMAIL_SIGNIN).
  case signIn
  /// Confirms the address that an account is to have from now on (VERIFY_AND_CHANGE_EMAIL).
  case verifyAndChangeEmail
  /// Tells the former address that it was replaced, with a link that takes it back (RECOVER_EMAIL).
  case recoverEmail
  /// Invites somebody to the game.
  case invite
  /// Anything else: the words are the sender's own.
  case notice

  /// The kinds that have templates.
  public static let templated: [MailKind] = allCases.filter { $0 != .notice }

  /// The placeholders that its templates may use.
  ///
  /// `appName` and `link` are always there; a value that is not given is empty, which ``TemplateText`` can ask for.
  public var placeholders: [String] {
    switch self {
    case .verifyEmail, .resetPassword, .signIn: ["appName", "displayName", "email", "link"]
    case .verifyAndChangeEmail: ["appName", "displayName", "link", "newEmail"]
    case .recoverEmail: ["appName", "displayName", "email", "link", "newEmail"]
    case .invite: ["appName", "inviter", "link", "message"]
    case .notice: []
    }
  }
}
