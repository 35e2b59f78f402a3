import ClientRuntime
import Foundation
import TestSupport
import Testing
import TreeModel

@testable import Doubloon

/// The library against a server of messages that the test plays.
@Suite struct MessagesTests {
  /// A server of messages: what it was asked, and what it answers.
  final class MessageServer: HTTPTransport {
    struct State {
      var asked: [(target: String, body: JSON)] = []
      var messages = "[]"
      /// What waits for the player.
      var pending = "[]"
      var fetch: (status: Int, retryAfter: String?) = (200, nil)
      var logStatus = 200
      var picture = (status: 200, type: "image/png")
      /// Whether pictures never come.
      var holdsPictures = false
      var hasStreams = false
      /// Streams that were opened so far, and those that are open.
      var opened = 0
      var streams: [Int: AsyncThrowingStream<StreamEvent, any Error>.Continuation] = [:]
    }
    let state = Locked(State())

    /// Waits until its task is cancelled.
    private func never() async throws {
      let (nothing, source) = AsyncStream.makeStream(of: Void.self)
      for await _ in nothing {}
      source.finish()
      throw CancellationError()
    }
    /// Says something on every stream.
    func say(_ name: String) {
      for stream in state.copy.streams.values { stream.yield(StreamEvent(name: name, data: "null")) }
    }
    /// The network breaks.
    func breakStreams() {
      for stream in state.copy.streams.values { stream.finish(throwing: TransportError(.disconnected, "The line is cut.")) }
    }

    func asked(_ part: String) -> [JSON] { state.copy.asked.filter { $0.target.contains(part) }.map(\.body) }
    /// What the log holds, in the order of its arrival.
    var lines: [JSON] {
      asked("/v1/messages/log").flatMap { $0["log_event"]?.array ?? [] }
        .compactMap { $0["source_extension_json"]?.string.flatMap { try? JSONParser.parse($0) } }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
      let state = state.withLock { state in
        state.asked.append(("\(request.method) \(request.target)", request.body.flatMap { try? JSONParser.parse($0) } ?? .null))
        return state
      }
      let target = request.target
      if target.hasPrefix("/p.png") {
        if state.holdsPictures { try await never() }
        return HTTPResponse(status: state.picture.status, headers: [("Content-Type", state.picture.type)], body: [1])
      }
      var (status, body) = (200, "{}")
      if target.contains("/installations?") {
        body = #"{"fid":"cRk2aaaaaaaaaaaaaaaaaa","refreshToken":"r1","authToken":{"token":"t1","expiresIn":"604800s"}}"#
      } else if target.contains("eligibleCampaigns:fetch") {
        if state.fetch.status != 200 {
          let headers = state.fetch.retryAfter.map { [("Retry-After", $0)] } ?? []
          return HTTPResponse(status: state.fetch.status, headers: headers, body: Array("{}".utf8))
        }
        body = #"{"messages":\#(state.messages),"doubloon":{"pendingEvents":\#(state.pending),"settings":{"minInterval":0}}}"#
      } else if target.contains("/log") {
        (status, body) = (state.logStatus, #"{"next_request_wait_millis":"300000"}"#)
      }
      return HTTPResponse(status: status, headers: [], body: Array(body.utf8))
    }

    func events(_ request: HTTPRequest) async throws -> AsyncThrowingStream<StreamEvent, any Error> {
      let (stream, continuation) = AsyncThrowingStream.makeStream(of: StreamEvent.self)
      let number = state.withLock { state -> Int? in
        guard state.hasStreams else { return nil }
        state.opened += 1
        state.streams[state.opened] = continuation
        return state.opened
      }
      guard let number else { throw TransportError(.refused(status: 503), "There are no streams here.") }
      continuation.onTermination = { [self] _ in state.withLock { $0.streams[number] = nil } }
      return stream
    }
  }

  /// The class of Firebase's guide, with notes.
  final class CardActionFiamDelegate: NSObject, InAppMessagingDisplayDelegate {
    let heard = Locked<[String]>([])
    /// What the model had counted when the app heard of it.
    let counted = Locked<[Int]>([])
    let displays = Locked<(@Sendable () -> Int)?>(nil)

