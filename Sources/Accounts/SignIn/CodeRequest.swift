package import StorageCore
package import TreeModel

/// A letter with a code, to be put into words where the words are known.
package struct CodeMail: Sendable, Hashable {
  /// The project's name.
  package let project: String
  /// What the code does.
  package let kind: AccountCodeRecord.Kind
  /// To whom it goes.
  package let to: String
  /// The address that takes the place of the account's.
  package let newEmail: String?
  /// How the player is called; nil if that is not known.
  package let displayName: String?
  /// The languages of the person who asked for it, the best first.
  package let locales: [String]
  /// What to click on; it holds the code. A secret.
  package let link: String
}

/// Turns letters into messages for the outbox.
package protocol CodeMailing: Sendable {
  /// The outlet's name and what it is given, as JSON; nil if no mail is sent here.
  func message(for letter: CodeMail) -> (outlet: String, payload: String)?
}

/// How codes reach their players.
package struct CodeDelivery: Sendable {
  let mail: (any CodeMailing)?
  let announce: @Sendable (String) -> Void

  /// - Parameters:
  ///   - mail: how codes are mailed; nil where they are only announced, in development.
  ///   - announce: told the links that development prints instead of mailing.
  package init(mail: (any CodeMailing)? = nil, announce: @escaping @Sendable (String) -> Void = { _ in }) {
    self.mail = mail
    self.announce = announce
  }
}

/// A code that a client or an administrator asks for.
package struct CodeRequest: Sendable {
  /// Whose account a code acts on.
  package enum Owner: Sendable {
    /// The account with an address, as an administrator names it.
    case email(EmailAddress)
    /// The account that the caller's ID token stands for.
    case idToken(String)
  }

  /// What a code is for.
  package enum Purpose: Sendable {
    case signIn(EmailAddress)
    case passwordReset(EmailAddress)
    /// Confirms the account's address.
    case verification(of: Owner)
    /// Confirms another address, which then takes the place of the account's.
    case change(of: Owner, to: EmailAddress)
  }

  package let purpose: Purpose
  /// Where the link goes on to when the code was used.
  package var continueURL: String?
  /// Whether the caller gets the code, and nothing is mailed: for administrators.
  package var returnsLink = false

  package init(_ purpose: Purpose) {
    self.purpose = purpose
  }
}

/// A code that was sent.
package struct SentCode: Sendable, Hashable {
  /// The address that was asked for.
  package let email: String
  /// The code; nil unless the caller is to have it.
  package var code: String?
  /// The link with it; nil unless the caller is to have it.
  package var link: String?
}
