import HTTPServer
import MailContent
import NIOHTTP1
import TextFormats

/// The few pages that a link in a mail shows: no script, nothing from elsewhere.
package enum ActionText {
  /// Asks before it does something; the form goes to the same address.
  ///
  /// - `message`: why it is asked once more; empty at first.
  /// - `lengthMin`: the least number of characters of a password.
  static func question(
    _ words: ActionWords, mode: ActionMode, message: String, lengthMin: Int, status: HTTPResponseStatus
  ) -> HTTPResponse {
    let field = """
      <p><label>\(HTMLText.escaped(words.newPassword)) <input type="password" name="newPassword" autocomplete="new-password"
      minlength="\(lengthMin)" required></label></p>
      """
    let title = words.title(mode)
    let form = """
      <form method="post">\(mode == .resetPassword ? field : "")<p><button>\(HTMLText.escaped(title))</button></p></form>
      """
    return page(title, text: message, words: words, form: form, status: status)
  }

  /// A link to go on by.
  package static func link(_ location: String, _ text: String) -> String {
    "<p><a href=\"\(HTMLText.escaped(location))\">\(HTMLText.escaped(text))</a></p>"
  }

  static func page(
    _ title: String, text: String, words: ActionWords, form: String = "", status: HTTPResponseStatus = .ok
  ) -> HTTPResponse {
    let html = """
      <!doctype html><html lang="\(words.language)"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta name="robots" content="noindex"><title>\(HTMLText.escaped(title))</title>
      <body style="font-family:sans-serif;max-width:32em;margin:4em auto;padding:0 1em">
      <h1>\(HTMLText.escaped(title))</h1><p role="status">\(HTMLText.escaped(text))</p>\(form)</body></html>
      """
    return HTTPResponse(status, content: .html, body: Array(html.utf8))
      .adding("Referrer-Policy", value: "no-referrer").adding("X-Frame-Options", value: "DENY")
      .adding("Content-Security-Policy", value: "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
  }

  /// An address to go on to; nil for one that would run something, or break a header.
  static func location(_ text: String) -> String? {
    let lower = text.lowercased()
    guard text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 < 0x80 }),
      let colon = lower.firstIndex(of: ":"), !["javascript", "data", "vbscript", "file"].contains(String(lower[..<colon]))
    else { return nil }
    return text
  }
}

/// What the pages behind mailed links say in one language.
struct ActionWords: TranslatedTexts {
  /// What one kind of link does.
  struct ModeText: Sendable {
    /// The heading, and the label of the button.
    let title: String
    /// What has happened; `%` stands for the address.
    let done: String
  }

  let language: String
  let modes: [ActionMode: ModeText]
  let done: String
  let newPassword: String
  /// What to do about a password that is refused; `%` stands for the least number of characters.
  let weakPassword: String
  let tryAgain: String
  let goOn: String
  let deadLink: String
  /// What to do about a link that was used or is too old.
  let askAgain: String

  func title(_ mode: ActionMode) -> String { modes[mode]?.title ?? "" }
  func done(_ mode: ActionMode, email: String) -> String {
    (modes[mode]?.done ?? "").replacing("%", with: email, maxReplacements: 1)
  }

  /// In the languages that mails come in.
  static let all = [english, german, french, spanish, japanese]
}

extension ActionWords {
  static let english = ActionWords(
    language: "en",
    modes: [
      .verifyEmail: ModeText(title: "Confirm your address", done: "The address % is confirmed."),
      .resetPassword: ModeText(
        title: "Choose a new password", done: "The new password for % is set. You can sign in with it now."),
      .verifyAndChangeEmail: ModeText(title: "Confirm your new address", done: "Your account has the address % now."),
      .recoverEmail: ModeText(
        title: "Take back the change of your address",
        done: "Your account has the address % again. If you did not change it, choose a new password too."),
      .signIn: ModeText(title: "Sign in", done: ""),
    ],
    done: "Done", newPassword: "New password",
    weakPassword: "This password cannot be used. Choose a longer or more varied one, of at least % characters.",
    tryAgain: "That did not work just now. Try again in a moment.", goOn: "Continue",
    deadLink: "This link does not work any more", askAgain: "It was used, or its time is over. Ask for another one.")