    private func note(_ text: String) {
      heard.withLock { $0.append(text) }
      if let displays = displays.copy { counted.withLock { $0.append(displays()) } }
    }
    func messageClicked(_ inAppMessage: InAppMessagingDisplayMessage) {
      let appData = inAppMessage.appData
      note("clicked \(appData?["promo"] ?? "nothing")")
    }
    func messageDismissed(_ inAppMessage: InAppMessagingDisplayMessage, dismissType: InAppMessagingDismissType) {
      note("dismissed \(dismissType)")
    }
    func impressionDetected(for inAppMessage: InAppMessagingDisplayMessage) { note("seen") }
    func displayError(for inAppMessage: InAppMessagingDisplayMessage, error: any Error) { note("error \(error)") }
  }

  /// A device with the game on it.
  struct Device {
    let server = MessageServer()
    let clock = StandingClock()
    let folder = TemporaryFolder()
    let delegate = CardActionFiamDelegate()
    let shown = Locked<[String]>([])

    /// The game as its next start finds it.
    func messages(_ display: TextDisplay, _ given: FirebaseOptions? = nil) throws -> InAppMessaging {
      let options = try given ?? FirebaseOptions(server: webURL("http://127.0.0.1:9"), apiKey: "k")
      options.storageFolder = folder.path
      options.clock = clock
      options.callbackQueue = DispatchQueue(label: "callbacks")
      options.logHandler = { _ in }
      let app = DoubloonApp(name: "game", options: options, runtime: AppRuntime(options, http: server))
      let messages = app.messages
      messages.delegate = delegate
      messages.messageDisplayComponent = display
      let state = messages.state
      delegate.displays.withLock { $0 = { state.withLock { $0.model.records.displays.values.joined().count } } }
      return messages
    }
    var display: TextDisplay { TextDisplay { [shown] line in shown.withLock { $0.append(line) } } }
  }

