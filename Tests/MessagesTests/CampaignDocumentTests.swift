import Messages
import StorageCore
import Testing
import TreeModel

/// What documents say, and what is wrong about them.
@Suite struct CampaignDocumentTests {
  static let whole = """
    {"id":"earned50","name":"You earned 50","layout":"card","priority":2,
     "content":{"defaultLanguage":"en","texts":{
       "en":{"title":"You earned {{amount}} {{currency|coins}}!","body":"Thanks to {{inviter|a friend}}.","primary":"Invite more","secondary":"Later"},
       "pl":{"title":"Masz {{amount}} {{currency|monet}}!","body":"Dzięki: {{inviter|znajomy}}.","primary":"Zaproś","secondary":"Później"}},
      "portraitImage":"https://cdn.acme.test/p.png","landscapeImage":"https://cdn.acme.test/l.png","imageAlt":{"en":"A chest","pl":"Skrzynia"},
      "colors":{"text":"#112233","background":"#ffffff","button":"#000000","primaryText":"#ffffff","secondaryText":"#000000"},
      "primaryAction":"https://acme.test/invite","secondaryAction":null},
     "triggers":[{"server":"reward","where":{"currency":"pieces_of_eight","amount":{">=":50}}}],
     "schedule":{"start":"2023-12-01T09:00","end":null,"timeZone":"Europe/Warsaw"},
     "audience":{"platforms":["ios"],"appVersion":{">=":"2.0"},"languages":["pl","en"],"player":{"anonymous":false},"percent":100},
     "frequency":{"lifetime":3,"caps":[{"count":1,"days":7}]},
     "data":{"promo":"X50"},"conversion":{"event":"invite_sent","days":7},
     "variants":[{"name":"a","weight":50},{"name":"b","weight":50,"content":{"colors":{"background":"#fff4d6"}}}],
     "testDevices":["cRk2AAAAAAAAAAAAAAAAAA"]}
    """

  @Test("a whole document is accepted, and reads back as it was sent")
  func example() async throws {
    try await MessageFixture.run { (game) async throws in
      let document = try JSONParser.parse(Self.whole)
      #expect(game.messages.check(document).faults == [])
      let campaign = try await game.messages.create(document, by: MessageFixture.admin)
      #expect(campaign.document.source == document)
      let stored = try game.messages.campaign("earned50")
      #expect(stored.document.source == document)
      #expect(stored.document.variants.map(\.content.colors.background) == ["#ffffff", "#fff4d6"])
    }
  }

  /// A change of the plain document, and the first fault that it makes: its code and path.
  struct Bad: Sendable, CustomTestStringConvertible {
    let changes: JSON
    let code: String
    let path: String
    init(_ changes: JSON, _ code: String, _ path: String) { (self.changes, self.code, self.path) = (changes, code, path) }
    var testDescription: String { "\(code) \(path) \(changes.compactText)" }
  }

  static func content(_ members: JSON) -> JSON {
    let plain: JSON = ["defaultLanguage": "en", "texts": ["en": ["title": "Hello"]]]
    return .object((plain.object ?? []).filter { member in members[member.key] == nil } + (members.object ?? []))
  }

  /// A modal's content with a button in these colours.
  static func button(_ colors: JSON, text: String = "Go") -> JSON {
    content([
      "texts": ["en": ["title": "Hello", "primary": .string(text)]], "primaryAction": "https://acme.test/", "colors": colors,
    ])
  }

  static let card: JSON = [
    "defaultLanguage": "en", "texts": ["en": ["title": "Hello", "primary": "Go"]], "primaryAction": nil,
  ]

