import ClientRuntime
import Foundation
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// A device against a server of messages that the test plays: what is refused and what waits, streams, pictures, consent, and the
/// end of the app in the middle.
@Suite struct MessageDeviceTests {
  typealias Device = MessagesTests.Device

  private func eventually(_ holds: () -> Bool) async throws { try await MessagesTests().eventually(holds) }

  private func records(_ messages: InAppMessaging) -> MessageRecords { messages.state.withLock { $0.model.records } }

  private func fetches(_ device: Device) -> Int { device.server.asked("eligibleCampaigns:fetch").count }

  /// Shows the card and follows it: two lines go to the server, which answers with the status.
  private func report(to device: Device, _ display: TextDisplay, answered status: Int) async throws -> InAppMessaging {
    device.server.state.withLock { ($0.messages, $0.logStatus, $0.hasStreams) = (MessagesTests.card, status, true) }
    let messages = try device.messages(display)
    messages.triggerEvent("exampleTrigger")
    try await eventually { display.message != nil }
    #expect(display.follow(1))
    try await eventually { device.server.lines.count == 2 }
    return messages
  }

  @Test("a batch that the server refuses is dropped, and not sent again", arguments: [400, 413])
  func dropped(status: Int) async throws {
    let device = Device()
    let display = device.display
    let messages = try await report(to: device, display, answered: status)
    try await eventually { records(messages).lines.isEmpty && device.clock.waits == [86_400] }
    #expect(device.server.lines.count == 2, "nothing waits but the next fetch")
  }

  @Test(
    "a batch that the server cannot take is sent again after an hour, not before, with the same keys",
    arguments: [500, 503, 429])
  func again(status: Int) async throws {
    let device = Device()
    let display = device.display
    let messages = try await report(to: device, display, answered: status)
    try await eventually { device.clock.waits == [3600] }
    #expect(records(messages).lines.count == 2 && device.server.asked("/v1/messages/log").count == 1)
    device.server.state.withLock { $0.logStatus = 200 }
    device.clock.move(3599)
    #expect(device.server.asked("/v1/messages/log").count == 1, "not before")
    try await eventually {
      // A timer that was set once more meanwhile waits for as long as it was told.
      if let wait = device.clock.waits.first, wait <= 3600 { device.clock.move(wait) }
      return records(messages).lines.isEmpty
    }
    let keys = device.server.lines.compactMap { $0["doubloon_key"]?.string }
    #expect(keys.count == 4 && keys.prefix(2) == keys.suffix(2))
  }

  @Test("a server that asks for rest is left alone for as long as it says, and asked then")
  func rest() async throws {
    let device = Device()
    let display = device.display
    device.server.state.withLock { ($0.fetch, $0.hasStreams) = ((429, "7200"), true) }
    let messages = try device.messages(display)
    messages.refresh()
    try await eventually { device.clock.waits == [7200] }
    #expect(fetches(device) == 1)
    messages.triggerEvent("exampleTrigger")
    device.server.state.withLock { $0.fetch = (200, nil) }
    // The event has put another timer in the place of the first one.
    try await eventually { device.clock.waits == [7200] }
    device.clock.move(7199)
    #expect(fetches(device) == 1)
    device.clock.move(1)
    try await eventually { fetches(device) == 2 }
    try await eventually { records(messages).answer != nil }
  }

