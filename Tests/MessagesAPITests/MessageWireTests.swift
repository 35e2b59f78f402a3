import Messages
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// Messages over a socket, as apps see them.
@Suite struct MessageWireTests {
  static let fid = "cAAAAAAAAAAAAAAAAAAAAA"
  static let own = ["X-Doubloon-Client": "web/1"]
  static let admin = Actor.admin("test")

  static let card = """
    {"id":"c2","name":"Give 50","layout":"card","priority":1,
     "content":{"defaultLanguage":"en","texts":{"en":{"title":"Give 50, get 50","body":"Invite a friend","primary":"Invite","secondary":"Later"}},
      "portraitImage":"https://cdn.acme.test/p.png","landscapeImage":"https://cdn.acme.test/l.png","imageAlt":{"en":"A chest"},
      "colors":{"text":"#112233"},"primaryAction":"https://acme.test/invite","secondaryAction":"https://acme.test/later"},
     "triggers":[{"on":"foreground"},{"event":"level_5"}],"data":{"promo":"X50"}}
    """
  static let reward = """
    {"id":"earned","name":"Earned","layout":"banner","frequency":{"lifetime":100},
     "content":{"defaultLanguage":"en","texts":{"en":{"title":"You earned {{amount}}!"}}},
     "triggers":[{"server":"reward"}]}
    """

  private func publish(_ document: String, on api: APIServer) async throws {
    let campaign = try await api.messages.create(try JSONParser.parse(document), by: Self.admin)
    _ = try await api.messages.publish(campaign.id, by: Self.admin)
  }

  private func fetch(_ api: APIServer, headers: [String: String] = [:], more: String = "") async throws -> (
    status: Int, json: JSON
  ) {
    let body = """
      {"requesting_client_app":{"gmp_app_id":"1:77:ios:ab","app_instance_id":"\(Self.fid)"}\(more),
       "client_signals":{"app_version":"2.1","platform_version":"18.0.0","language_code":"pl-PL","time_zone":"Europe/Warsaw"}}
      """
    let answer = try await api.send(
      "POST", "/v1/sdkServing/projects/77/eligibleCampaigns:fetch?key=k", body, headers: headers)
    return (answer.status, try JSONParser.parse(answer.body))
  }

  private func log(_ api: APIServer, path: String = "/v1/messages/log", headers: [String: String] = [:], _ source: String...)
    async throws -> Int
  {
    let events = source.map { "{\"event_time_ms\":1,\"source_extension_json\":\(JSON.string($0).compactText)}" }
    let body = "{\"log_source\":\"FIREBASE_INAPPMESSAGING\",\"log_event\":[\(events.joined(separator: ","))]}"
    return try await api.send("POST", path + "?format=json_proto", body, headers: headers).status
  }

  private func impression(_ campaign: String, more: String = "") -> String {
    "{\"campaign_id\":\"\(campaign)\",\"client_app\":{\"firebase_instance_id\":\"\(Self.fid)\"},\"client_timestamp_millis\":5,"
      + "\"event_type\":\"IMPRESSION_EVENT_TYPE\"\(more)}"
  }

  @Test("a published campaign comes in the shape that phones parse: times as texts, colours, actions, the bundle")
  func shape() async throws {
    try await APIServer.run { (api) async throws in
      try await publish(Self.card, on: api)
      let (status, json) = try await fetch(api)
      #expect(status == 200)
      let message = try #require(json["messages"]?.array?.first)
      #expect(message["vanillaPayload"]?["campaignId"]?.string == "c2")
      #expect(message["vanillaPayload"]?["campaignStartTimeMillis"]?.string == String(APIServer.start))
      #expect(message["vanillaPayload"]?["campaignEndTimeMillis"]?.string == "9223372036854775807")
      let card = try #require(message["content"]?["card"])
      #expect(card["title"]?["text"]?.string == "Give 50, get 50" && card["title"]?["hexColor"]?.string == "#112233")
      #expect(card["primaryActionButton"]?["text"]?["text"]?.string == "Invite")
      #expect(card["primaryAction"]?["actionUrl"]?.string == "https://acme.test/invite")
      #expect(card["secondaryAction"]?["actionUrl"]?.string == "https://acme.test/later")
      #expect(message["priority"]?["value"]?.int == 1)
      #expect(
        message["triggeringConditions"]?.compactText
          == #"[{"fiamTrigger":"ON_FOREGROUND"},{"event":{"name":"level_5"}}]"#)
      #expect(message["dataBundle"]?.compactText == #"{"promo":"X50"}"#)
      #expect(message["isTestCampaign"]?.bool == false && message["doubloon"] == nil)
      let expires = try #require(json["expirationEpochTimestampMillis"]?.string.flatMap { Int64($0) })
      #expect(expires > APIServer.start && json["doubloon"] == nil)
    }
  }

