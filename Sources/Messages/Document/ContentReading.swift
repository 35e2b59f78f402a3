import TextFormats
import TreeModel

/// Reads what a message shows, by what its layout can show.
struct ContentReading {
  let layout: MessageLayout
  let surroundings: CampaignSurroundings
  let faults: CampaignFaults

  private static let members = [
    "defaultLanguage", "texts", "portraitImage", "landscapeImage", "image", "imageAlt", "colors", "primaryAction",
    "secondaryAction", "action",
  ]

  /// Members that a layout has no place for.
  private var unused: [String] {
    switch layout {
    case .banner: ["portraitImage", "landscapeImage", "primaryAction", "secondaryAction"]
    case .modal: ["portraitImage", "landscapeImage", "secondaryAction", "action"]
    case .card: ["image", "action"]
    case .imageOnly: ["portraitImage", "landscapeImage", "primaryAction", "secondaryAction"]
    }
  }

  /// Texts that a layout has no place for.
  private var unusedTexts: [String] {
    switch layout {
    case .banner: ["primary", "secondary"]
    case .modal: ["secondary"]
    case .card: []
    case .imageOnly: ["title", "body", "primary", "secondary"]
    }
  }

  func read(_ json: JSON, at path: String) -> MessageContent? {
    guard let reader = DocumentReader(json, at: path, known: Self.members, faults: faults) else { return nil }
    for name in unused where reader.has(name) {
      reader.refuse("NOT_FOR_LAYOUT", at: name, "A message of the layout \(layout.rawValue) has no \"\(name)\".")
    }
    var content = MessageContent()
    readTexts(reader, into: &content)
    readImages(reader, into: &content)
    readActions(reader, into: &content)
    content.colors = colors(reader)
    checkContrast(of: content, at: path)
    return content
  }

  // MARK: Texts

  private func readTexts(_ reader: DocumentReader, into content: inout MessageContent) {
    content.defaultLanguage = reader.text("defaultLanguage", length: 1...35) ?? ""
    let texts = reader.object("texts", known: nil)
    guard layout != .imageOnly || reader.has("texts") else { return }
    if !reader.has("defaultLanguage") {
      reader.refuse(
        "MISSING", at: "defaultLanguage", "\"defaultLanguage\" is missing: the language of who reads none of the others.")
    } else if !LanguageRange.isTag(content.defaultLanguage) {
      reader.refuse("BAD_LANGUAGE", at: "defaultLanguage", "It is no language tag, such as en or pt-BR.")
    }
    guard let texts else {
      if !reader.has("texts") { reader.refuse("MISSING", at: "texts", "\"texts\" is missing: what it says, by language.") }
      return
    }
    for language in texts.names {
      if !LanguageRange.isTag(language) {
        texts.refuse("BAD_LANGUAGE", at: String(language.prefix(40)), "It is no language tag, such as en or pt-BR.")
        continue
      }
      content.texts[language] = self.texts(texts, language: language)
    }
    if !content.defaultLanguage.isEmpty, content.texts[content.defaultLanguage] == nil {
      texts.refuse(
        "MISSING", at: String(content.defaultLanguage.prefix(40)), "There are no texts in the default language.")
    }
  }

  private func texts(_ parent: DocumentReader, language: String) -> MessageTexts? {
    guard let reader = parent.object(language, known: ["title", "body", "primary", "secondary"]) else { return nil }
    for name in unusedTexts where reader.has(name) {
      reader.refuse("NOT_FOR_LAYOUT", at: name, "A message of the layout \(layout.rawValue) has no \"\(name)\".")
    }
    var texts = MessageTexts()
    texts.title = reader.text("title", length: 1...200)
    texts.body = reader.text("body", length: 0...2000)
    texts.primary = reader.text("primary", length: 1...40)
    texts.secondary = reader.text("secondary", length: 1...40)
    if layout != .imageOnly, !reader.has("title") {
      reader.refuse("MISSING", at: "title", "A message needs a title in each language.")
    }
    if layout == .card, !reader.has("primary") {
      reader.refuse("MISSING", at: "primary", "A card needs the text of its first button in each language.")
    }
    for (name, text) in texts.named {
      PlainText.check(text, at: reader.place(name), mayBreakLines: name == "body", faults: faults)
      let usual = name == "title" ? 50 : name == "body" ? 150 : 20
      if text.count > usual {
        faults.warn("LONG_TEXT", at: reader.place(name), "Over \(usual) characters may not fit on a telephone.")
      }
    }
    return texts
  }

  // MARK: Images

  private func readImages(_ reader: DocumentReader, into content: inout MessageContent) {
    content.portraitImage = image(reader, named: "portraitImage")
    content.landscapeImage = image(reader, named: "landscapeImage")
    content.image = image(reader, named: "image")
    if layout == .card, !reader.has("portraitImage") {
      reader.refuse(
        "CARD_WITHOUT_IMAGE", at: "portraitImage", "A card needs \"portraitImage\": without one, apps show no further message.")
    }
    if layout == .imageOnly, !reader.has("image") {
      reader.refuse("MISSING", at: "image", "A message of the layout imageOnly needs an \"image\".")
    }
    if layout == .imageOnly, !reader.has("imageAlt") {
      reader.refuse("MISSING", at: "imageAlt", "An image alone needs \"imageAlt\": what it says, for who cannot see it.")
    }
    guard let alternatives = reader.object("imageAlt", known: nil) else { return }
    for language in alternatives.names {
      guard LanguageRange.isTag(language) else {
        alternatives.refuse("BAD_LANGUAGE", at: String(language.prefix(40)), "It is no language tag, such as en or pt-BR.")
        continue
      }
      if let text = alternatives.text(language, length: 1...300) {
        PlainText.check(text, at: alternatives.place(language), mayBreakLines: false, faults: faults)
        content.imageAlt[language] = text
      }
    }
  }

