import TextFormats

/// What the built-in mails say in one language; the layout is the same in all.
struct TemplatePhrases: Sendable {
  /// One kind of mail.
  struct Letter: Sendable {
    let subject: String
    let body: String
    /// What stands on the button.
    let action: String
    /// What to do if the mail is a surprise; nil if nothing.
    var closing: String?
  }

  /// Above the body; uses `displayName`.
  let greeting: String
  /// Below the body of a mail that the reader did not have to ask for.
  let ignore: String
  let letters: [MailKind: Letter]

  /// The template of a kind, put together.
  func template(_ kind: MailKind) throws(TemplateError) -> MailTemplate {
    guard let letter = letters[kind] else { throw TemplateError(line: 1, message: "There are no words for \(kind.rawValue).") }
    let hello = kind == .invite ? "" : greeting
    let closing = letter.closing ?? ignore
    let start = hello.isEmpty ? "" : hello + "\n\n"
    let text = "\(start)\(letter.body)\n\n{{link}}\n\n\(closing)\n\n{{appName}}\n"
    return try MailTemplate(
      kind: kind, subject: letter.subject, text: text, html: html(hello, letter: letter, closing: closing))
  }

  private func html(_ hello: String, letter: Letter, closing: String) -> String {
    let paragraphs = ([hello].filter { !$0.isEmpty } + letter.body.split(separator: "\n\n").map(String.init))
      .map { "<p>\(Self.markup($0))</p>" }.joined(separator: "\n")
    return """
      <!DOCTYPE html>
      <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
      <body style="margin:0;padding:24px;font:16px/1.5 sans-serif;color:#222;background:#fff">
      <div style="max-width:34em;margin:0 auto">
      \(paragraphs)
      <p><a href="{{link}}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#0b57d0;\
      color:#fff;text-decoration:none">\(Self.markup(letter.action))</a></p>
      <p style="font-size:13px;color:#555;word-break:break-all">{{link}}</p>
      <p style="font-size:13px;color:#555">\(Self.markup(closing))<br>{{appName}}</p>
      </div></body></html>

      """
  }

  /// The program's own words as markup; placeholders stay.
  private static func markup(_ text: String) -> String {
    HTMLText.escaped(text).replacing("\n", with: "<br>")
  }

  /// By locale.
  static let all: [String: TemplatePhrases] = [
    "en": .english, "de": .german, "es": .spanish, "fr": .french, "ja": .japanese,
  ]
}

extension TemplatePhrases {
  static let english = TemplatePhrases(
    greeting: "Hello{{#displayName}} {{displayName}}{{/displayName}},",
    ignore: "If you did not ask for this, ignore this message: nothing changes.",
    letters: [
      .verifyEmail: Letter(
        subject: "Confirm your address for {{appName}}",
        body: "please confirm that {{email}} is your address.", action: "Confirm address"),
      .resetPassword: Letter(
        subject: "Your password for {{appName}}",
        body: "with this link you choose a new password for your account {{email}}.", action: "Choose a new password"),
      .signIn: Letter(
        subject: "Sign in to {{appName}}", body: "with this link you sign in as {{email}}. It works once.", action: "Sign in"),
      .verifyAndChangeEmail: Letter(
        subject: "Confirm your new address for {{appName}}",
        body: "please confirm that {{newEmail}} shall be the address of your account.",
        action: "Confirm new address"),
      .recoverEmail: Letter(
        subject: "Your address for {{appName}} was changed",
        body: "the address of your account was changed from {{email}}{{#newEmail}} to {{newEmail}}{{/newEmail}}.\n\n"
          + "If that was not you, take the change back, and then choose a new password.",
        action: "Take the change back", closing: "If it was you, ignore this message."),
      .invite: Letter(
        subject: "{{inviter}} invites you to {{appName}}",
        body: "{{inviter}} would like to play {{appName}} with you.{{#message}}\n\n{{message}}{{/message}}",
        action: "Accept the invitation", closing: "If you do not know the sender, ignore this message."),
    ])

