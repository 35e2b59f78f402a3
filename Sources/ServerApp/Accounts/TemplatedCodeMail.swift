import Accounts
import MailContent
import StorageCore

/// Writes the letters with players' codes in the words of the templates, for the outlet `mail`.
struct TemplatedCodeMail: CodeMailing {
  let templates: TemplateCatalog
  /// How the game is called; nil for the project's name.
  var appName: String?

  func message(for letter: CodeLetter) -> (outlet: String, payload: String)? {
    let kind: MailKind =
      switch letter.kind {
      case .verifyEmail: .verifyEmail
      case .passwordReset: .resetPassword
      case .emailSignIn: .signIn
      case .changeEmail: .verifyAndChangeEmail
      case .recoverEmail: .recoverEmail
      }
    // The person who makes an account names it, and says whose address is to be confirmed.
    let values = [
      "appName": appName ?? letter.project, "displayName": ShownName.of(letter.displayName ?? ""), "email": letter.to,
      "link": letter.link,
      "newEmail": letter.newEmail ?? "",
    ].filter { kind.placeholders.contains($0.key) }
    // The sender is the one that the configuration names.
    let order = MailOrder(kind: kind, to: letter.to, words: templates.words(kind, locales: letter.locales, values: values))
    return (MailOrder.outlet, order.payload)
  }
}
