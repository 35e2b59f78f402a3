import TextFormats

/// What the pages of links say, in one language.
struct LinkPhrases: TranslatedTexts {
  /// Its code, for the page's `lang`.
  let language: String
  /// The title of a link that says none; `{{app}}` stands for the app's name.
  let invitation: String
  let words: String
  let save: String
  let saveDetail: String
  let get: String
  let goOn: String
  let open: String
  let code: String
  /// What an app is called of which nothing is known.
  let anApp: String
  let unknown: Notice
  let invalid: String
  let disabled: Notice
  let deleted: Notice
  let debug: Debug

  /// Why nothing opens; `{{link}}` stands for the link.
  struct Notice: Sendable {
    let heading: String
    let text: String
  }

  /// What the page of `d=1` says.
  struct Debug: Sendable {
    let title: String
    let heading: String
    let platforms: String
    let desktop: String
    let crawler: String
    /// Before what happens without the app; `{{app}}` stands for it.
    let app: String
    /// `{{url}}` stands for where the preview page leads.
    let preview: String
    let card: String
    let findings: String
    let nothing: String
    let error: String
    let parameters: String
  }

  /// In the languages that invitations come in.
  static let all = [english, german, french, spanish, japanese]
}

extension LinkPhrases {
  static let english = LinkPhrases(
    language: "en", invitation: "You are invited to {{app}}", words: "Get the app, and it opens where this link leads.",
    save: "Save my place in the app", saveDetail: "Copies this link, so that the app finds it after the installation.",
    get: "Get the app", goOn: "Continue", open: "I have it: open the app", code: "Asked for an invitation code? Enter",
    anApp: "Invitation",
    unknown: Notice(
      heading: "This link was not found",
      text: "Nothing is known of {{link}}. Perhaps a letter is missing, or a small letter became a capital one."),
    invalid: "This link is not valid",
    disabled: Notice(
      heading: "This link is switched off", text: "{{link}} opens nothing at present. Ask for another where you got it."),
    deleted: Notice(
      heading: "This link is gone",
      text: "{{link}} was taken away and will not come back. Ask for another where you got it."),
    debug: Debug(
      title: "Link preview", heading: "Where this link leads", platforms: "By platform", desktop: "Desktop",
      crawler: "Social crawler", app: "The app {{app}}, if it is installed. Otherwise: ",
      preview: "a preview page, then {{url}}",
      card: "A page with the link's title, description and image; no redirect.", findings: "Errors and warnings",
      nothing: "No errors and no warnings.", error: "Error", parameters: "Parameters"))

  static let german = LinkPhrases(
    language: "de", invitation: "Du bist zu {{app}} eingeladen",
    words: "Hol dir die App: Sie öffnet sich dort, wohin dieser Link führt.",
    save: "Meinen Platz in der App merken",
    saveDetail: "Kopiert diesen Link, damit die App ihn nach der Installation findet.", get: "App holen", goOn: "Weiter",
    open: "Ich habe sie: App öffnen", code: "Du wirst nach einem Einladungscode gefragt? Gib ein", anApp: "Einladung",
    unknown: Notice(
      heading: "Dieser Link wurde nicht gefunden",
      text: "Über {{link}} ist nichts bekannt. Vielleicht fehlt ein Buchstabe, oder ein kleiner wurde zu einem großen."),
    invalid: "Dieser Link ist nicht gültig",
    disabled: Notice(
      heading: "Dieser Link ist abgeschaltet",
      text: "{{link}} öffnet zurzeit nichts. Bitte um einen anderen, wo du ihn herhast."),
    deleted: Notice(
      heading: "Diesen Link gibt es nicht mehr",
      text: "{{link}} wurde entfernt und kommt nicht wieder. Bitte um einen anderen, wo du ihn herhast."),
    debug: Debug(
      title: "Link-Vorschau", heading: "Wohin dieser Link führt", platforms: "Je nach Plattform", desktop: "Computer",
      crawler: "Vorschau eines sozialen Netzes", app: "Die App {{app}}, wenn sie installiert ist. Sonst: ",
      preview: "eine Vorschauseite, danach {{url}}",
      card: "Eine Seite mit Titel, Beschreibung und Bild des Links; keine Weiterleitung.", findings: "Fehler und Warnungen",
      nothing: "Keine Fehler und keine Warnungen.", error: "Fehler", parameters: "Parameter"))