  static let german = TemplatePhrases(
    greeting: "Hallo{{#displayName}} {{displayName}}{{/displayName}},",
    ignore: "Falls du das nicht angefordert hast, ist nichts zu tun: Es ändert sich nichts.",
    letters: [
      .verifyEmail: Letter(
        subject: "Bestätige deine Adresse für {{appName}}",
        body: "bitte bestätige, dass {{email}} deine Adresse ist.", action: "Adresse bestätigen"),
      .resetPassword: Letter(
        subject: "Dein Passwort für {{appName}}",
        body: "mit diesem Link wählst du ein neues Passwort für dein Konto {{email}}.", action: "Neues Passwort wählen"),
      .signIn: Letter(
        subject: "Anmelden bei {{appName}}",
        body: "mit diesem Link meldest du dich als {{email}} an. Er gilt einmal.", action: "Anmelden"),
      .verifyAndChangeEmail: Letter(
        subject: "Bestätige deine neue Adresse für {{appName}}",
        body: "bitte bestätige, dass dein Konto künftig die Adresse {{newEmail}} haben soll.",
        action: "Neue Adresse bestätigen"),
      .recoverEmail: Letter(
        subject: "Deine Adresse für {{appName}} wurde geändert",
        body: "die Adresse deines Kontos wurde von {{email}}{{#newEmail}} auf {{newEmail}}{{/newEmail}} geändert.\n\n"
          + "Falls du das nicht warst, mach die Änderung rückgängig und wähle danach ein neues Passwort.",
        action: "Änderung rückgängig machen", closing: "Falls du es warst, ist nichts zu tun."),
      .invite: Letter(
        subject: "{{inviter}} lädt dich zu {{appName}} ein",
        body: "{{inviter}} möchte mit dir {{appName}} spielen.{{#message}}\n\n{{message}}{{/message}}",
        action: "Einladung annehmen", closing: "Falls du den Absender nicht kennst, ist nichts zu tun."),
    ])

  static let spanish = TemplatePhrases(
    greeting: "Hola{{#displayName}} {{displayName}}{{/displayName}}:",
    ignore: "Si no lo has pedido, ignora este mensaje: no cambia nada.",
    letters: [
      .verifyEmail: Letter(
        subject: "Confirma tu dirección para {{appName}}",
        body: "confirma que {{email}} es tu dirección.", action: "Confirmar dirección"),
      .resetPassword: Letter(
        subject: "Tu contraseña de {{appName}}",
        body: "con este enlace eliges una contraseña nueva para tu cuenta {{email}}.", action: "Elegir contraseña nueva"),
      .signIn: Letter(
        subject: "Entra en {{appName}}", body: "con este enlace entras como {{email}}. Sirve una sola vez.",
        action: "Entrar"),
      .verifyAndChangeEmail: Letter(
        subject: "Confirma tu nueva dirección para {{appName}}",
        body: "confirma que la dirección de tu cuenta debe ser {{newEmail}}.",
        action: "Confirmar la nueva dirección"),
      .recoverEmail: Letter(
        subject: "Tu dirección de {{appName}} ha cambiado",
        body: "la dirección de tu cuenta ha cambiado de {{email}}{{#newEmail}} a {{newEmail}}{{/newEmail}}.\n\n"
          + "Si no has sido tú, deshaz el cambio y elige después una contraseña nueva.",
        action: "Deshacer el cambio", closing: "Si has sido tú, ignora este mensaje."),
      .invite: Letter(
        subject: "{{inviter}} te invita a {{appName}}",
        body: "{{inviter}} quiere jugar a {{appName}} contigo.{{#message}}\n\n{{message}}{{/message}}",
        action: "Aceptar la invitación", closing: "Si no conoces al remitente, ignora este mensaje."),
    ])