  @Test("a reward is told to the open app at once, comes with the fetch, and is told once")
  func reward() async throws {
    try await APIServer.run { (api) async throws in
      try await publish(Self.reward, on: api)
      let token = LinkServer.token("bob")
      let bearer = token.map { "\($0.key): \($0.value)\r\n" }.joined()
      let stream = try await EventClient.open(
        "/v1/messages/events?instance=\(Self.fid)&key=k", port: api.port, headers: bearer)
      #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
      #expect(try await stream.anyEvent() == "keep-alive null")
      let paid = try await api.send(
        "POST", "/admin/v1/ledger/transfers",
        #"{"debit":"issuance:gift","credit":"user:bob","amount":50,"unit":"pieces_of_eight","code":"gift","key":"gift/1"}"#,
        headers: APIServer.admin)
      #expect(paid.status < 300, "\(paid.body)")
      let told = try #require(try await stream.event())
      #expect(told.hasPrefix(#"trigger {"id":"reward-1","name":"reward""#), "\(told)")
      try await stream.close()
      let headers = Self.own.merging(token) { a, _ in a }
      let (_, json) = try await fetch(api, headers: headers)
      #expect(json["doubloon"]?["pendingEvents"]?.array?.first?["id"]?.string == "reward-1")
      let message = try #require(json["messages"]?.array?.first)
      #expect(message["content"]?["banner"]?["title"]?["text"]?.string == "You earned 50!")
      #expect(message["doubloon"]?["eventId"]?.string == "reward-1")
      #expect(
        message["triggeringConditions"]?.compactText
          == #"[{"fiamTrigger":"ON_FOREGROUND"},{"event":{"name":"doubloon_reward"}}]"#)
      #expect(try await log(api, impression("earned", more: #","doubloon_event_id":"reward-1""#)) == 200)
      let (_, after) = try await fetch(api, headers: headers)
      #expect(after["messages"]?.array?.isEmpty == true && after["doubloon"]?["pendingEvents"]?.array?.isEmpty == true)
    }
  }

  @Test("what is seen does not come again, and what is sent badly is refused in the envelope")
  func refusals() async throws {
    try await APIServer.run { (api) async throws in
      try await publish(Self.card, on: api)
      let seen = #","already_seen_campaigns":[{"campaign_id":"c2","impression_timestamp_millis":"1700000000000"}]"#
      #expect(try await fetch(api, more: seen).json["messages"]?.array?.isEmpty == true)
      let path = "/v1/sdkServing/projects/77/eligibleCampaigns:fetch"
      let many = (0...1000).map { "{\"campaign_id\":\"c\($0)\"}" }.joined(separator: ",")
      for body in ["no JSON", "{}", #"{"requesting_client_app":{"app_instance_id":"../x"}}"#] {
        let answer = try await api.send("POST", path, body)
        #expect(answer.status == 400 && answer.body.contains("INVALID_ARGUMENT"), "\(body)")
      }
      #expect(try await fetch(api, more: ",\"already_seen_campaigns\":[\(many)]").status == 400)
      #expect(try await fetch(api, headers: ["Authorization": "Bearer nonsense"]).status == 401)
      _ = try await api.messages.put(["projectNumber": "78"])
      #expect(try await fetch(api).status == 404)
    }
  }

  @Test("reports are counted once; a batch that cannot be read is refused; the root is the messages' only where it says so")
  func reports() async throws {
    try await APIServer.run { (api) async throws in
      try await publish(Self.card, on: api)
      _ = try await fetch(api)
      let click = impression("c2").replacing("IMPRESSION", with: "CLICK")
      #expect(try await log(api, impression("c2"), click, impression("nobody")) == 200)
      #expect(try await log(api, path: "/log", headers: ["X-Goog-Api-Key": "k"], impression("c2")) == 200)
      #expect(try await log(api, path: "/log", impression("c2")) == 404)
      #expect(try await log(api, "no JSON") == 400)
      let totals = try await api.messages.results(of: "c2", days: 1)["totals"]?.array ?? []
      let counts = totals.map { "\($0["kind"]?.string ?? "") \($0["count"]?.int ?? 0)" }
      #expect(Set(counts) == ["click 1", "impression 1", "instance 1", "served 1"])
    }
  }