  @Test("an open app fetches when the server says so on the stream; one that breaks is opened again, and then it fetches, too")
  func stream() async throws {
    let device = Device()
    let display = device.display
    device.server.state.withLock { $0.hasStreams = true }
    let messages = try device.messages(display)
    messages.applicationDidBecomeActive()
    try await eventually { device.server.state.copy.streams.count == 1 }
    #expect(fetches(device) == 1)
    device.server.state.withLock { state in
      state.messages = #"""
        [{"vanillaPayload":{"campaignId":"earned","campaignName":"Earned"},"content":{"modal":{"title":{"text":"You earned 50!"}}},
          "triggeringConditions":[{"fiamTrigger":"ON_FOREGROUND"},{"event":{"name":"doubloon_reward"}}],
          "doubloon":{"eventId":"reward-1","frequency":{"lifetime":9}}}]
        """#
      state.pending = #"[{"id":"reward-1","name":"reward","params":{"amount":50},"at":1}]"#
    }
    device.server.say("keep-alive")
    device.server.say("trigger")
    try await eventually { device.shown.copy == ["Message: You earned 50!"] }
    #expect(fetches(device) == 2, "a sign of life is no reason to fetch")
    device.server.say("refresh")
    try await eventually { fetches(device) == 3 }
    device.server.breakStreams()
    try await eventually { device.clock.waits.contains { $0 <= 1 } }
    device.clock.move(1)
    try await eventually { device.server.state.copy.opened == 2 && fetches(device) == 4 }
    #expect(device.shown.copy.count == 1, "it is shown once")
    // Another app with the same installation listens in its place.
    device.server.say("replaced")
    try await eventually { device.server.state.copy.streams.isEmpty }
    messages.applicationDidEnterBackground()
    messages.applicationDidBecomeActive()
    try await eventually { device.server.state.copy.opened == 3 }
    messages.automaticDataCollectionEnabled = false
    try await eventually { device.server.state.copy.streams.isEmpty }
  }

  @Test("in the background nobody listens")
  func background() async throws {
    let device = Device()
    let display = device.display
    device.server.state.withLock { $0.hasStreams = true }
    let messages = try device.messages(display)
    messages.applicationDidBecomeActive()
    try await eventually { device.server.state.copy.streams.count == 1 }
    messages.applicationDidEnterBackground()
    try await eventually { device.server.state.copy.streams.isEmpty }
    #expect(device.server.state.copy.opened == 1)
  }

  @Test("a picture has ten seconds of the app's clock: then the app hears the error, and the next message shows")
  func latePicture() async throws {
    let device = Device()
    let display = device.display
    let plain = MessageModelTests.modal("plain", triggers: MessageModelTests.event("exampleTrigger"))
    device.server.state.withLock { state in
      state.messages = "\(MessagesTests.card.dropLast()),\(plain)]"
      (state.holdsPictures, state.hasStreams) = (true, true)
    }
    let messages = try device.messages(display)
    messages.triggerEvent("exampleTrigger")
    // The event waits for ten seconds, too: it is over with the answer, whose next fetch is a day later.
    try await eventually { device.server.asked("/p.png").count == 1 && device.clock.waits == [10, 86_400] }
    device.clock.move(9.9)
    #expect(device.delegate.heard.copy.isEmpty && display.message == nil)
    device.clock.move(0.2)
    try await eventually { device.shown.copy == ["Message: Hi"] }
    #expect(device.delegate.heard.copy == ["error imageNotLoaded"])
    try await eventually { device.server.lines.contains { $0["render_error_reason"] == "IMAGE_FETCH_ERROR" } }
  }

  @Test("what was on the screen when the app was killed is counted once, and shows no second time")
  func killed() async throws {
    let device = Device()
    let (display, later) = (device.display, device.display)
    let once = #"{"frequency":{"lifetime":1}}"#
    let campaigns = [("a", "first"), ("b", "second")].map { id, event in
      MessageModelTests.modal(id, triggers: MessageModelTests.event(event), own: once)
    }
    device.server.state.withLock { $0.messages = "[\(campaigns.joined(separator: ","))]" }
    let killed = try device.messages(display)
    killed.triggerEvent("first")
    try await eventually { display.message != nil }
    // Nothing was sent, and nothing more happens in that process.
    #expect(device.server.lines.isEmpty)
    let next = try device.messages(later)
    next.refresh()
    next.triggerEvent("first")
    try await eventually { fetches(device) == 2 }
    next.triggerEvent("second")
    try await eventually { later.message != nil }
    #expect(later.message?.campaignInfo.messageID == "b", "the server did not know of the first display, but the device did")
    next.applicationDidEnterBackground()
    try await eventually { !device.server.lines.isEmpty }
    let counted = device.server.lines.map { "\($0["campaign_id"]?.string ?? "") \($0["event_type"]?.string ?? "")" }
    #expect(counted == ["a IMPRESSION_EVENT_TYPE"])
  }

  @Test("the property list can say no; what the player decides counts for more, and outlives the app")
  func propertyList() async throws {
    let device = Device()
    let display = device.display
    let plist = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict>
      <key>DATABASE_URL</key><string>http://127.0.0.1:9</string><key>API_KEY</key><string>k</string>
      <key>FirebaseInAppMessagingAutomaticDataCollectionEnabled</key><false/>
      </dict></plist>
      """
    try device.folder.write(plist, to: "GoogleService-Info.plist")
    func start() throws -> InAppMessaging {
      try device.messages(display, ConfigurationFile.read(device.folder.file("GoogleService-Info.plist")))
    }
    let first = try start()
    #expect(!first.automaticDataCollectionEnabled)
    first.applicationDidBecomeActive()
    first.triggerEvent("exampleTrigger")
    first.refresh()
    device.clock.move(600)
    first.applicationDidEnterBackground()
    #expect(device.server.state.copy.asked.isEmpty && device.clock.waits.isEmpty, "ten minutes, and not one request")
    first.automaticDataCollectionEnabled = true
    let second = try start()
    #expect(second.automaticDataCollectionEnabled)
    second.applicationDidBecomeActive()
    try await eventually { fetches(device) == 1 }
  }

  @Test("the game gets what the studio wrote beside a message as it was written, and nothing where nothing was")
  func appData() async throws {
    let bundles: [(String, [String: String]?)] = [
      (#","dataBundle":{"promo":"X50","empty":""}"#, ["promo": "X50", "empty": ""]), ("", nil),
    ]
    for (bundle, data) in bundles {
      let device = Device()
      let display = device.display
      let card = MessagesTests.card.replacing(#","dataBundle":{"promo":"X50"}"#, with: bundle)
      device.server.state.withLock { $0.messages = card }
      let messages = try device.messages(display)
      messages.triggerEvent("exampleTrigger")
      try await eventually { display.message != nil }
      #expect(display.message?.appData == data)
    }
  }
}
