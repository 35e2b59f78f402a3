/// What the page says on which somebody who was invited gets off the list, in one language.
struct UnsubscribeWords: Sendable {
  /// As pages name it (BCP 47).
  let locale: String
  let title: String
  let question: String
  let button: String
  let done: String
  /// What is said of an invitation that is not there.
  let unknown: String

  /// The words for somebody who reads these languages, the best first; English for who reads none that there is.
  static func chosen(from locales: [String]) -> UnsubscribeWords {
    for locale in locales {
      let language = locale.lowercased().prefix { $0 != "-" && $0 != "_" }
      if let found = all.first(where: { $0.locale == language }) { return found }
    }
    return all[0]
  }

  /// In the languages that invitations come in; English first.
  static let all = [
    UnsubscribeWords(
      locale: "en", title: "No more invitations?", question: "Shall this address get no more invitations?",
      button: "No more invitations", done: "This address gets no more invitations.",
      unknown: "This invitation is not known."),
    UnsubscribeWords(
      locale: "de", title: "Keine Einladungen mehr?", question: "Soll diese Adresse keine Einladungen mehr bekommen?",
      button: "Keine Einladungen mehr", done: "Diese Adresse bekommt keine Einladungen mehr.",
      unknown: "Diese Einladung ist nicht bekannt."),
    UnsubscribeWords(
      locale: "fr", title: "Plus d'invitations ?", question: "Cette adresse ne doit-elle plus recevoir d'invitations ?",
      button: "Plus d'invitations", done: "Cette adresse ne recevra plus d'invitations.",
      unknown: "Cette invitation n'est pas connue."),
    UnsubscribeWords(
      locale: "es", title: "¿No más invitaciones?", question: "¿Quieres que esta dirección no reciba más invitaciones?",
      button: "No más invitaciones", done: "Esta dirección no recibirá más invitaciones.",
      unknown: "No se conoce esta invitación."),
    UnsubscribeWords(
      locale: "ja", title: "招待の受信を停止しますか？", question: "このアドレスへの招待の送信を停止しますか？", button: "招待を受け取らない",
      done: "このアドレスに招待は送信されなくなりました。", unknown: "この招待は見つかりません。"),
  ]
}
