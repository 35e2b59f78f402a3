import TextFormats

/// The invitations that come with the program, in one language; the layout is the same in all.
struct InvitationPhrases: TranslatedTexts {
  let language: String
  let subject: String
  let opening: String
  let how: String
  let action: String
  let closing: String
  let brief: String
  /// Who invites, if nobody knows the name.
  let friend: String
  /// What the link off the list says, in mails.
  let unsubscribe: String
  /// What the buttons of the channels say.
  let channels: Channels
  /// What a game shows above them: why to invite.
  let pitch: Pitch

  /// The names of channels.
  struct Channels: Sendable {
    let email: String
    let sms: String
    let copy: String
    let share: String
    let partner: String
  }

  /// A title and a sentence.
  struct Pitch: Sendable {
    let title: String
    let text: String
  }

  /// As templates.
  var sources: [String: String] {
    [
      "subject": subject,
      "text": "\(opening)\n{{#message}}\n{{message}}\n{{/message}}\n\(how)\n\n{{link}}\n\n\(closing)\n",
      "html": """
      <!DOCTYPE html>
      <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
      <body style="margin:0;padding:24px;background:#f4f2ee;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Arial,sans-serif;color:#1b1c1f">
      <div style="max-width:32em;margin:0 auto;background:#fff;border:1px solid #e4e1da;border-radius:16px;overflow:hidden">
      {{#image}}<img src="{{image}}" alt="" width="512" style="display:block;width:100%;height:auto">{{/image}}
      <div style="padding:24px">
      <p style="font-size:20px;font-weight:600;margin:0 0 12px">\(opening)</p>
      {{#message}}<p style="margin:0 0 16px;padding-left:12px;border-left:3px solid #e0b04f">{{message}}</p>{{/message}}
      <p style="margin:0 0 20px">\(how)</p>
      <p style="margin:0 0 20px"><a href="{{link}}" style="display:inline-block;padding:13px 24px;border-radius:12px;\
      background:#14213d;color:#fff;text-decoration:none;font-weight:600">\(action)</a></p>
      <p style="margin:0 0 12px;font-size:13px;color:#5d6068;word-break:break-all">{{link}}</p>
      <p style="margin:0;font-size:13px;color:#5d6068">\(closing)</p>
      </div></div></body></html>

      """,
      "sms": "\(brief)\n{{#message}}{{message}}\n{{/message}}{{link}}",
      "share": "\(brief) {{link}}",
      "title": pitch.title,
      "pitch": pitch.text,
    ]
  }
}

extension InvitationPhrases {
  static let all = [english, german, french, spanish, japanese]

  static let english = InvitationPhrases(
    language: "en",
    subject: "{{inviter}} wants you to play {{appName}}", opening: "{{inviter}} wants you to play {{appName}}.",
    how: "Open the link on your phone: it gets the app if you do not have it yet, and takes you where you are awaited.",
    action: "Accept the invitation", closing: "You do not know the sender? Then ignore this mail.",
    brief: "{{inviter}} invites you to {{appName}}:",
    friend: "A friend", unsubscribe: "A player entered your address. Get no more invitations",
    channels: Channels(email: "E-mail", sms: "Message", copy: "Copy link", share: "More", partner: "Partner app"),
    pitch: Pitch(
      title: "Play {{appName}} together", text: "Invite your friends: who comes by your link starts where you wait for them."))

  static let german = InvitationPhrases(
    language: "de",
    subject: "{{inviter}} möchte mit dir {{appName}} spielen", opening: "{{inviter}} möchte mit dir {{appName}} spielen.",
    how:
      "Öffne den Link auf deinem Telefon: Er holt die App, falls du sie noch nicht hast, und bringt dich an den richtigen Ort.",
    action: "Einladung annehmen", closing: "Du kennst den Absender nicht? Dann beachte diese Mail nicht.",
    brief: "{{inviter}} lädt dich zu {{appName}} ein:",
    friend: "Jemand, der dich kennt,", unsubscribe: "Ein Spieler hat deine Adresse angegeben. Keine Einladungen mehr bekommen",
    channels: Channels(email: "E-Mail", sms: "Nachricht", copy: "Link kopieren", share: "Mehr", partner: "Partner-App"),
    pitch: Pitch(
      title: "Spielt {{appName}} zusammen",
      text: "Lade Freunde ein. Wer über deinen Link kommt, beginnt dort, wo du auf ihn wartest."))

  static let french = InvitationPhrases(
    language: "fr",
    subject: "{{inviter}} vous invite à jouer à {{appName}}", opening: "{{inviter}} vous invite à jouer à {{appName}}.",
    how: "Ouvrez le lien sur votre téléphone : il installe l'application si besoin et vous mène là où l'on vous attend.",
    action: "Accepter l'invitation", closing: "Vous ne connaissez pas l'expéditeur ? Ignorez ce message.",
    brief: "{{inviter}} vous invite à {{appName}} :",
    friend: "Un ami", unsubscribe: "Un joueur a indiqué votre adresse. Ne plus recevoir d'invitations",
    channels: Channels(
      email: "E-mail", sms: "Message", copy: "Copier le lien", share: "Plus", partner: "Application partenaire"),
    pitch: Pitch(
      title: "Jouez ensemble à {{appName}}", text: "Invitez vos amis : qui vient par votre lien commence là où vous l'attendez."
    ))

  static let spanish = InvitationPhrases(
    language: "es",
    subject: "{{inviter}} quiere que juegues a {{appName}}", opening: "{{inviter}} quiere que juegues a {{appName}}.",
    how: "Abre el enlace en tu teléfono: instala la aplicación si aún no la tienes y te lleva adonde te esperan.",
    action: "Aceptar la invitación", closing: "¿No conoces al remitente? Ignora este correo.",
    brief: "{{inviter}} te invita a {{appName}}:",
    friend: "Alguien que te conoce", unsubscribe: "Un jugador indicó tu dirección. No recibir más invitaciones",
    channels: Channels(email: "Correo", sms: "Mensaje", copy: "Copiar enlace", share: "Más", partner: "Aplicación asociada"),
    pitch: Pitch(
      title: "Jugad juntos a {{appName}}", text: "Invita a tus amigos: quien llega por tu enlace empieza donde lo esperas."))

  static let japanese = InvitationPhrases(
    language: "ja",
    subject: "{{inviter}}さんが{{appName}}に招待しています", opening: "{{inviter}}さんが{{appName}}に招待しています。",
    how: "スマートフォンでリンクを開いてください。アプリがない場合はインストールしてから続きが開きます。",
    action: "招待を受ける", closing: "心当たりがない場合は、このメールを無視してください。",
    brief: "{{inviter}}さんから{{appName}}への招待:",
    friend: "お友だち", unsubscribe: "プレイヤーがこのアドレスを入力しました。今後の招待を受け取らない",
    channels: Channels(email: "メール", sms: "メッセージ", copy: "リンクをコピー", share: "その他", partner: "提携アプリ"),
    pitch: Pitch(title: "いっしょに{{appName}}を遊ぼう", text: "友だちを招待しましょう。あなたのリンクから来た人は、あなたの待つ場所から始まります。"))
}
