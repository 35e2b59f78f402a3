public import StorageCore

/// A letter with a code, to be rendered by whoever knows the words.
public struct CodeLetter: Sendable, Hashable {
  /// The project's name.
  public let project: String
  /// What the code does.
  public let kind: AccountCodeRecord.Kind
  /// To whom it goes.
  public let to: String
  /// The address that takes the place of the account's.
  public let newEmail: String?
  /// How the player is called; nil if that is not known.
  public let displayName: String?
  /// The languages of the person who asked for it, the best first.
  public let locales: [String]
  /// What to click on; it holds the code. A secret.
  public let link: String
}

/// Turns letters into messages for the outbox.
public protocol CodeMailing: Sendable {
  /// The outlet's name and what it is given, as JSON; nil if no mail is sent here.
  func message(for letter: CodeLetter) -> (outlet: String, payload: String)?
}
