import ServerTestSupport
import Testing
import TreeModel

/// An installation of an app, as the server meets it: fetches, reports, listens.
struct Phone {
  let api: APIServer
  var fid = "cAAAAAAAAAAAAAAAAAAAAA"
  /// Behind the path of a fetch and a stream.
  var key = "?key=k"
  var headers: [String: String] = [:]

  func fetch(_ headers: [String: String] = [:]) async throws -> (status: Int, json: JSON) {
    let body = """
      {"requesting_client_app":{"gmp_app_id":"1:77:ios:ab","app_instance_id":"\(fid)"},
       "client_signals":{"app_version":"2.1","language_code":"en","time_zone":"Europe/Warsaw"}}
      """
    let path = "/v1/sdkServing/projects/77/eligibleCampaigns:fetch\(key)"
    let answer = try await api.send("POST", path, body, headers: self.headers.merging(headers) { $1 })
    return (answer.status, try JSONParser.parse(answer.body))
  }

  /// The ids of what a fetch brings.
  func ids(_ headers: [String: String] = [:]) async throws -> [String] {
    let (status, json) = try await fetch(headers)
    #expect(status == 200, "\(json)")
    return (json["messages"]?.array ?? []).compactMap { message in
      (message["vanillaPayload"] ?? message["experimentalPayload"])?["campaignId"]?.string
    }
  }

  /// One line of the log, with its members beside those that each has.
  func line(_ campaign: String, _ members: JSON) -> String {
    let common: JSON = [
      "project_number": "77", "campaign_id": .string(campaign), "client_timestamp_millis": .int(APIServer.start),
      "client_app": ["google_app_id": "1:77:ios:ab", "firebase_instance_id": .string(fid)],
    ]
    return JSON.object((common.object ?? []) + (members.object ?? [])).compactText
  }

  func log(
    _ lines: [String], path: String = "/v1/messages/log", host: String = "localhost", headers: [String: String] = [:]
  ) async throws -> RawResponse {
    let events = lines.map { line -> JSON in
      ["event_time_ms": .int(APIServer.start), "source_extension_json": .string(line)]
    }
    let body: JSON = ["log_source": "FIREBASE_INAPPMESSAGING", "request_time_ms": 1, "log_event": .array(events)]
    return try await api.send("POST", "\(path)?format=json_proto", body.compactText, headers: headers, host: host)
  }

  /// Listens; the stream has said that it is alive.
  func listen() async throws -> EventClient {
    let stream = try await EventClient.open("/v1/messages/events\(key)&instance=\(fid)", port: api.port)
    #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
    #expect(try await stream.anyEvent() == "keep-alive null")
    return stream
  }
}

extension APIServer {
  /// Does something with campaigns, as an administrator.
  @discardableResult
  func message(_ verb: String, _ path: String, _ body: JSON? = nil) async throws -> JSON {
    let answer = try await send(verb, "/admin/v1/messages\(path)", body?.compactText, headers: Self.admin)
    #expect(answer.status == 200, "\(verb) \(path): \(answer.body)")
    return try JSONParser.parse(answer.body)
  }

  /// A campaign of a modal that waits for the foreground, with members changed; a draft.
  func draft(_ id: String, _ changes: JSON = [:]) async throws {
    let plain: JSON = [
      "id": .string(id), "name": "A test", "layout": "modal", "triggers": [["on": "foreground"]],
      "content": ["defaultLanguage": "en", "texts": ["en": ["title": "Hello"]]],
    ]
    try await message("POST", "", plain.object.map { .object($0.filter { changes[$0.key] == nil } + (changes.object ?? [])) })
  }

  func publish(_ id: String, _ changes: JSON = [:]) async throws {
    try await draft(id, changes)
    try await message("POST", "/\(id)/publish", [:])
  }

  /// What came of a campaign, by kind and detail.
  func counts(of id: String) async throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    for total in try await message("GET", "/\(id)/stats?days=1")["totals"]?.array ?? [] {
      let detail = total["detail"]?.string.map { " \($0)" } ?? ""
      found["\(total["kind"]?.string ?? "")\(detail)"] = total["count"]?.int
    }
    return found
  }
}
