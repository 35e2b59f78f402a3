import ClientRuntime
import Foundation
import Testing
import TreeModel

@testable import Doubloon

/// What is shown, when, and what is counted: the model alone, with a clock of the test's.
@Suite struct MessageModelTests {
  static let day: Int64 = 86_400_000
  static let start: Int64 = 1_800_000_000_000

  /// A device: the model, the time, and what was to be done.
  struct Device {
    var model: MessageModel
    var now = MessageModel.Now(wall: MessageModelTests.start, uptime: 5000)
    var effects: [MessageModel.Effect] = []

    init(_ records: MessageRecords = MessageRecords(), configured: Bool? = nil) {
      model = MessageModel(records, configured: configured)
      model.hasComponent = true
    }

    mutating func run(_ change: (inout MessageModel, MessageModel.Now) -> [MessageModel.Effect]) {
      effects = change(&model, now)
    }
    /// Time passes in steps, as timers wake.
    mutating func pass(_ milliseconds: Int64) {
      var left = milliseconds
      var all: [MessageModel.Effect] = []
      while left > 0 {
        let step = min(max(model.wakes(after: now) ?? left, 1), left)
        now.wall += step
        now.uptime += step
        left -= step
        all += model.tick(now)
      }
      effects = all
    }
    mutating func fetch(_ messages: [String], events: String = "[]", settings: String = #""minInterval":0"#) {
      let text =
        #"{"messages":[\#(messages.joined(separator: ","))],"expirationEpochTimestampMillis":"\#(now.wall + 3_600_000)","#
        + #""doubloon":{"pendingEvents":\#(events),"settings":{\#(settings)}}}"#
      let asked = Set(model.records.displays.keys)
      run { $0.fetched(text, asked: asked, now: $1) }
    }
    /// Opened, with these campaigns.
    mutating func open(_ messages: [String], events: String = "[]") {
      run { $0.foreground($1) }
      fetch(messages, events: events)
    }
    var shown: String? { model.showing?.display.campaign.id }
    var number: Int { model.showing?.display.number ?? 0 }
    /// Types of what waits for the server, without the app's own events.
    var counted: [String] {
      model.records.lines.filter { !$0.isConversion }.compactMap { line in
        let json = try? JSONParser.parse(line.members)
        let more = json?["dismiss_type"]?.string.map { "DISMISS_\($0)" } ?? json?["render_error_reason"]?.string
        return json?["event_type"]?.string?.replacing("_EVENT_TYPE", with: "") ?? more
      }
    }
  }

