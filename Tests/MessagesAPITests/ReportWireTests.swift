import Messages
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What apps report over the wire: where they may send it, what is counted of it, and how much.
@Suite struct ReportWireTests {
  private static let impression: JSON = ["event_type": "IMPRESSION_EVENT_TYPE"]

  @Test(
    "at the root the log is the messages' own by its host, by the key that Firebase's clients send, or by the name of ours",
    arguments: [
      ("fiam.acme.test", [:], 200), ("FIAM.acme.test:443", [:], 200), ("logging.acme.test", [:], 404),
      ("fiam.acme.test.evil.test", [:], 404), ("localhost", [:], 404), ("localhost", ["X-Doubloon-Client": "web/1"], 200),
      ("localhost", ["X-Goog-Api-Key": "k"], 200),
    ] as [(String, [String: String], Int)])
  func root(host: String, headers: [String: String], status: Int) async throws {
    try await APIServer.run { (api) async throws in
      let phone = Phone(api: api)
      try await api.message("PUT", "/settings", ["hosts": ["fiam.acme.test"]])
      try await api.publish("hello")
      #expect(try await phone.ids() == ["hello"])
      let answer = try await phone.log([phone.line("hello", Self.impression)], path: "/log", host: host, headers: headers)
      #expect(answer.status == status, "\(answer.body)")
      if status == 200 { #expect(answer.json?["next_request_wait_millis"] == "300000") }
      #expect(try await api.counts(of: "hello")["impression"] == (status == 200 ? 1 : nil))
    }
  }

  @Test("each kind is counted by itself: buttons, ways of closing, reasons of errors, and what is not known")
  func kinds() async throws {
    try await APIServer.run { (api) async throws in
      let phone = Phone(api: api)
      try await api.publish("hello", ["frequency": ["lifetime": 10]])
      #expect(try await phone.ids() == ["hello"])
      let click = "CLICK_EVENT_TYPE"
      let kinds: [JSON] = [
        Self.impression, ["event_type": .string(click), "action": "primary", "action_url": "https://acme.test/"],
        ["event_type": .string(click), "action": "secondary"], ["event_type": .string(click), "action": "message"],
        ["event_type": .string(click), "action": "self-destruct"], ["dismiss_type": "AUTO"], ["dismiss_type": "CLICK"],
        ["dismiss_type": "SWIPE"], ["render_error_reason": "IMAGE_FETCH_ERROR"],
        ["render_error_reason": "IMAGE_UNSUPPORTED_FORMAT"], ["event_type": "TEST_MESSAGE_IMPRESSION_EVENT_TYPE"],
        ["event_type": "TEST_MESSAGE_CLICK_EVENT_TYPE"], ["event_type": "SUPPRESSED_EVENT_TYPE"],
        ["dismiss_type": "EXPLOSION"], ["fetch_error_reason": "SERVER_ERROR"], [:],
      ]
      let nobody = Phone(api: api, fid: "cBBBBBBBBBBBBBBBBBBBBB")
      let strange = [phone.line("other", Self.impression), nobody.line("hello", Self.impression)]
      let lines = kinds.map { phone.line("hello", $0) } + strange
      for _ in 0..<2 { #expect(try await phone.log(lines).status == 200, "sent again it counts once") }
      #expect(
        try await api.counts(of: "hello") == [
          "served": 1, "impression": 1, "instance": 1, "click": 1, "click primary": 1, "click secondary": 1, "click message": 1,
          "dismissal AUTO": 1, "dismissal CLICK": 1, "dismissal SWIPE": 1, "error IMAGE_FETCH_ERROR": 1,
          "error IMAGE_UNSUPPORTED_FORMAT": 1, "test_impression": 1, "test_click": 1, "suppressed": 1,
        ])
      #expect(api.messages.totals.unknown == 2 * 5, "a way, an error of a fetch, nothing, a campaign, an installation")
    }
  }

  @Test("a batch that is none, or too long, is refused whole; numbers may be texts, and texts numbers")
  func batches() async throws {
    try await APIServer.run { (api) async throws in
      let phone = Phone(api: api)
      try await api.publish("hello", ["frequency": ["lifetime": 10]])
      #expect(try await phone.ids() == ["hello"])
      let good = phone.line("hello", Self.impression)
      for bad in [["no JSON", good], ["[]", good], Array(repeating: good, count: 51)] {
        #expect(try await phone.log(bad).status == 400)
      }
      let body = #"{"log_event":[{"event_time_ms":"7","source_extension_json":7}]}"#
      #expect(try await api.send("POST", "/v1/messages/log", body).status == 400)
      #expect(try await api.counts(of: "hello") == ["served": 1])
      let texts = good.replacing("\(APIServer.start)", with: "\"\(APIServer.start)\"")
      #expect(texts != good)
      #expect(try await phone.log([texts]).status == 200)
      #expect(try await api.counts(of: "hello")["impression"] == 1)
    }
  }

  @Test("where more is reported than the project takes in, apps are told to come later, and then it counts")
  func bound() async throws {
    try await APIServer.run { (api) async throws in
      let phone = Phone(api: api)
      try await api.publish("hello")
      #expect(try await phone.ids() == ["hello"])
      for network in 0..<10 { #expect(api.messages.admitsReports(600, from: "network \(network)")) }
      let late = try await phone.log([phone.line("hello", Self.impression)])
      #expect(late.status == 429 && late["retry-after"] == "10", "\(late.body)")
      #expect(try await api.counts(of: "hello") == ["served": 1])
      api.clock.advance(by: 10_000)
      #expect(try await phone.log([phone.line("hello", Self.impression)]).status == 200)
      #expect(try await api.counts(of: "hello")["impression"] == 1)
    }
  }

  @Test("an app that reports whatever it likes, by every way that it has, makes no coin and writes nothing into the tree")
  func lies() async throws {
    try await APIServer.run { (api) async throws in
      let phone = Phone(api: api)
      try await api.publish("hello", ["conversion": ["event": "invite_sent"], "frequency": ["lifetime": 100]])
      try await api.publish("earned", ["triggers": [["server": "reward"]]])
      let player = LinkServer.token("bob")
      #expect(try await phone.ids(player) == ["hello"])
      let kinds: [JSON] = [Self.impression, ["event_type": "CLICK_EVENT_TYPE", "action": "primary"]]
      let lies = ["hello", "earned"].flatMap { campaign in
        kinds.map { phone.line(campaign, $0.merging("doubloon_event_id", with: "reward-1")) }
      }
      #expect(try await phone.log(lies, headers: player).status == 200)
      let goals: JSON = [
        "instance": .string(phone.fid), "events": [["name": "invite_sent"], ["name": "reward", "params": ["amount": 50]]],
      ]
      #expect(try await api.send("POST", "/v1/messages/conversions?key=k", goals.compactText, headers: player).status == 200)
      for path in ["/admin/v1/messages/events", "/admin/v1/ledger/transfers", "/admin/v1/messages"] {
        let answer = try await api.send("POST", path, "{}", headers: player)
        #expect([401, 403].contains(answer.status), "\(path): \(answer.body)")
      }
      #expect(try await api.value("/.json") == "null")
      let entries = try await api.send("GET", "/admin/v1/ledger/entries", headers: APIServer.admin)
      #expect(entries.json?["entries"] == [], "\(entries.body)")
      #expect(try api.messages.events(of: "bob").isEmpty)
      #expect(try await api.counts(of: "hello")["coins"] == nil)
    }
  }
}

extension JSON {
  /// The object with one member more.
  fileprivate func merging(_ name: String, with value: JSON) -> JSON {
    .object((object ?? []) + [Member(key: name, value: value)])
  }
}
