import Messages
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What apps get, byte for byte: forty campaigns of all layouts in five languages, as fetches bring them and as previews draw them.
@Suite struct GoldenAnswerTests {
  private static let admin = Actor.admin("test")
  private static let languages = ["en-GB", "pl-PL", "fa", "de", "pt_BR"]
  private static let words = [
    "en": ("Number", "Both of you get coins.\nAt once.", "Invite", "Later"),
    "pl": ("Numer", "Oboje dostaniecie monety.\nOd razu.", "Zaproś", "Później"),
    "fa": ("شماره", "هر دو سکه می‌گیرید.", "دعوت", "بعداً"),
    "pt-BR": ("Número", "Os dois ganham moedas.", "Convidar", "Depois"),
  ]

  /// A campaign that only one of the languages gets: every second one says all that its layout can say.
  private static func campaign(_ number: Int) -> JSON {
    let layout = MessageLayout.allCases[number % 4]
    let isRich = number / 4 % 2 == 1
    var members: [(String, JSON?)] = [
      ("id", .string("golden\(number)")), ("name", .string("Golden \(number)")), ("layout", .string(layout.rawValue)),
      ("content", content(layout, number, isRich: isRich)), ("priority", .int(Int64(1 + number % 10))),
      ("audience", ["languages": .array([.string(languages[number / 8].replacing("_", with: "-"))])]),
      ("triggers", triggers(number, isRich: isRich)),
    ]
    if isRich {
      members += [
        ("frequency", ["lifetime": 3, "caps": [["count": 1, "days": 7]]]), ("data", ["promo": "X50", "empty": ""]),
        ("schedule", ["start": "2023-11-01T09:00", "end": "2030-06-01T00:00", "timeZone": "Europe/Warsaw"]),
        ("dismissOutside", false), ("vars", ["rank": "/ranks/{uid}"]),
      ]
    }
    if number % 8 == 5 {
      members.append(("variants", [["name": "a", "weight": 60], ["name": "b", "weight": 40, "content": colors("#222222")]]))
    }
    return JSON(fields: members)
  }

  private static func triggers(_ number: Int, isRich: Bool) -> JSON {
    if isRich { return [["server": "reward", "where": ["amount": [">=": 50]]], ["on": "foreground"]] }
    return [[["on": "launch"]], [["on": "foreground"]], [["event": "level_5"]], [["event": "level_5", "where": ["n": 5]]]][
      number % 4]
  }

  private static func colors(_ background: String) -> JSON {
    [
      "colors": [
        "text": "#fafafa", "background": .string(background), "button": "#ffdd55", "primaryText": "#101010",
        "secondaryText": "#eeeeee",
      ]
    ]
  }

