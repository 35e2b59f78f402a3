import HTTPServer
import Messages
import NIOHTTP1
import TreeModel

/// What apps report of messages, in the shapes of Firebase's in-app messaging, and of goals, in ours.
enum ReportRoutes {
  static let routes: [Route] = [
    .client(.POST, "/v1/messages/log", summary: "What an app reports of the messages that it has shown.", body: log),
    .client(.POST, "/log", summary: "The same, where Firebase's clients send it.", body: rootLog),
    .client(.POST, "/v1/messages/conversions", summary: "Events of an app that campaigns have as their goal.", body: convert),
  ]

  /// Reports of one request.
  private static let batchMax = 50
  private static let wait: JSON = ["next_request_wait_millis": "300000"]

  @Sendable private static func rootLog(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    let host = (access.header("host") ?? "").split(separator: ":").first.map { $0.lowercased() } ?? ""
    guard access.isOwnClient || access.header("x-goog-api-key") != nil || access.messages.settings.hosts.contains(host) else {
      throw MessagesAPIError(.notFound, "Nothing is here; messages are reported to /v1/messages/log.")
    }
    return try await log(access, body: json)
  }

  @Sendable private static func log(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    if access.header("x-goog-api-key") != nil || access.call.query["key"] != nil { try access.checkKey() }
    guard let elements = json["log_event"]?.array, elements.count <= batchMax else {
      throw MessagesAPIError(.invalidArgument, "log_event must be a list of at most \(batchMax) reports.")
    }
    var reports: [MessageReport] = []
    for element in elements {
      guard let text = element["source_extension_json"]?.string, let source = try? JSONParser.parse(text, depthMax: 16),
        source.object != nil
      else { throw MessagesAPIError(.invalidArgument, "source_extension_json must be a JSON object as a text.") }
      if let report = report(source, time: FetchRoutes.integer(element["event_time_ms"])) { reports.append(report) }
    }
    guard access.messages.admitsReports(elements.count, from: "\(access.call.request.client.clientNetwork)") else {
      throw MessagesAPIError(.resourceExhausted, "More is reported here than can be counted; send it again later.")
    }
    for instance in Set(reports.map(\.instance)) {
      guard access.messages.admits(instance, logging: true) else {
        throw MessagesAPIError(.resourceExhausted, "An installation reports at most 60 times a minute; wait.")
      }
      // A client that has a token shows it; Firebase's do not, and their id is nobody else's knowledge.
      if let token = access.token { _ = try access.messages.authenticated(instance, token: token) }
    }
    access.messages.countUnknown(elements.count - reports.count)
    try await access.messages.take(reports)
    return wait
  }

  /// A report; nil for one that nobody counts.
  private static func report(_ json: JSON, time: Int64?) -> MessageReport? {
    guard let campaign = json["campaign_id"]?.string, let kind = kind(json),
      let instance = json["client_app"]?["firebase_instance_id"]?.string, MessageInstance.isID(instance)
    else { return nil }
    let moment = FetchRoutes.integer(json["client_timestamp_millis"]) ?? time ?? 0
    var report = MessageReport(kind, campaign: campaign, instance: instance, time: moment)
    report.event = json["doubloon_event_id"]?.string.flatMap { $0.utf8.count <= 200 ? $0 : nil }
    report.key = json["doubloon_key"]?.string.flatMap { $0.utf8.count <= 200 ? $0 : nil }
    report.variant = json["variant"]?.string.flatMap { $0.utf8.count <= 64 ? $0 : nil }
    return report
  }

  private static func kind(_ json: JSON) -> MessageReport.Kind? {
    switch json["event_type"]?.string {
    case "IMPRESSION_EVENT_TYPE": return .impression
    case "CLICK_EVENT_TYPE":
      let role = json["action"]?.string ?? ""
      return .click(["primary", "secondary", "message"].contains(role) ? role : "")
    case "TEST_MESSAGE_IMPRESSION_EVENT_TYPE": return .testImpression
    case "TEST_MESSAGE_CLICK_EVENT_TYPE": return .testClick
    case "SUPPRESSED_EVENT_TYPE": return .suppressed
    case "CONTROL_EVENT_TYPE": return .control
    default: break
    }
    if let way = json["dismiss_type"]?.string, ["AUTO", "CLICK", "SWIPE"].contains(way) { return .dismissal(way) }
    if let reason = json["render_error_reason"]?.string, ["IMAGE_FETCH_ERROR", "IMAGE_UNSUPPORTED_FORMAT"].contains(reason) {
      return .failure(reason)
    }
    return nil
  }

  @Sendable private static func convert(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    try access.checkKey()
    guard let id = json["instance"]?.string, let events = json["events"]?.array, events.count <= batchMax else {
      throw MessagesAPIError(
        .invalidArgument, "It must be {\"instance\": …, \"events\": [{\"name\": …}]}, with at most 50 events.")
    }
    _ = try access.messages.authenticated(id, token: access.token)
    guard access.messages.admits(id, logging: true) else {
      throw MessagesAPIError(.resourceExhausted, "An installation reports at most 60 times a minute; wait.")
    }
    try await access.messages.convert(events.compactMap { $0["name"]?.string }, instance: id)
    return [:]
  }
}