  static let refused: [Bad] = [
    Bad(["nmae": "x"], "UNKNOWN_MEMBER", "nmae"), Bad(["priority": "2"], "WRONG_TYPE", "priority"),
    Bad(["priority": 11], "OUT_OF_RANGE", "priority"), Bad(["name": nil], "MISSING", "name"),
    Bad(["id": "a b"], "BAD_VALUE", "id"), Bad(["layout": "popup"], "BAD_VALUE", "layout"),
    Bad(["layout": "card", "content": card], "CARD_WITHOUT_IMAGE", "content.portraitImage"),
    Bad(["layout": "imageOnly"], "NOT_FOR_LAYOUT", "content.texts.en.title"),
    Bad(["layout": "imageOnly", "content": ["imageAlt": ["en": "A chest"]]], "MISSING", "content.image"),
    Bad(["layout": "imageOnly", "content": ["image": "https://acme.test/a.png"]], "MISSING", "content.imageAlt"),
    Bad(["content": 7], "WRONG_TYPE", "content"),
    Bad(["content": content(["texts": ["en": ["body": "x"]]])], "MISSING", "content.texts.en.title"),
    Bad(["content": content(["texts": ["pl": ["title": "x"]]])], "MISSING", "content.texts.en"),
    Bad(
      ["content": content(["texts": ["en": ["title": "x"], "english!": ["title": "x"]]])], "BAD_LANGUAGE",
      "content.texts.english!"),
    Bad(
      ["content": content(["texts": ["en": ["title": "x", "primary": "Go"]]])], "BUTTON_WITHOUT_ACTION", "content.primaryAction"
    ),
    Bad(["content": content(["primaryAction": "https://acme.test"])], "BUTTON_WITHOUT_ACTION", "content.primaryAction"),
    Bad(["content": content(["image": "http://acme.test/a.png"])], "IMAGE_NOT_HTTPS", "content.image"),
    Bad(["content": content(["image": "data:image/png;base64,AA"])], "IMAGE_NOT_HTTPS", "content.image"),
    Bad(["content": content(["image": "https://a:b@acme.test/a.png"])], "IMAGE_NOT_HTTPS", "content.image"),
    Bad(["content": content(["image": "https://acme.test/a.png#x"])], "IMAGE_NOT_HTTPS", "content.image"),
    Bad(["layout": "banner", "content": content(["action": "javascript:alert(1)"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "JavaScript:alert(1)"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "intent://x"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "vbscript:msgbox(1)"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "data:text/html,hi"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "file:///etc/passwd"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "https:///no-host"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "acme.test/x"])], "UNSAFE_ACTION", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "https://acme.test/\u{7}"])], "UNSAFE_ACTION", "content.action"),
    Bad(["content": content(["colors": ["text": "#fff"]])], "BAD_COLOR", "content.colors.text"),
    Bad(["content": content(["colors": ["text": "red"]])], "BAD_COLOR", "content.colors.text"),
    Bad(["content": content(["colors": ["text": "#11223344"]])], "BAD_COLOR", "content.colors.text"),
    Bad(["content": content(["colors": ["text": "#f4f4f4"]])], "LOW_CONTRAST", "content.colors.text"),
    Bad(["content": button(["button": "#ffffff", "primaryText": "#f4f4f4"])], "LOW_CONTRAST", "content.colors.primaryText"),
    Bad(["content": content(["texts": ["en": ["title": "{{amount"]]])], "TEMPLATE", "content.texts.en.title"),
    Bad(["content": content(["texts": ["en": ["title": "{{amount}}"]]])], "TEMPLATE", "content.texts.en.title"),
    Bad(["content": content(["texts": ["en": ["title": "a\u{202E}b"]]])], "BIDI", "content.texts.en.title"),
    Bad(["content": content(["texts": ["en": ["title": "a\u{2066}b"]]])], "BIDI", "content.texts.en.title"),
    Bad(["content": content(["texts": ["en": ["title": "a\u{2069}b"]]])], "BIDI", "content.texts.en.title"),
    Bad(["content": content(["texts": ["en": ["title": "\u{2067}a\u{202C}b"]]])], "BIDI", "content.texts.en.title"),
    Bad(["content": content(["texts": ["en": ["title": "a\u{0}b"]]])], "BAD_TEXT", "content.texts.en.title"),
    Bad(["triggers": []], "OUT_OF_RANGE", "triggers"), Bad(["triggers": [[:]]], "BAD_VALUE", "triggers[0]"),
    Bad(["triggers": [["event": "5level"]]], "BAD_EVENT", "triggers[0].event"),
    Bad(["triggers": [["event": .string(String(repeating: "a", count: 41))]]], "BAD_EVENT", "triggers[0].event"),
    Bad(["triggers": [["event": "firebase_x"]]], "BAD_EVENT", "triggers[0].event"),
    Bad(["triggers": [["event": "doubloon_reward"]]], "BAD_EVENT", "triggers[0].event"),
    Bad(["triggers": [["event": "ga_x"]]], "BAD_EVENT", "triggers[0].event"),
    Bad(["triggers": [["event": "Google_x"]]], "BAD_EVENT", "triggers[0].event"),
    Bad(["triggers": [["server": "Reward"]]], "BAD_EVENT", "triggers[0].server"),
    Bad(["triggers": [["event": "x", "where": ["level": ["=>": 3]]]]], "UNKNOWN_MEMBER", "triggers[0].where.level.=>"),
    Bad(["schedule": ["start": "2023-12-02T00:00", "end": "2023-12-01T00:00"]], "BAD_TIME", "schedule.end"),
    Bad(["schedule": ["start": "2023-02-30T00:00"]], "BAD_TIME", "schedule.start"),
    Bad(["schedule": ["timeZone": "Europe/Nowhere"]], "BAD_TIME", "schedule.timeZone"),
    Bad(["schedule": ["timeZone": "../../etc/passwd"]], "BAD_TIME", "schedule.timeZone"),
    Bad(["variants": [["name": "a", "weight": 50], ["name": "b", "weight": 40]]], "BAD_WEIGHTS", "variants"),
    Bad(["variants": [["name": "a", "weight": 100]]], "OUT_OF_RANGE", "variants"),
    Bad(
      ["variants": [["name": "a", "weight": 50, "control": true], ["name": "b", "weight": 50, "control": true]]],
      "BAD_WEIGHTS", "variants"),
    Bad(["frequency": ["caps": [["count": 0, "days": 7]]]], "OUT_OF_RANGE", "frequency.caps[0].count"),
    Bad(["frequency": ["caps": [["count": 1, "days": 0]]]], "OUT_OF_RANGE", "frequency.caps[0].days"),
    Bad(["frequency": ["lifetime": 10_001]], "OUT_OF_RANGE", "frequency.lifetime"),
    Bad(["data": ["a": 1]], "WRONG_TYPE", "data.a"), Bad(["audience": ["percent": 101]], "OUT_OF_RANGE", "audience.percent"),
    Bad(["audience": ["tree": [["path": "/users/{name}/x", "==": 1]]]], "BAD_VALUE", "audience.tree[0].path"),
  ]

  @Test("a bad document is refused with its place, and nothing is stored", arguments: refused)
  func refusals(_ bad: Bad) async throws {
    try await MessageFixture.run { (game) async throws in
      let document = MessageFixture.document(bad.changes)
      let faults = game.messages.check(document).faults
      #expect(faults.contains { $0.code == bad.code && $0.path == bad.path }, "\(faults)")
      await #expect(throws: MessageError.self) { _ = try await game.messages.create(document, by: MessageFixture.admin) }
      let stored = try game.messages.campaigns()
      #expect(stored.isEmpty)
    }
  }

  static let doubtful: [Bad] = [
    Bad(["layout": "banner", "content": content(["action": "http://acme.test/"])], "ACTION_NOT_HTTPS", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "acme://open"])], "UNKNOWN_SCHEME", "content.action"),
    Bad(["layout": "banner", "content": content(["action": "https://other.test/"])], "FOREIGN_HOST", "content.action"),
    Bad(["content": content(["colors": ["text": "#949494"]])], "LOW_CONTRAST", "content.colors.text"),
    Bad(["content": button(["primaryText": "#707070"])], "LOW_CONTRAST", "content.colors.primaryText"),
    Bad(["content": content(["texts": ["en": ["title": "<b>Hello</b>"]]])], "MARKUP", "content.texts.en.title"),
    Bad(
      ["content": content(["texts": ["en": ["title": .string(String(repeating: "x", count: 51))]]])], "LONG_TEXT",
      "content.texts.en.title"),
    Bad(
      ["content": content(["texts": ["en": ["title": "x", "body": .string(String(repeating: "x", count: 151))]]])],
      "LONG_TEXT", "content.texts.en.body"),
    Bad(["content": button([:], text: "Invite all your friends")], "LONG_TEXT", "content.texts.en.primary"),
    Bad(["audience": ["percent": 0]], "REACHES_NOBODY", "audience.percent"),
    Bad(["audience": ["platforms": []]], "REACHES_NOBODY", "audience.platforms"),
    Bad(["audience": ["player": ["uids": []]]], "REACHES_NOBODY", "audience.player.uids"),
    Bad(["audience": ["tree": [["path": "/season/level", ">=": 5]]]], "REACHES_NOBODY", "audience.tree[0]"),
    Bad(["schedule": ["start": "2024-03-31T02:30", "timeZone": "Europe/Warsaw"]], "CLOCK_CHANGE", "schedule.start"),
    Bad(["schedule": ["start": "2024-10-27T02:30", "timeZone": "Europe/Warsaw"]], "CLOCK_CHANGE", "schedule.start"),
  ]

  @Test("a doubtful document is kept with a warning", arguments: doubtful)
  func warnings(_ bad: Bad) async throws {
    try await MessageFixture.run(linkHosts: ["acme.test"]) { (game) async throws in
      let campaign = try await game.messages.create(MessageFixture.document(bad.changes), by: MessageFixture.admin)
      #expect(campaign.warnings.contains { $0.code == bad.code && $0.path == bad.path }, "\(campaign.warnings)")
      #expect(try game.messages.campaign("hello").warnings == campaign.warnings)
    }
  }

  @Test("a contrast of 4.4 is doubted, with what it is, and one of 4.6 is not; a preview says whether it can be read")
  func contrast() async throws {
    try await MessageFixture.run { (game) async throws in
      let colors: [(String, String?)] = [("#787878", "4.4:1"), ("#777777", "4.4:1"), ("#767676", nil), ("#757575", nil)]
      for (color, ratio) in colors {
        let document = MessageFixture.document(["content": Self.content(["colors": ["text": .string(color)]])])
        let doubts = game.messages.check(document).warnings
        #expect(doubts.map(\.code) == (ratio == nil ? [] : ["LOW_CONTRAST"]), "\(color)")
        if let ratio { #expect(doubts.first?.message.contains("the contrast is \(ratio)") == true, "\(doubts)") }
        let shown = try game.messages.preview(document, request: PreviewRequest()) { _ in true }
        #expect(shown["message"]?["colors"]?["isReadable"] == .bool(ratio == nil), "\(color)")
      }
    }
  }

  @Test("everything that is wrong is said at once")
  func together() async throws {
    try await MessageFixture.run { (game) async throws in
      let faults = game.messages.check(["name": 1, "x": 2, "layout": "card", "priority": 0]).faults
      #expect(Set(faults.map(\.path)).isSuperset(of: ["name", "x", "priority", "content", "triggers"]))
      let long: JSON = .string(String(repeating: "x", count: 2 << 20))
      #expect(game.messages.check(MessageFixture.document(["name": long])).faults.map(\.code) == ["TOO_LARGE"])
      let twice = try JSONParser.parse(#"{"name":"a","name":"b"}"#)
      #expect(game.messages.check(twice).faults.contains { $0.code == "DUPLICATE_MEMBER" })
    }
  }
}