  static let french = LinkPhrases(
    language: "fr", invitation: "Vous êtes invité à {{app}}",
    words: "Installez l'application : elle s'ouvrira là où mène ce lien.", save: "Garder ma place dans l'application",
    saveDetail: "Copie ce lien pour que l'application le retrouve après l'installation.", get: "Obtenir l'application",
    goOn: "Continuer", open: "Je l'ai déjà : ouvrir l'application", code: "On vous demande un code d'invitation ? Saisissez",
    anApp: "Invitation",
    unknown: Notice(
      heading: "Ce lien est introuvable",
      text: "On ne sait rien de {{link}}. Il manque peut-être une lettre, ou une minuscule est devenue majuscule."),
    invalid: "Ce lien n'est pas valable",
    disabled: Notice(
      heading: "Ce lien est désactivé",
      text: "{{link}} n'ouvre rien pour le moment. Demandez-en un autre à la personne qui vous l'a donné."),
    deleted: Notice(
      heading: "Ce lien n'existe plus",
      text: "{{link}} a été supprimé et ne reviendra pas. Demandez-en un autre à la personne qui vous l'a donné."),
    debug: Debug(
      title: "Aperçu du lien", heading: "Où mène ce lien", platforms: "Selon la plateforme", desktop: "Ordinateur",
      crawler: "Robot d'un réseau social", app: "L'application {{app}}, si elle est installée. Sinon : ",
      preview: "une page d'aperçu, puis {{url}}",
      card: "Une page avec le titre, la description et l'image du lien ; pas de redirection.",
      findings: "Erreurs et avertissements", nothing: "Ni erreur ni avertissement.", error: "Erreur",
      parameters: "Paramètres"))

  static let spanish = LinkPhrases(
    language: "es", invitation: "Tienes una invitación a {{app}}",
    words: "Instala la aplicación y se abrirá donde lleva este enlace.", save: "Guardar mi lugar en la aplicación",
    saveDetail: "Copia este enlace para que la aplicación lo encuentre tras la instalación.", get: "Obtener la aplicación",
    goOn: "Continuar", open: "Ya la tengo: abrir la aplicación", code: "¿Te piden un código de invitación? Escribe",
    anApp: "Invitación",
    unknown: Notice(
      heading: "No se encontró este enlace",
      text: "No se sabe nada de {{link}}. Quizá falte una letra, o una minúscula se convirtió en mayúscula."),
    invalid: "Este enlace no es válido",
    disabled: Notice(
      heading: "Este enlace está desactivado", text: "{{link}} no abre nada por ahora. Pide otro a quien te lo dio."),
    deleted: Notice(
      heading: "Este enlace ya no existe", text: "{{link}} se eliminó y no volverá. Pide otro a quien te lo dio."),
    debug: Debug(
      title: "Vista previa del enlace", heading: "Adónde lleva este enlace", platforms: "Según la plataforma",
      desktop: "Ordenador", crawler: "Robot de una red social",
      app: "La aplicación {{app}}, si está instalada. Si no: ", preview: "una página previa y después {{url}}",
      card: "Una página con el título, la descripción y la imagen del enlace; sin redirección.",
      findings: "Errores y advertencias", nothing: "Sin errores ni advertencias.", error: "Error", parameters: "Parámetros"))

  static let japanese = LinkPhrases(
    language: "ja", invitation: "{{app}}に招待されています", words: "アプリを入手すると、このリンクの先が開きます。",
    save: "アプリでの続きを保存する", saveDetail: "インストール後にアプリが見つけられるよう、このリンクをコピーします。",
    get: "アプリを入手", goOn: "続ける", open: "インストール済み：アプリを開く", code: "招待コードを求められたら入力してください",
    anApp: "招待",
    unknown: Notice(
      heading: "リンクが見つかりません", text: "{{link}}については何もわかりません。文字が抜けているか、小文字が大文字になっているかもしれません。"),
    invalid: "このリンクは正しくありません",
    disabled: Notice(heading: "このリンクは無効になっています", text: "{{link}}は現在何も開きません。送ってくれた人に別のリンクを頼んでください。"),
    deleted: Notice(heading: "このリンクはなくなりました", text: "{{link}}は削除され、元には戻りません。送ってくれた人に別のリンクを頼んでください。"),
    debug: Debug(
      title: "リンクのプレビュー", heading: "このリンクの行き先", platforms: "プラットフォーム別", desktop: "パソコン",
      crawler: "ソーシャルメディアのクローラー", app: "アプリ「{{app}}」（インストール済みの場合）。それ以外：",
      preview: "プレビューページ、続いて{{url}}", card: "リンクのタイトル・説明・画像のページ。転送なし。",
      findings: "エラーと警告", nothing: "エラーも警告もありません。", error: "エラー", parameters: "パラメーター"))
}