  private static func content(_ layout: MessageLayout, _ number: Int, isRich: Bool) -> JSON {
    let image = JSON.string("https://cdn.acme.test/\(number).png")
    var members: [JSON.Member] = [.init(key: "defaultLanguage", value: "en")]
    func put(_ name: String, _ value: JSON) { members.append(.init(key: name, value: value)) }
    if layout != .imageOnly {
      put(
        "texts",
        .object(words.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: texts($0.value, layout, number, isRich)) }))
    }
    if isRich { members += colors("#113355").object ?? [] }
    switch layout {
    case .banner where isRich: members += (["image": image, "action": "acme://shop"] as JSON).object ?? []
    case .modal where isRich: members += (["image": image, "primaryAction": "https://acme.test/invite"] as JSON).object ?? []
    case .modal where number % 16 == 2: put("primaryAction", "dismiss:")
    case .card:
      members += (["portraitImage": image, "primaryAction": isRich ? "https://acme.test/invite" : nil] as JSON).object ?? []
      if isRich { put("landscapeImage", "https://cdn.acme.test/wide.png") }
      if isRich { put("secondaryAction", "https://acme.test/later") }
    case .imageOnly:
      put("image", image)
      if isRich { put("action", "https://acme.test/") }
    default: break
    }
    if layout == .imageOnly || isRich { put("imageAlt", ["en": "A chest of {{player.name|yours}}", "pl": "Skrzynia"]) }
    return .object(members)
  }

  private static func texts(_ words: (String, String, String, String), _ layout: MessageLayout, _ number: Int, _ isRich: Bool)
    -> JSON
  {
    let hasPrimary = layout == .card || (layout == .modal && (isRich || number % 16 == 2))
    return JSON(fields: [
      ("title", .string("\(words.0) \(number) \(isRich ? "{{amount}} {{rank|-}}" : "{{player.name|<b>}}")")),
      ("body", isRich ? .string(words.1) : JSON?.none), ("primary", hasPrimary ? .string(words.2) : JSON?.none),
      ("secondary", layout == .card && isRich ? .string(words.3) : JSON?.none),
    ])
  }

  /// The whole answer of a fetch, a line for each message.
  private func fetch(_ language: String, headers: [String: String], _ api: APIServer) async throws -> (text: String, json: JSON)
  {
    let fid = "cAAAAAAAAAAAAAAAAAAAA\(["A", "B", "C", "D", "E"][Self.languages.firstIndex(of: language) ?? 0])"
    let body = """
      {"requesting_client_app":{"gmp_app_id":"1:77:ios:ab","app_instance_id":"\(fid)"},
       "client_signals":{"app_version":"2.1","platform_version":"18.0.0","language_code":"\(language)","time_zone":"Asia/Tehran"}}
      """
    let all = LinkServer.token("bob").merging(headers) { a, _ in a }
    let path = "/v1/sdkServing/projects/77/eligibleCampaigns:fetch?key=k"
    let answer = try await api.send("POST", path, body, headers: all)
    #expect(answer.status == 200, "\(answer.body)")
    let broken = answer.body.replacing("{\"vanillaPayload\"", with: "\n{\"vanillaPayload\"")
      .replacing("{\"experimentalPayload\"", with: "\n{\"experimentalPayload\"")
    return ("== \(language)\n\(broken)\n", try JSONParser.parse(answer.body))
  }

  private func view(_ message: JSON, _ language: String, _ api: APIServer) async throws -> String {
    let payload = message["vanillaPayload"] ?? message["experimentalPayload"] ?? .null
    let order = JSON(fields: [
      ("uid", "bob"), ("locale", .string(language)), ("variant", payload["experimentPayload"]?["variantId"]),
    ])
    let id = payload["campaignId"]?.string ?? ""
    let answer = try await api.send(
      "POST", "/admin/v1/messages/\(id)/preview", order.compactText, headers: APIServer.admin)
    #expect(answer.status == 200, "\(answer.body)")
    let view = try JSONParser.parse(answer.body)["view"] ?? .null
    return (["message": message, "view": view] as JSON).compactText + "\n"
  }

  @Test("forty campaigns are answered and drawn as they were, byte for byte")
  func answers() async throws {
    try await APIServer.run { (api) async throws in
      for number in 0..<40 {
        let campaign = try await api.messages.create(Self.campaign(number), by: Self.admin)
        _ = try await api.messages.publish(campaign.id, by: Self.admin)
      }
      #expect(try await api.send("PUT", "/ranks/bob.json", "1234567", headers: APIServer.admin).status == 200)
      _ = try await api.messages.raise("reward", for: "bob", parameters: ["amount": 1250], once: "golden", by: Self.admin)
      var (stock, own, views, count) = ("", "", "", 0)
      for language in Self.languages {
        stock += try await fetch(language, headers: [:], api).text
        let answer = try await fetch(language, headers: ["X-Doubloon-Client": "test/1"], api)
        own += answer.text
        for message in answer.json["messages"]?.array ?? [] {
          views += try await view(message, language, api)
          count += 1
        }
      }
      #expect(count == 40)
      try GoldenFile("fetch-stock.txt").check(stock)
      try GoldenFile("fetch-own.txt").check(own)
      try GoldenFile("views.jsonl").check(views)
    }
  }
}
