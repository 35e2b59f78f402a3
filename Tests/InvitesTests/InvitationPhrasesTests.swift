@testable import Invites
import Testing

@Suite struct InvitationPhrasesTests {
  @Test("every language that comes with the program has every text, and each keeps its link")
  func builtIn() throws {
    #expect(InvitationTemplates.builtIn.keys.sorted() == InvitationPhrases.all.map(\.language).sorted())
    let values = [
      "inviter": "Ann", "appName": "Acme", "link": "https://go.acme.test/r/x", "message": "Hi", "image": "https://i.test/a.png",
    ]
    for (locale, templates) in InvitationTemplates.builtIn {
      let screen = templates.screen(values)
      #expect(screen.title.contains("Acme") && !screen.text.isEmpty && !(screen.title + screen.text).contains("{{"))
      for channel in InvitationChannel.allCases {
        #expect(!channel.name(in: [locale]).isEmpty)
        let content = templates.content(channel, values: values, partner: "p://x?u={{link}}")
        #expect(content.link == "https://go.acme.test/r/x")
        guard channel != .copy else { continue }
        #expect(content.body?.contains("https://go.acme.test/r/x") == true, "\(locale) \(channel)")
        #expect(content.body?.contains("Ann") == true && content.body?.contains("Acme") == true, "\(locale) \(channel)")
        #expect(content.body?.contains("{{") == false && content.html?.contains("{{") != true)
      }
    }
  }

  @Test("URIs of composers hold line ends as CR LF and nothing that ends them")
  func uris() {
    #expect(URIText.encode("a b&c=d\né\"") == "a%20b%26c%3Dd%0D%0A%C3%A9%22")
  }

  @Test(
    "settings that cannot work are refused",
    arguments: [
      "[]", "{\"x\":1}", "{\"appName\":\"\"}", "{\"perSenderPerDay\":-1}", "{\"campaigns\":[]}",
      "{\"campaigns\":{\"a\":{\"link\":\"javascript:1\"}}}",
      "{\"campaigns\":{\"a\":{\"x\":1}}}",
      "{\"campaigns\":{\"a\":{\"image\":\"http://x\"}}}",
      "{\"campaigns\":{\"a\":{\"partner\":\"javascript:alert({{link}})\"}}}",
      "{\"campaigns\":{\"a\":{\"partner\":\"app://x\"}}}", "{\"campaigns\":{\"a\":{\"channels\":[\"partner\"]}}}",
      "{\"campaigns\":{\"a\":{\"channels\":[\"fax\"]}}}", "{\"campaigns\":{\"a\":{\"templates\":{\"en\":{\"fax\":\"x\"}}}}}",
      "{\"campaigns\":{\"a\":{\"templates\":{\"en\":{\"sms\":\"{{x}}\"}}}}}",
    ])
  func refused(_ text: String) {
    #expect(throws: InvitationError.self) { try InvitationSettings(document: text) }
  }

  @Test("settings that an earlier version stored are read")
  func stored() throws {
    let text = "{\"appName\":\"Acme\",\"mailsFromAnonymous\":true}"
    #expect(try InvitationSettings(stored: text).appName == "Acme")
    #expect(throws: InvitationError.self) { try InvitationSettings(document: text) }
  }

  @Test("what the document says it says again")
  func document() throws {
    let text = """
      {"appName":"Acme","campaigns":{"a":{"link":"https://l","partner":"app://x?{{link}}","channels":["copy","partner"],
       "templates":{"pt-br":{"sms":"{{link}}"}}}},"perSenderPerDay":3,"perRecipientPerWeek":4,"trackOpening":true}
      """
    let settings = try InvitationSettings(document: text)
    let again = try InvitationSettings(document: settings.document)
    #expect(again.document == settings.document && again.perSenderPerDay == 3 && again.tracksOpening)
    let campaign = try #require(again.campaigns["a"])
    #expect(
      try again.templates(campaign, locales: ["sv", "pt_BR"]).content(.sms, values: ["link": "L"], partner: nil).body == "L")
  }
}

@Suite struct InvitationStateTests {
  @Test("an invitation's life goes from queued to converted")
  func order() {
    #expect(InvitationState.allCases.first == .queued)
    #expect(InvitationState.allCases.last == .converted)
  }
}