  static let card = #"""
    [{"vanillaPayload":{"campaignId":"c2","campaignName":"Give 50","campaignStartTimeMillis":"0","campaignEndTimeMillis":"9223372036854775807"},
     "content":{"card":{"title":{"text":"Give 50, get 50\u0007\u202e","hexColor":"#112233"},"body":{"text":"Invite\na friend"},
      "portraitImageUrl":"http://127.0.0.1:9/p.png","backgroundHexColor":"#ffffff",
      "primaryActionButton":{"text":{"text":"Invite","hexColor":"#ffffff"},"buttonHexColor":"#000000"},"primaryAction":{"actionUrl":"https://acme.test/invite"},
      "secondaryActionButton":{"text":{"text":"Later"}},"secondaryAction":{"actionUrl":"https://acme.test/later"}}},
     "triggeringConditions":[{"event":{"name":"exampleTrigger"}}],"dataBundle":{"promo":"X50"}}]
    """#

  /// What happens on other threads, and is waited for.
  func eventually(_ holds: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if holds() { return }
      await Task.yield()
    }
    try #require(holds())
  }

  @Test("a card shows at its event; the app hears of a click before it is counted; the second URL is the one that is told")
  func card() async throws {
    let device = Device()
    let display = device.display
    device.server.state.withLock { $0.messages = Self.card }
    let messages = try device.messages(display)
    let opened = Locked<[String]>([])
    messages.onOpenURL = { url in opened.withLock { $0.append(url.absoluteString) } }
    messages.triggerEvent("exampleTrigger")
    try await eventually { device.shown.copy.count == 5 }
    #expect(device.shown.copy == ["Message: Give 50, get 50", "  Invite", "  a friend", "  1. Invite", "  2. Later"])
    #expect(!display.follow(2))
    #expect(display.follow(1))
    try await eventually { !opened.copy.isEmpty }
    #expect(opened.copy == ["https://acme.test/later"])
    #expect(device.delegate.heard.copy == ["clicked X50"])
    #expect(device.delegate.counted.copy == [0])
    messages.applicationDidEnterBackground()
    try await eventually { device.server.lines.count == 2 }
    let lines = device.server.lines
    #expect(lines.map { $0["event_type"]?.string } == ["IMPRESSION_EVENT_TYPE", "CLICK_EVENT_TYPE"])
    #expect(lines[1]["action_url"]?.string == "https://acme.test/later" && lines[1]["action"]?.string == "secondary")
    #expect(lines[0]["client_app"]?["firebase_instance_id"]?.string == "cRk2aaaaaaaaaaaaaaaaaa")
    #expect(Set(lines.compactMap { $0["doubloon_key"]?.string }).count == 2)
  }

  @Test("three seconds are an impression, which the app hears before it is counted; then it is closed")
  func seen() async throws {
    let device = Device()
    let display = device.display
    device.server.state.withLock { $0.messages = Self.card }
    let messages = try device.messages(display)
    messages.triggerEvent("exampleTrigger")
    try await eventually { display.message != nil }
    try await eventually { device.clock.waits.contains { (2.9...3).contains($0) } }
    device.clock.move(2.9)
    #expect(device.delegate.heard.copy.isEmpty)
    try await eventually {
      if let wait = device.clock.waits.first, wait <= 3 { device.clock.move(wait) }
      return device.delegate.heard.copy == ["seen"]
    }
    display.close()
    try await eventually { device.delegate.heard.copy.count == 2 }
    #expect(device.delegate.heard.copy == ["seen", "dismissed typeUserTapClose"])
    #expect(device.delegate.counted.copy == [0, 1])
  }

  @Test(
    "a picture that is none: the app hears the error, and nothing shows", arguments: [(404, "image/png"), (200, "text/html")])
  func picture(status: Int, type: String) async throws {
    let device = Device()
    let display = device.display
    device.server.state.withLock { state in
      state.messages = Self.card
      state.picture = (status, type)
    }
    let messages = try device.messages(display)
    messages.triggerEvent("exampleTrigger")
    try await eventually { !device.delegate.heard.copy.isEmpty }
    #expect(device.delegate.heard.copy == [status == 200 ? "error imageDataInvalid" : "error imageNotLoaded"])
    #expect(display.message == nil)
  }

  @Test("without consent nothing is asked; given, it is kept; taken back, the server forgets the installation")
  func consent() async throws {
    let device = Device()
    let display = device.display
    let first = try device.messages(display)
    first.automaticDataCollectionEnabled = false
    first.applicationDidBecomeActive()
    first.triggerEvent("exampleTrigger")
    first.refresh()
    #expect(device.server.state.copy.asked.isEmpty)
    first.automaticDataCollectionEnabled = true
    first.applicationDidBecomeActive()
    let file = first.file.copy
    try await eventually {
      let kept = file.read().flatMap { try? JSONDecoder().decode(MessageRecords.self, from: Data($0)) }
      return kept?.nextFetch ?? 0 > 0
    }
    let second = try device.messages(display)
    #expect(second.automaticDataCollectionEnabled)
    second.automaticDataCollectionEnabled = false
    try await eventually { !device.server.asked("DELETE /v1/projects/1/installations/cRk2aaaaaaaaaaaaaaaaaa").isEmpty }
    #expect(!(try device.messages(display).automaticDataCollectionEnabled))
  }

  @Test("the app's events reach the server as conversions; a name that is none does not")
  func conversions() async throws {
    let device = Device()
    let display = device.display
    let messages = try device.messages(display)
    messages.applicationDidBecomeActive()
    try await eventually { !device.server.asked("conversions").isEmpty }
    let events = device.server.asked("conversions").flatMap { $0["events"]?.array ?? [] }
    #expect(events.map { $0["name"]?.string } == ["first_open", "session_start"])
    for name in ["", "5", "a-b", "é", String(repeating: "a", count: 41)] { #expect(!Analytics.isName(name), "\(name)") }
    for name in ["a", "level_5", String(repeating: "a", count: 40)] { #expect(Analytics.isName(name), "\(name)") }
  }

  @Test("an installation's id is 22 letters that begin with c to f, and no two are the same")
  func ids() {
    let ids = (0..<100).map { _ in MessageWire.newID() }
    #expect(Set(ids).count == 100)
    #expect(ids.allSatisfy { $0.utf8.count == 22 && "cdef".contains($0.first ?? " ") })
  }
}
