import Testing

@testable import MailContent

@Suite struct TemplateCatalogTests {
  @Test("every kind has words in every language, and they use the link")
  func builtIn() throws {
    for (locale, phrases) in TemplatePhrases.all {
      for kind in MailKind.templated {
        let values = Dictionary(uniqueKeysWithValues: kind.placeholders.map { ($0, $0 == "link" ? "https://l" : "<\($0)>") })
        let words = try phrases.template(kind).words(values)
        #expect(!words.subject.isEmpty && !words.subject.contains("{{") && words.subject.contains("<appName>"), "\(locale)")
        #expect(words.text.contains("\nhttps://l\n") && !words.text.contains("{{"), "\(locale) \(kind)")
        let html = try #require(words.html)
        #expect(html.contains("href=\"https://l\"") && html.contains("&lt;appName&gt;") && !html.contains("{{"))
        for name in kind.placeholders
        where name != "link" && name != "appName" && !(kind == .verifyAndChangeEmail && name == "x") {
          #expect((words.text + words.subject).contains("<\(name)>"), "\(locale) \(kind) \(name)")
        }
      }
    }
  }

  static let fallbacks: [(String?, String)] = [
    (nil, "de"), ("de", "de"), ("de-AT", "de"), ("DE_at", "de"), ("fr-CA", "fr-ca"), ("fr-FR", "fr"), ("pt-BR", "de"),
    ("", "de"), ("../etc", "de"), ("en-GB-oed", "en"), ("e-s", "de"),
  ]

  @Test("a language that is not there falls back", arguments: fallbacks)
  func fallback(_ asked: String?, _ expected: String) throws {
    var catalog = TemplateCatalog(defaultLocale: "de-CH")
    for locale in ["de", "en", "fr", "fr-CA"] {
      let template = try MailTemplate(kind: .signIn, subject: locale.lowercased(), text: "", html: nil)
      catalog.set(template, for: .signIn, locale: locale)
    }
    #expect(catalog.words(.signIn, locales: asked.map { [$0] } ?? [], values: [:]).subject == expected)
  }

  @Test("of several languages the first that is there is taken, before the catalogue's own")
  func preferences() {
    let catalog = TemplateCatalog(defaultLocale: "de")
    let subject = { (locales: [String]) in catalog.words(.signIn, locales: locales, values: [:]).subject }
    #expect(subject(["sv", "fr-CA", "es"]) == subject(["fr"]))
    #expect(subject(["sv", "../x"]) == subject([]) && subject([]) == subject(["de"]))
    #expect(Set(["en", "de", "fr", "es", "ja"].map { subject([$0]) }).count == 5)
  }

  @Test("a template's files: the subject stands above the text")
  func files() throws {
    let template = try MailTemplate(
      kind: .invite, textFile: "Subject: {{inviter}} calls\r\n\r\nCome:\n{{link}}\n", htmlFile: "<p>{{message}}</p>")
    #expect(
      template.words(["inviter": "Ann\n", "link": "https://l", "message": "<"])
        == MailTemplate.Words(subject: "Ann  calls", text: "Come:\nhttps://l\n", html: "<p>&lt;</p>"))
    let rows: [(String, String?, TemplateError)] = [
      ("Hello", nil, TemplateError(line: 1, message: "The file must begin with \"Subject: …\" and an empty line.")),
      ("Subject: a\nb\n", nil, TemplateError(line: 1, message: "The file must begin with \"Subject: …\" and an empty line.")),
      (
        "Subject: a\n\nb\n{{#link}}", nil,
        TemplateError(line: 4, message: "The part {{#link}} does not end; close it with {{/link}}.")
      ),
      (
        "Subject: a\n\nb", "\n{{",
        TemplateError(
          line: 2, isInHTML: true, message: "A placeholder does not end; write it as {{name}}.")
      ),
    ]
    for (text, html, fault) in rows {
      #expect(throws: fault) { _ = try MailTemplate(kind: .invite, textFile: text, htmlFile: html) }
    }
  }
}
