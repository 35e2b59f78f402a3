import Foundation
import Testing
import TreeModel

@testable import Doubloon

/// Consent, fetches, events of the app, tests: the model alone.
@Suite struct MessageConsentTests {
  typealias Device = MessageModelTests.Device
  static func modal(
    _ id: String, _ triggers: String, _ own: String = "null", _ layout: String = "modal", _ more: String = "",
    _ end: Int64 = .max
  ) -> String {
    MessageModelTests.modal(id, triggers: triggers, own: own, layout: layout, more: more, end: end)
  }
  static let installation = MessageRecords.Installation(id: "f", refreshToken: "r", token: "t", tokenEnds: .max)

  static func fetches(_ effects: [MessageModel.Effect]) -> Int { effects.count { $0 == .fetch } }

  @Test(
    "the decision counts for more than the configuration, and without both it is yes",
    arguments: [
      (Bool?.none, Bool?.none, true), (nil, false, false), (nil, true, true), (true, false, true), (false, true, false),
    ])
  func order(decided: Bool?, configured: Bool?, isOn: Bool) {
    var records = MessageRecords()
    records.automaticDataCollectionEnabled = decided
    var device = Device(records, configured: configured)
    #expect(device.model.isOn == isOn)
    device.run { $0.foreground($1) }
    device.effects += device.model.logEvent("level_5", parameters: [:], now: device.now)
    #expect((Self.fetches(device.effects) > 0) == isOn)
    #expect(device.model.records.lines.isEmpty != isOn)
    if !isOn { #expect(device.model.wakes(after: device.now) == nil && !device.model.wantsStream) }
  }

  @Test("taking it back erases the installation and all that waits; giving it again begins at the next foreground")
  func takenBack() {
    var device = Device()
    device.open([Self.modal("a", #"{"fiamTrigger":"ON_FOREGROUND"}"#)])
    device.model.records.installation = Self.installation
    let display = device.model.showing?.display
    device.run { model, _ in model.setOn(false) }
    #expect(device.effects.contains(.erase(Self.installation)))
    #expect(display.map { device.effects.contains(.close($0, .unspecified)) } == true)
    var rest = MessageRecords()
    (rest.automaticDataCollectionEnabled, rest.hasOpened) = (false, true)
    #expect(device.model.records == rest)
    device.pass(MessageModelTests.day)
    #expect(device.effects.isEmpty)
    device.run { model, _ in model.setOn(true) }
    #expect(device.effects == [.save])
    device.pass(1000)
    #expect(device.effects.isEmpty)
    device.run { $0.foreground($1) }
    #expect(Self.fetches(device.effects) == 1)
  }

  @Test(
    "the server says when the next fetch is due; without its word it is a day, after failures minutes, and longer each time")
  func waits() {
    var device = Device()
    device.open([])
    device.pass(3_599_000)
    #expect(Self.fetches(device.effects) == 0)
    device.pass(1000)
    #expect(Self.fetches(device.effects) == 1)
    for minutes in [1, 2, 4, 8, 16, 16] as [Int64] {
      device.run { $0.fetchFailed(retryAfter: nil, now: $1) }
      device.pass(minutes * 60_000 - 1)
      #expect(Self.fetches(device.effects) == 0, "\(minutes)")
      device.pass(1)
      #expect(Self.fetches(device.effects) == 1, "\(minutes)")
    }
    device.run { $0.fetchFailed(retryAfter: 7_200_000, now: $1) }
    device.pass(7_199_999)
    #expect(Self.fetches(device.effects) == 0)
    device.pass(1)
    device.run { $0.fetched(#"{"messages":[],"expirationEpochTimestampMillis":"7"}"#, asked: [], now: $1) }
    #expect(device.model.records.nextFetch == device.now.wall + MessageModel.fetchInterval)
  }

  @Test("a refresh during a fetch is another fetch after it")
  func refresh() {
    var device = Device()
    device.run { $0.foreground($1) }
    device.run { model, _ in model.refresh() }
    #expect(Self.fetches(device.effects) == 0)
    device.fetch([])
    #expect(Self.fetches(device.effects) == 1)
  }

  @Test("an event before the first answer waits for it, ten seconds at most")
  func early() {
    var device = Device()
    let campaign = Self.modal("a", MessageModelTests.event("x"))
    device.run { $0.event("x", parameters: [:], now: $1) }
    #expect(Self.fetches(device.effects) == 1)
    device.pass(9000)
    device.fetch([campaign])
    #expect(device.shown == "a")
    var late = Device()
    late.run { $0.event("x", parameters: [:], now: $1) }
    late.pass(10_000)
    late.fetch([campaign])
    #expect(late.shown == nil)
  }

  @Test(
    "parameters decide, by the operators of the campaign; what is unknown never holds",
    arguments: [
      (#"{"level":5}"#, true), (#"{"level":6}"#, false), (#"{"level":{">=":5}}"#, true), (#"{"level":{">":5}}"#, false),
      (#"{"level":{">=":5,"<":6}}"#, true), (#"{"who":{"in":["jim","ann"]}}"#, true), (#"{"who":{"in":["ann"]}}"#, false),
      (#"{"who":{"exists":true}}"#, true), (#"{"none":{"exists":false}}"#, true), (#"{"none":{"exists":true}}"#, false),
      (#"{"none":1}"#, false), (#"{"who":{"!=":"ann"}}"#, true), (#"{"none":{"!=":"ann"}}"#, false),
      (#"{"who":{">":5}}"#, false), (#"{"level":{"~":5}}"#, false), (#"{"level":{}}"#, false), ("null", true), ("7", false),
    ])
  func conditions(asked: String, holds: Bool) throws {
    var device = Device()
    device.open([Self.modal("a", MessageModelTests.event("dug"), #"{"where":[\#(asked)]}"#)])
    device.run { $0.event("dug", parameters: ["level": .int(5), "who": .string("jim")], now: $1) }
    #expect((device.shown != nil) == holds)
  }

  @Test("a test is shown once, before all others, without caps; its dismissal is not counted")
  func test() throws {
    var device = Device()
    let test = #"""
      {"vanillaPayload":{"campaignId":"t"},"content":{"modal":{"title":{"text":"Hi"}}},"isTestCampaign":true}
      """#
    device.model.records.lastDisplay = device.now.wall
    device.open([Self.modal("a", #"{"fiamTrigger":"ON_FOREGROUND"}"#), test])
    #expect(device.shown == "t")
    device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    #expect(device.counted == ["TEST_MESSAGE_IMPRESSION"])
    #expect(device.model.records.displays.isEmpty)
    device.fetch([test])
    #expect(device.shown == nil, "the server may not have heard of it yet")
    device.run { [keys = Set(device.model.records.lines.map(\.key))] in $0.uploaded(keys, wait: nil, now: $1) }
    device.fetch([test])
    #expect(device.shown == "t", "another order of the test")
  }

  @Test("a control is counted when its trigger comes, and shows nothing")
  func control() {
    var device = Device()
    let control = #"""
      {"experimentalPayload":{"campaignId":"c","campaignName":"C","experimentPayload":{"variantId":"b"}},
       "triggeringConditions":[{"event":{"name":"x"}}],"doubloon":{"control":true,"variant":"b"}}
      """#
    device.open([control])
    for _ in 1...2 { device.run { $0.event("x", parameters: [:], now: $1) } }
    #expect(device.shown == nil)
    #expect(device.counted == ["CONTROL"])
    #expect(device.model.records.lines.last?.members.contains(#""variant":"b""#) == true)
  }

  @Test(
    "what cannot be shown is left out, and the rest works",
    arguments: [
      #"{}"#, #"{"vanillaPayload":{"campaignId":"x","campaignName":"X"}}"#,
      MessageConsentTests.modal("x", ""), MessageConsentTests.modal("x", MessageModelTests.event("e"), "null", "hologram"),
      MessageConsentTests.modal("x", MessageModelTests.event("e"), "null", "card"),
      MessageConsentTests.modal(
        "x", MessageModelTests.event("e"), "null", "imageOnly", #","imageUrl":"http://cdn.acme.test/p.png""#),
      #"7"#, #"{"vanillaPayload":7,"content":[]}"#,
    ])
  func leftOut(message: String) {
    var device = Device()
    device.open([message, Self.modal("a", MessageModelTests.event("e"))])
    #expect(device.model.campaigns.map(\.id) == ["a"])
  }

  @Test("the first start and each session are events of their own; a short absence is no new session")
  func sessions() {
    var device = Device()
    func names() -> [String] {
      device.model.records.lines.filter(\.isConversion).compactMap { (try? JSONParser.parse($0.members))?["name"]?.string }
    }
    device.open([])
    #expect(names() == ["first_open", "session_start"])
    device.run { $0.background($1) }
    device.pass(60_000)
    device.run { $0.foreground($1) }
    #expect(names().count == 2)
    device.run { $0.background($1) }
    device.pass(1_800_000)
    device.run { $0.foreground($1) }
    #expect(names() == ["first_open", "session_start", "session_start"])
    #expect(Device(device.model.records).model.records.hasOpened == true)
  }

  @Test("the first start, and each session, show the campaigns that wait for them", arguments: ["first_open", "session_start"])
  func opening(name: String) {
    var device = Device()
    device.open([Self.modal("a", MessageModelTests.event(name), #"{"frequency":{"lifetime":9}}"#)])
    #expect(device.shown == "a")
    device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    var second = Device(device.model.records)
    second.now.wall = device.now.wall + MessageModelTests.day
    second.open([Self.modal("a", MessageModelTests.event(name), #"{"frequency":{"lifetime":9}}"#)])
    #expect((second.shown == "a") == (name == "session_start"), "the app was opened before")
  }

  @Test("what waits for the server goes at once for an event of the server's, else five minutes apart; too much goes overboard")
  func uploads() {
    var device = Device()
    device.open([])
    device.pass(1)
    #expect(device.effects.contains(.upload))
    device.run { [keys = Set(device.model.records.lines.map(\.key))] in $0.uploaded(keys, wait: 1, now: $1) }
    device.run { $0.logEvent("a", parameters: [:], now: $1) }
    device.pass(299_999)
    #expect(!device.effects.contains(.upload))
    device.pass(1)
    #expect(device.effects.contains(.upload))
    for index in 0..<1100 { device.run { $0.logEvent("e\(index)", parameters: [:], now: $1) } }
    #expect(device.model.records.lines.count == MessageRecords.linesMax)
    #expect(Set(device.model.records.lines.map(\.key)).count == MessageRecords.linesMax)
  }

  @Test("a message ends when its time is over, by the server's clock")
  func end() {
    var device = Device()
    device.open([Self.modal("a", MessageModelTests.event("x"), "null", "modal", "", MessageModelTests.start + 1000)])
    device.pass(1001)
    device.run { $0.event("x", parameters: [:], now: $1) }
    #expect(device.shown == nil)
  }
}