  static let german = ActionWords(
    language: "de",
    modes: [
      .verifyEmail: ModeText(title: "Adresse bestätigen", done: "Die Adresse % ist bestätigt."),
      .resetPassword: ModeText(
        title: "Neues Passwort wählen", done: "Das neue Passwort für % gilt. Du kannst dich jetzt damit anmelden."),
      .verifyAndChangeEmail: ModeText(title: "Neue Adresse bestätigen", done: "Dein Konto hat jetzt die Adresse %."),
      .recoverEmail: ModeText(
        title: "Änderung der Adresse rückgängig machen",
        done: "Dein Konto hat wieder die Adresse %. Falls du sie nicht geändert hast, wähle auch ein neues Passwort."),
      .signIn: ModeText(title: "Anmelden", done: ""),
    ],
    done: "Erledigt", newPassword: "Neues Passwort",
    weakPassword: "Dieses Passwort geht nicht. Wähle ein längeres oder vielfältigeres mit mindestens % Zeichen.",
    tryAgain: "Das hat gerade nicht geklappt. Versuche es gleich noch einmal.", goOn: "Weiter",
    deadLink: "Dieser Link gilt nicht mehr", askAgain: "Er wurde schon benutzt, oder seine Zeit ist um. Fordere einen neuen an."
  )

  static let french = ActionWords(
    language: "fr",
    modes: [
      .verifyEmail: ModeText(title: "Confirmer votre adresse", done: "L'adresse % est confirmée."),
      .resetPassword: ModeText(
        title: "Choisir un nouveau mot de passe",
        done: "Le nouveau mot de passe de % est enregistré. Vous pouvez vous connecter."),
      .verifyAndChangeEmail: ModeText(
        title: "Confirmer votre nouvelle adresse", done: "L'adresse de votre compte est désormais %."),
      .recoverEmail: ModeText(
        title: "Annuler le changement d'adresse",
        done:
          "L'adresse de votre compte est à nouveau %. Si vous ne l'aviez pas changée, choisissez aussi un nouveau mot de passe."
      ),
      .signIn: ModeText(title: "Se connecter", done: ""),
    ],
    done: "C'est fait", newPassword: "Nouveau mot de passe",
    weakPassword: "Ce mot de passe ne convient pas. Choisissez-en un plus long ou plus varié, d'au moins % caractères.",
    tryAgain: "Cela n'a pas fonctionné. Réessayez dans un instant.", goOn: "Continuer",
    deadLink: "Ce lien n'est plus valable", askAgain: "Il a déjà servi, ou il a expiré. Demandez-en un autre.")

  static let spanish = ActionWords(
    language: "es",
    modes: [
      .verifyEmail: ModeText(title: "Confirmar tu dirección", done: "La dirección % está confirmada."),
      .resetPassword: ModeText(
        title: "Elegir una contraseña nueva", done: "La contraseña nueva de % está guardada. Ya puedes entrar con ella."),
      .verifyAndChangeEmail: ModeText(
        title: "Confirmar tu nueva dirección", done: "La dirección de tu cuenta es ahora %."),
      .recoverEmail: ModeText(
        title: "Deshacer el cambio de dirección",
        done: "La dirección de tu cuenta vuelve a ser %. Si no la cambiaste tú, elige también una contraseña nueva."),
      .signIn: ModeText(title: "Entrar", done: ""),
    ],
    done: "Hecho", newPassword: "Contraseña nueva",
    weakPassword: "Esta contraseña no vale. Elige una más larga o más variada, de al menos % caracteres.",
    tryAgain: "Ahora mismo no ha funcionado. Inténtalo de nuevo en un momento.", goOn: "Continuar",
    deadLink: "Este enlace ya no sirve", askAgain: "Ya se ha usado, o ha caducado. Pide otro.")

  static let japanese = ActionWords(
    language: "ja",
    modes: [
      .verifyEmail: ModeText(title: "メールアドレスを確認する", done: "%を確認しました。"),
      .resetPassword: ModeText(title: "新しいパスワードを設定する", done: "%の新しいパスワードを設定しました。新しいパスワードでログインできます。"),
      .verifyAndChangeEmail: ModeText(title: "新しいメールアドレスを確認する", done: "アカウントのメールアドレスは%になりました。"),
      .recoverEmail: ModeText(
        title: "メールアドレスの変更を取り消す",
        done: "アカウントのメールアドレスを%に戻しました。変更に心当たりがない場合は、パスワードも変更してください。"),
      .signIn: ModeText(title: "ログイン", done: ""),
    ],
    done: "完了しました", newPassword: "新しいパスワード",
    weakPassword: "このパスワードは使えません。%文字以上の、より長く複雑なものを選んでください。",
    tryAgain: "うまくいきませんでした。しばらくしてからもう一度お試しください。", goOn: "続ける",
    deadLink: "このリンクは無効です", askAgain: "すでに使われたか、期限が切れています。もう一度リクエストしてください。")
}