  private func image(_ reader: DocumentReader, named name: String) -> String? {
    guard let text = reader.text(name, length: 1...2048) else { return nil }
    let url = URLParts(text)
    guard text.utf8.count <= 2048, Self.isClean(text), url.scheme?.lowercased() == "https", let authority = url.authority,
      !authority.isEmpty, !authority.contains("@"), url.fragment == nil
    else {
      reader.refuse("IMAGE_NOT_HTTPS", at: name, "An image is an https address without a name, a password and a fragment.")
      return nil
    }
    return text
  }

  private static func isClean(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
  }

  // MARK: Actions

  private func readActions(_ reader: DocumentReader, into content: inout MessageContent) {
    content.primaryAction = action(reader, named: "primaryAction")
    content.secondaryAction = action(reader, named: "secondaryAction")
    content.action = action(reader, named: "action")
    if layout == .card, !reader.has("primaryAction"), !reader.isNull("primaryAction") {
      reader.refuse("MISSING", at: "primaryAction", "A card needs \"primaryAction\": an address, or null to close it.")
    }
    guard layout == .modal else { return }
    let withButton = content.texts.values.count { $0.primary != nil }
    let isWhole = content.primaryAction == nil ? withButton == 0 : withButton > 0 && withButton == content.texts.count
    if isWhole { return }
    reader.refuse(
      "BUTTON_WITHOUT_ACTION", at: "primaryAction",
      "A modal has a button (\"primary\" in every language) and \"primaryAction\" together or not at all; \"dismiss:\" closes it."
    )
  }

  private func action(_ reader: DocumentReader, named name: String) -> String? {
    guard let text = reader.text(name, length: 1...2048) else { return nil }
    if text == MessageContent.dismissal { return text }
    let url = URLParts(text)
    guard let scheme = url.scheme.map({ $0.lowercased() }), Self.isClean(text),
      !["javascript", "data", "vbscript", "file", "intent", "blob", "about"].contains(scheme)
    else {
      reader.refuse("UNSAFE_ACTION", at: name, "An action is an address with a scheme that is safe: https, or an app's own.")
      return nil
    }
    if scheme == "http" || scheme == "https" {
      guard url.authority?.isEmpty == false else {
        reader.refuse("UNSAFE_ACTION", at: name, "The address names no host.")
        return nil
      }
      if scheme == "http" {
        faults.warn("ACTION_NOT_HTTPS", at: reader.place(name), "The address is not encrypted; use https.")
      }
      if surroundings.allowsLink(text) == false {
        faults.warn("FOREIGN_HOST", at: reader.place(name), "The host is not among those that links may lead to.")
      }
    } else if !surroundings.appSchemes().contains(scheme) {
      faults.warn("UNKNOWN_SCHEME", at: reader.place(name), "No registered app opens \(scheme.prefix(40)):.")
    }
    return text
  }

  // MARK: Colours

  private func colors(_ parent: DocumentReader) -> MessageColors {
    var colors = MessageColors()
    let known = ["text", "background", "button", "primaryText", "secondaryText"]
    guard let reader = parent.object("colors", known: known) else { return colors }
    func color(_ name: String, fallback: String) -> String {
      guard let text = reader.text(name, length: 0...100) else { return fallback }
      guard MessageColor.channels(text) != nil else {
        reader.refuse("BAD_COLOR", at: name, "A colour is exactly #RRGGBB: apps misread every other form.")
        return fallback
      }
      return text
    }
    colors.text = color("text", fallback: colors.text)
    colors.background = color("background", fallback: colors.background)
    colors.button = color("button", fallback: colors.button)
    colors.primaryText = color("primaryText", fallback: colors.primaryText)
    colors.secondaryText = color("secondaryText", fallback: colors.secondaryText)
    return colors
  }

  private func checkContrast(of content: MessageContent, at path: String) {
    let colors = content.colors
    var pairs: [(name: String, front: String, back: String)] = []
    if layout != .imageOnly { pairs.append(("text", colors.text, colors.background)) }
    if content.texts.values.contains(where: { $0.primary != nil }) {
      pairs.append(("primaryText", colors.primaryText, colors.button))
    }
    for (name, front, back) in pairs {
      guard let contrast = MessageColor.contrast(front, with: back), contrast < 4.5 else { continue }
      let ratio = Double(Int(contrast * 10)) / 10
      let place = "\(path).colors.\(name)"
      if contrast < 1.5 {
        faults.refuse(
          "LOW_CONTRAST", at: place, "\(front) on \(back) cannot be read: the contrast is \(ratio):1, 4.5:1 is enough.")
      } else {
        faults.warn(
          "LOW_CONTRAST", at: place, "\(front) on \(back) is hard to read: the contrast is \(ratio):1, 4.5:1 is enough.")
      }
    }
  }
}
