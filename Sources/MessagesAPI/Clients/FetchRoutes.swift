import HTTPServer
import Messages
import NIOHTTP1
import TreeModel

/// What an app may show now, in the shapes of Firebase's in-app messaging, whose clients are public
/// (https://github.com/firebase/firebase-ios-sdk, `FirebaseInAppMessaging`).
enum FetchRoutes {
  static let routes: [Route] = [
    .client(
      .POST, "/v1/sdkServing/projects/{number}/eligibleCampaigns:fetch", summary: "The messages that an installation may show.",
      body: fetch)
  ]

  /// Campaigns that a client may say that it has seen.
  private static let seenMax = 1000

  @Sendable private static func fetch(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    try access.checkKey()
    let number = access.call.captures["number"] ?? ""
    if let own = access.messages.settings.projectNumber, number != own {
      throw MessagesAPIError(.notFound, "There is no project \(number.prefix(40)) here.")
    }
    let caller = try access.player()
    var client = try client(json, access)
    client.uid = caller.uid
    guard access.messages.admits(client.instance, logging: false) else {
      throw MessagesAPIError(.resourceExhausted, "An installation fetches at most 60 times a minute; wait.")
    }
    let mayRead = access.call.services.mayRead
    let answer = try await access.messages.serve(client) { mayRead($0, caller) }
    return FetchAnswer(answer: answer, isOwn: client.isOwn).json
  }

  private static func client(_ json: JSON, _ access: MessageAccess) throws -> MessageClient {
    let app = json["requesting_client_app"]
    guard let instance = app?["app_instance_id"]?.string, MessageInstance.isID(instance) else {
      throw MessagesAPIError(.invalidArgument, "requesting_client_app.app_instance_id is missing: the id of the installation.")
    }
    var client = MessageClient(instance: instance)
    client.token = access.token ?? app?["app_instance_id_token"]?.string
    client.appID = text(app?["gmp_app_id"], max: 200) ?? ""
    client.bundleID = access.header("x-ios-bundle-identifier") ?? ""
    client.isOwn = access.isOwnClient
    // 1:NUMBER:ios:HASH
    let parts = client.appID.split(separator: ":")
    client.platform = parts.count >= 3 ? String(parts[2]) : ""
    let signals = json["client_signals"]
    client.appVersion = text(signals?["app_version"], max: 60)
    client.osVersion = text(signals?["platform_version"], max: 60)
    client.language = text(signals?["language_code"], max: 40)
    client.timeZone = text(signals?["time_zone"], max: 64)
    guard let seen = json["already_seen_campaigns"]?.array else { return client }
    guard seen.count <= seenMax else {
      throw MessagesAPIError(.invalidArgument, "already_seen_campaigns has at most \(seenMax) elements.")
    }
    for element in seen {
      guard let id = text(element["campaign_id"], max: 64) else { continue }
      let time = integer(element["impression_timestamp_millis"]) ?? 0
      client.seen[id] = max(time, client.seen[id] ?? 0)
    }
    return client
  }

  /// A text; a number is taken for one.
  private static func text(_ json: JSON?, max: Int) -> String? {
    let text: String? =
      switch json {
      case .string(let text): text
      case .int(let number): String(number)
      case .double(let number): String(number)
      default: nil
      }
    return text.flatMap { (1...max).contains($0.utf8.count) ? $0 : nil }
  }

  /// A number; a text of digits is taken for one.
  static func integer(_ json: JSON?) -> Int64? { json?.int ?? json?.string.flatMap { Int64($0) } }
}
