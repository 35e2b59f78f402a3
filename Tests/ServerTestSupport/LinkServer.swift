import Links
package import StorageCore
import Testing
import TextFormats
package import TreeModel

/// A server with the link settings of a studio called Acme, and browsers to open links with.
package struct LinkServer: Sendable {
  package let api: APIServer

  package init(api: APIServer) {
    self.api = api
  }

  package static let host = "go.acme.test"
  package static let prefix = "https://go.acme.test/r"
  package static let key = "web-key-1"
  package static let fingerprint = (0..<32).map { String(0x80 + $0, radix: 16).uppercased() }.joined(separator: ":")

  /// A `User-Agent` as a real device sends it.
  package enum Agent: String, CaseIterable {
    case android =
      "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"
    case androidFirefox = "Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0"
    case iphone =
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    case ipad =
      "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1"
    case desktop =
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
    case mac =
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15"
    case facebook = "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"
    case slack = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
    case whatsApp = "WhatsApp/2.23.20.0 A"
    case curl = "curl/8.5.0"
  }

  package static let settings = """
    {"domains":["https://go.acme.test/r","https://go.acme.test/mypath","https://links.acme.test"],
     "hosts":["acme.test"],
     "apps":{"ios":[{"bundleId":"test.acme.ios","appStoreId":"900100200","appIdPrefix":"TEAM12345A","name":"Acme"},
                    {"bundleId":"test.acme.bare"}],
             "android":[{"packageName":"test.acme.app","sha256Fingerprints":["\(fingerprint)"]}]},
     "apiKeys":["\(key)",{"key":"narrow","bundleIds":["test.acme.ios"],"methods":["attribute"]}],
     "limits":{"createPerSecond":1000}}
    """

  /// Runs a test against a server of its own, with the settings above or others.
  package static func run(
    settings: String = LinkServer.settings, participants: [any CommitParticipant] = [],
    _ test: (LinkServer) async throws -> Void
  ) async throws {
    try await APIServer.run(participants: participants) { api in
      let put = try await api.send("PUT", "/admin/v1/links/settings", settings, headers: APIServer.admin)
      #expect(put.status == 200, "\(put.body)")
      try await test(LinkServer(api: api))
    }
  }

  /// Opens a link: its path and query, on its host.
  package func open(
    _ link: String, as agent: Agent, method: String = "GET", reading languages: String? = nil
  ) async throws -> RawResponse {
    let rest = link.dropFirst("https://".count)
    let slash = try #require(rest.firstIndex { $0 == "/" || $0 == "?" }, "\(link): no path")
    var headers = ["User-Agent": agent.rawValue]
    headers["Accept-Language"] = languages
    let path = rest[slash] == "?" ? "/" + rest[slash...] : String(rest[slash...])
    return try await api.send(method, path, headers: headers, host: String(rest[..<slash]))
  }

  /// Posts JSON to the API, with the app's key.
  package func post(
    _ path: String, _ body: String, key: String? = LinkServer.key, headers: [String: String] = [:]
  ) async throws -> (status: Int, json: JSON) {
    let target = path + (key.map { "?key=\($0)" } ?? "")
    let answer = try await api.send("POST", target, body, headers: headers)
    return (answer.status, try JSONParser.parse(answer.body))
  }

  /// Creates a short link from the parameters of a long one.
  package func create(
    _ query: String, suffix: String? = nil, headers: [String: String] = [:]
  ) async throws -> (status: Int, json: JSON) {
    var body = "{\"longDynamicLink\":\(JSON.string("\(Self.prefix)/?\(query)").compact)"
    if let suffix { body += ",\"suffix\":\(suffix)" }
    return try await post("/v1/shortLinks", body + "}", headers: headers)
  }

  /// The same, when only the link matters.
  package func link(_ query: String, suffix: String? = nil, headers: [String: String] = [:]) async throws -> String {
    let (status, json) = try await create(query, suffix: suffix, headers: headers)
    try #require(status == 200, "\(json.compact)")
    return try #require(json["shortLink"]?.string)
  }

  /// What was counted, as `PLATFORM EVENT count`.
  package func counts(_ link: String) async throws -> [String] {
    let answer = try await api.send(
      "GET", "/v1/\(link.replacing("/", with: "%2F").replacing(":", with: "%3A"))/linkStats?durationDays=7",
      headers: APIServer.admin)
    try #require(answer.status == 200, "\(answer.body)")
    let rows = try JSONParser.parse(answer.body)["linkEventStats"]?.array ?? []
    return rows.map { "\($0["platform"]?.string ?? "") \($0["event"]?.string ?? "") \($0["count"]?.string ?? "")" }
  }

  /// The proof of a click, as the preview page puts it into the clipboard.
  package func clipboard(_ link: String, agent: Agent = .iphone) async throws -> String {
    let page = try await open(link, as: agent)
    try #require(page.status == 200)
    let start = try #require(page.body.firstRange(of: "data-copy=\""))
    let rest = page.body[start.upperBound...]
    return String(rest.prefix { $0 != "\"" }).replacing("&amp;", with: "&")
  }

  /// An ID token that development takes.
  package static func token(_ uid: String, provider: String = "password", more: String = "") -> [String: String] {
    func part(_ text: String) -> String { Base64.encode(Array(text.utf8), as: .url) }
    let claims =
      "{\"sub\":\"\(uid)\",\"user_id\":\"\(uid)\",\"firebase\":{\"sign_in_provider\":\"\(provider)\"}\(more)}"
    return ["Authorization": "Bearer \(part("{\"alg\":\"none\"}")).\(part(claims))."]
  }
}

extension JSON {
  package var compact: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// The codes of the warnings of an answer.
  package var warnings: [String] { self["warning"]?.array?.compactMap { $0["warningCode"]?.string } ?? [] }
}