  static let french = TemplatePhrases(
    greeting: "Bonjour{{#displayName}} {{displayName}}{{/displayName}},",
    ignore: "Si vous n'avez rien demandé, ignorez ce message : rien ne change.",
    letters: [
      .verifyEmail: Letter(
        subject: "Confirmez votre adresse pour {{appName}}",
        body: "merci de confirmer que {{email}} est votre adresse.", action: "Confirmer l'adresse"),
      .resetPassword: Letter(
        subject: "Votre mot de passe pour {{appName}}",
        body: "ce lien vous permet de choisir un nouveau mot de passe pour votre compte {{email}}.",
        action: "Choisir un nouveau mot de passe"),
      .signIn: Letter(
        subject: "Connexion à {{appName}}", body: "ce lien vous connecte en tant que {{email}}. Il ne sert qu'une fois.",
        action: "Se connecter"),
      .verifyAndChangeEmail: Letter(
        subject: "Confirmez votre nouvelle adresse pour {{appName}}",
        body: "merci de confirmer que l'adresse de votre compte doit être {{newEmail}}.",
        action: "Confirmer la nouvelle adresse"),
      .recoverEmail: Letter(
        subject: "Votre adresse pour {{appName}} a été modifiée",
        body: "l'adresse de votre compte a été modifiée de {{email}}{{#newEmail}} en {{newEmail}}{{/newEmail}}.\n\n"
          + "Si ce n'était pas vous, annulez la modification, puis choisissez un nouveau mot de passe.",
        action: "Annuler la modification", closing: "Si c'était vous, ignorez ce message."),
      .invite: Letter(
        subject: "{{inviter}} vous invite à {{appName}}",
        body: "{{inviter}} aimerait jouer à {{appName}} avec vous.{{#message}}\n\n{{message}}{{/message}}",
        action: "Accepter l'invitation", closing: "Si vous ne connaissez pas l'expéditeur, ignorez ce message."),
    ])
}

extension TemplatePhrases {
  static let japanese = TemplatePhrases(
    greeting: "こんにちは{{#displayName}}、{{displayName}}様{{/displayName}}。",
    ignore: "お心当たりがない場合は、このメールを無視してください。何も変更されません。",
    letters: [
      .verifyEmail: Letter(
        subject: "{{appName}}: メールアドレスの確認", body: "{{email}} がご自身のメールアドレスであることを確認してください。",
        action: "メールアドレスを確認する"),
      .resetPassword: Letter(
        subject: "{{appName}}: パスワードの再設定", body: "次のリンクから、アカウント {{email}} の新しいパスワードを設定できます。",
        action: "新しいパスワードを設定する"),
      .signIn: Letter(
        subject: "{{appName}}にログイン", body: "次のリンクから {{email}} としてログインできます。リンクは一度だけ有効です。", action: "ログイン"),
      .verifyAndChangeEmail: Letter(
        subject: "{{appName}}: 新しいメールアドレスの確認", body: "アカウントのメールアドレスを {{newEmail}} に変更することを確認してください。",
        action: "新しいメールアドレスを確認する"),
      .recoverEmail: Letter(
        subject: "{{appName}}: メールアドレスが変更されました",
        body: "アカウントのメールアドレスが {{email}} から{{#newEmail}} {{newEmail}} に{{/newEmail}}変更されました。\n\n"
          + "お心当たりがない場合は、変更を取り消し、新しいパスワードを設定してください。",
        action: "変更を取り消す", closing: "ご自身で変更された場合は、このメールを無視してください。"),
      .invite: Letter(
        subject: "{{inviter}}さんから{{appName}}への招待",
        body: "{{inviter}}さんが一緒に{{appName}}で遊びたいと思っています。{{#message}}\n\n{{message}}{{/message}}",
        action: "招待を受ける", closing: "心当たりがない場合は、このメールを無視してください。"),
    ])
}