  @Test("an id that no installation can have is nobody's: it is not counted, and nothing is kept of it")
  func strangeIDs() async throws {
    try await APIServer.run { (api) async throws in
      for id in [String(repeating: "i", count: 30_000), "a/b", ""] {
        for _ in 0..<30 {
          let source =
            "{\"campaign_id\":\"c2\",\"client_app\":{\"firebase_instance_id\":\"\(id)\"},\"event_type\":\"IMPRESSION_EVENT_TYPE\"}"
          #expect(try await log(api, source) == 200)
        }
      }
    }
  }

  @Test("an installation registers, gets new tokens, and goes with all that is known of it")
  func installations() async throws {
    try await APIServer.run { (api) async throws in
      let made = try await api.send(
        "POST", "/v1/projects/demo/installations",
        #"{"fid":"\#(Self.fid)","appId":"1:77:ios:ab","authVersion":"FIS_v2","sdkVersion":"i:1"}"#)
      let json = try JSONParser.parse(made.body)
      #expect(made.status == 200 && json["fid"]?.string == Self.fid)
      #expect(json["authToken"]?["expiresIn"]?.string == "604800s")
      let token = try #require(json["authToken"]?["token"]?.string)
      #expect(try await fetch(api).status == 401, "it has a token, and shows none")
      #expect(try await fetch(api, headers: ["x-goog-firebase-installations-auth": token]).status == 200)
      let path = "/v1/projects/demo/installations/\(Self.fid)"
      let refresh = ["Authorization": "FIS_v2 \(try #require(json["refreshToken"]?.string))"]
      let other = try await api.send("POST", "\(path)/authTokens:generate", "{}", headers: refresh)
      #expect(other.status == 200 && other.body.contains("token"))
      #expect(try await fetch(api, headers: ["x-goog-firebase-installations-auth": token]).status == 401)
      #expect(try await api.send("DELETE", path, headers: ["Authorization": "FIS_v2 wrong"]).status == 401)
      #expect(try await api.send("DELETE", path, headers: refresh).status == 200)
      #expect(try api.messages.instance(Self.fid) == nil)
    }
  }

  @Test("who fetches without end is told to wait")
  func rate() async throws {
    try await APIServer.run { (api) async throws in
      var statuses: [Int] = []
      for _ in 0..<12 { statuses.append(try await fetch(api).status) }
      #expect(statuses == Array(repeating: 200, count: 10) + [429, 429])
    }
  }

  @Test("other pages may call it: the preflight names the headers that web clients send")
  func pages() async throws {
    try await APIServer.run { (api) async throws in
      let path = "/v1/sdkServing/projects/77/eligibleCampaigns:fetch"
      let headers = ["Origin": "https://acme.test", "Access-Control-Request-Method": "POST"]
      let answer = try await api.send("OPTIONS", path, headers: headers)
      let allowed = answer["access-control-allow-headers"]?.lowercased() ?? ""
      for name in ["x-doubloon-client", "x-goog-api-key", "x-goog-firebase-installations-auth", "authorization"] {
        #expect(allowed.contains(name))
      }
    }
  }

  @Test("a message says what the security rules let its player read, and is withheld where they do not")
  func rules() async throws {
    try await APIServer.run { (api) async throws in
      let rules = #"{"rules":{"ranks":{"$uid":{".read":"auth.uid == $uid"}},"secret":{".read":false}}}"#
      #expect(try await api.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      for place in ["ranks", "secret"] {
        #expect(try await api.send("PUT", "/\(place)/bob.json", "7", headers: APIServer.admin).status == 200)
        let document = """
          {"id":"\(place)","name":"A place","layout":"modal","vars":{"rank":"/\(place)/{uid}"},"triggers":[{"on":"launch"}],
           "content":{"defaultLanguage":"en","texts":{"en":{"title":"You are number {{rank}}"}}}}
          """
        try await publish(document, on: api)
      }
      let (_, json) = try await fetch(api, headers: LinkServer.token("bob"))
      let titles = json["messages"]?.array?.compactMap { $0["content"]?["modal"]?["title"]?["text"]?.string }
      #expect(titles == ["You are number 7"])
      #expect(try await fetch(api, headers: LinkServer.token("carol")).json["messages"] == [])
      #expect(try await fetch(api).json["messages"] == [])
    }
  }
}
