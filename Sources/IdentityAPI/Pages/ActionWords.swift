import MailContent

/// What the pages behind mailed links say in one language.
struct ActionWords: Sendable {
  /// What one kind of link does.
  struct Deed: Sendable {
    /// The heading, and what stands on the button.
    let title: String
    /// What has happened; `%` stands for the address.
    let done: String
  }

  /// As pages name it (BCP 47).
  let locale: String
  let deeds: [ActionMode: Deed]
  let done: String
  let newPassword: String
  /// What to do about a password that is refused; `%` stands for the least number of characters.
  let weakPassword: String
  let tryAgain: String
  let goOn: String
  let deadLink: String
  /// What to do about a link that was used or is too old.
  let askAgain: String

  func title(_ mode: ActionMode) -> String { deeds[mode]?.title ?? "" }
  func done(_ mode: ActionMode, email: String) -> String {
    (deeds[mode]?.done ?? "").replacing("%", with: email, maxReplacements: 1)
  }

  /// The words for somebody who reads these languages, the best first; English for who reads none that there is.
  static func chosen(from locales: [String]) -> ActionWords {
    for locale in locales {
      let language = locale.lowercased().prefix { $0 != "-" && $0 != "_" }
      if let found = all.first(where: { $0.locale == language }) { return found }
    }
    return english
  }

  /// In the languages that mails come in.
  static let all: [ActionWords] = [english, german, french, spanish, japanese]
}