  /// A modal of the wire.
  static func modal(
    _ id: String, triggers: String = #"{"fiamTrigger":"ON_FOREGROUND"}"#, own: String = "null", layout: String = "modal",
    more: String = "", end: Int64 = .max
  ) -> String {
    #"""
    {"vanillaPayload":{"campaignId":"\#(id)","campaignName":"Name of \#(id)","campaignStartTimeMillis":"0",
     "campaignEndTimeMillis":"\#(end)"},"content":{"\#(layout)":{"title":{"text":"Hi","hexColor":"#112233"}\#(more)}},
     "priority":{"value":1},"triggeringConditions":[\#(triggers)],"doubloon":\#(own)}
    """#
  }
  static func event(_ name: String) -> String { #"{"event":{"name":"\#(name)"}}"# }

  @Test("an impression is counted after three seconds of being seen, not at 2.9, and not for time in the background")
  func impression() {
    var device = Device()
    device.open([Self.modal("a")])
    #expect(device.shown == "a")
    device.pass(2000)
    device.run { $0.background($1) }
    device.pass(60_000)
    device.run { $0.foreground($1) }
    device.pass(900)
    #expect(!device.effects.contains { if case .detected = $0 { true } else { false } })
    device.pass(100)
    #expect(device.effects.contains { if case .detected = $0 { true } else { false } })
    let number = device.number
    device.run { $0.count(number, now: $1) }
    device.run { $0.count(number, now: $1) }
    #expect(device.counted == ["IMPRESSION"])
    #expect(device.model.records.displays["a"]?.count == 1)
  }

  @Test(
    "numbers that no server means are bounded: they stop neither the app nor its next start",
    arguments: [Int64.min, -1, 0, .max])
  func strangeNumbers(number: Int64) throws {
    var device = Device()
    let caps = #"{"frequency":{"lifetime":9,"caps":[{"count":9,"days":\#(number)}]}}"#
    device.open([Self.modal("a", own: caps)])
    #expect(device.shown == "a")
    let shown = device.number
    device.run { $0.dismissed(shown, as: .typeUserTapClose, now: $1) }
    let text = #"{"messages":[],"expirationEpochTimestampMillis":"\#(number)"}"#
    device.run { $0.fetched(text, asked: [], now: $1) }
    #expect((1...Self.day).contains(device.model.records.nextFetch - device.now.wall))
    device.pass(2 * Self.day)
    device.run { $0.foreground($1) }
    device.fetch([Self.modal("a", own: caps)])
    #expect(device.shown == "a", "shown once, of nine times")
    #expect(Device(device.model.records).model.campaigns.count == 1)
    let refused = HTTPResponse(status: 503, headers: [("Retry-After", "\(number)")], body: [])
    let wait = try #require(MessageWire.Reply(response: refused).retryAfter)
    #expect((0...Self.day).contains(wait))
  }

  @Test("a dismissal before that counts the impression, too; a click without a URL counts no click")
  func dismissal() {
    var device = Device()
    device.open([Self.modal("a", triggers: Self.event("x")), Self.modal("b", triggers: Self.event("y"))])
    device.run { $0.event("x", parameters: [:], now: $1) }
    var number = device.number
    device.run { $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    #expect(device.counted == ["IMPRESSION", "DISMISS_CLICK"])
    device.run { $0.event("y", parameters: [:], now: $1) }
    number = device.number
    device.run { $0.clicked(number, by: InAppMessagingAction(actionText: "Go", actionURL: nil), now: $1) }
    #expect(device.counted == ["IMPRESSION", "DISMISS_CLICK", "IMPRESSION"])
    #expect(device.shown == nil)
  }

  @Test("a click with a URL counts it, and leads there")
  func click() throws {
    var device = Device()
    device.open([Self.modal("a")])
    let (number, url) = (device.number, try webURL("https://acme.test/invite"))
    device.run { $0.clicked(number, by: InAppMessagingAction(actionText: "Go", actionURL: url, role: .secondary), now: $1) }
    #expect(device.effects.contains(.open(url)))
    #expect(device.counted == ["IMPRESSION", "CLICK"])
    let last = try JSONParser.parse(try #require(device.model.records.lines.last).members)
    #expect(last["action"]?.string == "secondary" && last["action_url"]?.string == url.absoluteString)
    device.run { $0.clicked(number, by: InAppMessagingAction(actionText: "Go", actionURL: url), now: $1) }
    #expect(device.counted.count == 2)
  }

  @Test("a display that the app's end interrupted is counted at the next start, and shows no second time")
  func kill() {
    var device = Device()
    device.open([Self.modal("a")])
    #expect(device.shown == "a")
    var next = Device(device.model.records)
    next.now = device.now
    #expect(next.counted == ["IMPRESSION"])
    next.run { $0.foreground($1) }
    #expect(next.shown == nil)
    next.fetch([Self.modal("a", triggers: Self.event("x"), own: #"{"frequency":{"lifetime":1}}"#)])
    next.run { $0.event("x", parameters: [:], now: $1) }
    #expect(next.shown == nil)
  }

  @Test(
    "caps hold by this device's own marks",
    arguments: [
      (#"{"lifetime":1}"#, 8, false), (#"{"lifetime":2}"#, 0, true), (#"{"caps":[{"count":1,"days":7}]}"#, 6, false),
      (#"{"caps":[{"count":1,"days":7}]}"#, 8, true), (#"{"caps":[{"count":2,"days":7}]}"#, 1, true),
    ])
  func caps(frequency: String, days: Int64, shows: Bool) {
    var device = Device()
    device.model.records.displays["a"] = [Self.start - days * Self.day]
    device.open([Self.modal("a", own: #"{"frequency":\#(frequency)}"#)])
    #expect((device.shown != nil) == shows)
  }

  @Test("a mark is erased when the server sends the campaign again although it was named as seen")
  func resent() {
    var device = Device()
    device.model.records.displays["a"] = [Self.start - 1]
    device.open([Self.modal("a")])
    #expect(device.shown == "a")
  }

  @Test("the foreground shows one message a day; events show as many as there are")
  func intervals() {
    var device = Device()
    let more = (1...5).map { Self.modal("e\($0)", triggers: Self.event("e\($0)")) }
    device.open([Self.modal("a"), Self.modal("b")] + more)
    device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    device.run { $0.foreground($1) }
    #expect(device.shown == nil)
    for index in 1...5 {
      device.run { $0.event("e\(index)", parameters: [:], now: $1) }
      #expect(device.shown == "e\(index)")
      device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    }
    device.pass(Self.day)
    device.run { $0.foreground($1) }
    device.fetch([Self.modal("b")])
    #expect(device.shown == "b")
  }

  @Test("a second trigger during a display is lost; an event of the server's waits for its end")
  func busy() {
    var device = Device()
    let reward = #"{"eventId":"r1","direction":"ltr"}"#
    let both = #"{"fiamTrigger":"ON_FOREGROUND"},{"event":{"name":"doubloon_reward"}}"#
    device.open(
      [
        Self.modal("a", triggers: Self.event("x")), Self.modal("b", triggers: Self.event("x")),
        Self.modal("r", triggers: both, own: reward),
      ]
    )
    device.run { $0.event("x", parameters: [:], now: $1) }
    device.run { $0.event("x", parameters: [:], now: $1) }
    #expect(device.shown == "a")
    device.fetch(
      [Self.modal("b", triggers: Self.event("x")), Self.modal("r", triggers: both, own: reward)],
      events: #"[{"id":"r1","name":"reward","params":{"amount":50},"at":1}]"#)
    #expect(device.shown == "a")
    device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    device.run { $0.tick($1) }
    #expect(device.shown == "r")
    device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    #expect(device.model.records.shownEvents == ["r1"])
    device.fetch(
      [Self.modal("r2", triggers: both, own: reward)], events: #"[{"id":"r1","name":"reward","params":{},"at":1}]"#)
    #expect(device.shown == nil, "an event is shown once")
  }

  @Test("half a minute lies between two messages, and a server's event is shown then")
  func apart() {
    var device = Device()
    device.run { $0.foreground($1) }
    let both = #"{"fiamTrigger":"ON_FOREGROUND"},{"event":{"name":"doubloon_reward"}}"#
    device.fetch(
      [Self.modal("r", triggers: both, own: #"{"eventId":"r1"}"#), Self.modal("s", triggers: both, own: #"{"eventId":"r2"}"#)],
      events: #"[{"id":"r1","name":"reward","params":{}},{"id":"r2","name":"reward","params":{}}]"#, settings: "")
    #expect(device.shown == "r")
    device.run { [number = device.number] in $0.dismissed(number, as: .typeUserTapClose, now: $1) }
    device.pass(29_000)
    #expect(device.shown == nil)
    device.pass(1000)
    #expect(device.shown == "s")
  }

  @Test("suppressed: an event's trigger is lost, a server's event waits, and what was being loaded counts for nothing")
  func suppressed() {
    var device = Device()
    let image = #","imageUrl":"https://cdn.acme.test/p.png""#
    device.open([Self.modal("a", triggers: Self.event("x"), more: image), Self.modal("b", triggers: Self.event("y"))])
    device.run { $0.event("x", parameters: [:], now: $1) }
    device.model.isSuppressed = true
    device.run { [number = device.number] in $0.loaded(number, failure: nil, now: $1) }
    #expect(device.shown == nil)
    #expect(device.model.records.lastDisplay == nil && device.model.records.displays.isEmpty)
    device.run { $0.event("y", parameters: [:], now: $1) }
    device.model.isSuppressed = false
    device.run { $0.tick($1) }
    #expect(device.shown == nil)
    #expect(device.counted == ["SUPPRESSED", "SUPPRESSED"])
    device.run { $0.event("y", parameters: [:], now: $1) }
    #expect(device.shown == "b")
  }

  @Test("a picture that does not come takes its campaign out, and the next one shows")
  func pictureFails() {
    var device = Device()
    device.open([
      Self.modal("a", triggers: Self.event("x"), more: #","imageUrl":"https://cdn.acme.test/p.png""#),
      Self.modal("b", triggers: Self.event("x")),
    ])
    device.run { $0.event("x", parameters: [:], now: $1) }
    #expect(device.effects.contains { if case .load = $0 { true } else { false } })
    let number = device.number
    device.run { $0.loaded(number, failure: .imageDataInvalid, now: $1) }
    #expect(device.effects.contains { if case .failed = $0 { true } else { false } })
    device.run { $0.failed(number, with: .imageDataInvalid, now: $1) }
    #expect(device.shown == "b")
    #expect(device.counted == ["IMAGE_UNSUPPORTED_FORMAT"])
  }

  @Test("a banner goes at twelve seconds of being seen, not at 11.9; time in the background does not count")
  func plainBanner() {
    var device = Device()
    device.open([Self.modal("a", layout: "banner")])
    device.pass(6000)
    device.run { $0.background($1) }
    device.pass(60_000)
    device.run { $0.foreground($1) }
    device.pass(5900)
    #expect(!device.effects.contains { if case .close = $0 { true } else { false } })
    device.pass(100)
    #expect(device.effects.contains { if case .close(_, .typeAuto) = $0 { true } else { false } })
    device.run { [number = device.number] in $0.dismissed(number, as: .typeAuto, now: $1) }
    #expect(device.counted == ["IMPRESSION", "DISMISS_AUTO"])
  }

  @Test("a banner goes after twelve seconds of being seen, but not while a screen reader runs")
  func banner() {
    var device = Device()
    device.open([Self.modal("a", layout: "banner")])
    #expect(device.model.showing?.display.campaign.presentation.dismissAfter == 12)
    device.model.screenReaderRuns = true
    device.pass(30_000)
    #expect(!device.effects.contains { if case .close = $0 { true } else { false } })
    device.model.screenReaderRuns = false
    device.pass(1)
    #expect(device.effects.contains { if case .close(_, .typeAuto) = $0 { true } else { false } })
  }
}
