import ClientRuntime
import Foundation
import TextFormats
import TreeModel

/// The requests about messages, as Firebase's SDK makes them, with our members beside.
struct MessageWire: Sendable {
  static let answerMax = 1 << 20
  /// Lines of a batch.
  static let batchMax = 50
  /// A token that ends sooner is renewed.
  static let tokenMargin: Int64 = 3_600_000
  private static let client = "swift/1"

  let runtime: AppRuntime

  /// What a server said.
  struct Reply: Sendable {
    let response: HTTPResponse

    var isTaken: Bool { (200..<300).contains(response.status) }
    /// Whether sending it again is no use.
    var isRefused: Bool { response.status == 400 || response.status == 413 }
    var json: JSON { (try? JSONParser.parse(response.body, depthMax: 32, valuesMax: 1 << 17)) ?? [:] }
    /// In milliseconds, a day at most.
    var retryAfter: Int64? { response["retry-after"].flatMap { Int64($0) }.map { min(max($0, 0), 86_400) * 1000 } }
    var nextWait: Int64? { json["next_request_wait_millis"]?.number }

    /// The answer, if it is one.
    func text(bytesMax: Int) -> String? {
      guard isTaken, response.body.count <= bytesMax, json.object != nil else { return nil }
      return String(decoding: response.body, as: UTF8.self)
    }

    /// The server's clock, in milliseconds since 1970, by whole seconds.
    var date: Int64? {
      guard let text = response["date"] else { return nil }
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = TimeZone(secondsFromGMT: 0)
      format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
      return format.date(from: text).map { Int64($0.timeIntervalSince1970 * 1000) }
    }
  }

  // MARK: The installation

  /// A new token for an installation, or a new installation.
  func install(_ known: MessageRecords.Installation?) async throws -> MessageRecords.Installation {
    if let known {
      let reply = try await send("POST", to: path(known) + "/authTokens:generate", body: [:], refresh: known)
      if reply.isTaken, let token = reply.json["token"]?.string {
        return installation(known.id, refresh: known.refreshToken, token: token, in: reply.json)
      }
    }
    let body: JSON = [
      "fid": .string(Self.newID()), "appId": .string(appID), "authVersion": "FIS_v2", "sdkVersion": .string("d:\(Self.client)"),
    ]
    let reply = try await send("POST", to: "/v1/projects/\(project)/installations", body: body)
    let json = reply.json
    guard reply.isTaken, let id = json["fid"]?.string, let refresh = json["refreshToken"]?.string,
      let auth = json["authToken"], let token = auth["token"]?.string
    else { throw TransportError(.badResponse, "The server registers no installation (status \(reply.response.status)).") }
    return installation(id, refresh: refresh, token: token, in: auth)
  }

  private func installation(_ id: String, refresh: String, token: String, in json: JSON) -> MessageRecords.Installation {
    let seconds = json["expiresIn"]?.string.flatMap { Int64($0.filter(\.isNumber)) } ?? 604_800
    return MessageRecords.Installation(
      id: id, refreshToken: refresh, token: token, tokenEnds: runtime.clock.milliseconds + min(seconds, 31_536_000) * 1000)
  }

  /// Forgets an installation at the server; one that does not arrive is pruned by the server when it is unused.
  func erase(_ installation: MessageRecords.Installation) async {
    _ = try? await send("DELETE", to: path(installation), body: nil, refresh: installation)
  }

  /// 22 letters of base64url, of which the first four bits are 0111.
  static func newID() -> String {
    var bytes = (0..<17).map { _ in UInt8.random(in: .min ... .max) }
    bytes[0] = 0x70 | bytes[0] & 0x0F
    return String(Base64.encode(bytes, as: .url).prefix(22))
  }

  // MARK: Campaigns and counts

  func fetch(
    _ installation: MessageRecords.Installation, displays: [String: [Int64]], bearer: String?
  ) async throws -> Reply {
    let seen: [JSON] = displays.sorted { $0.key < $1.key }.prefix(1000).compactMap { id, times in
      times.last.map { ["campaign_id": .string(id), "impression_timestamp_millis": .int($0)] }
    }
    let os = ProcessInfo.processInfo.operatingSystemVersion
    let language = Locale.preferredLanguages.first ?? Locale.current.identifier
    let version = Bundle.main.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String
    let body: JSON = [
      "requesting_client_app": [
        "gmp_app_id": .string(appID), "app_instance_id": .string(installation.id),
        "app_instance_id_token": .string(installation.token),
      ],
      "already_seen_campaigns": .array(seen),
      "client_signals": [
        "app_version": version.map { .string($0) } ?? .null,
        "platform_version": .string("\(os.majorVersion).\(os.minorVersion).\(os.patchVersion)"),
        "language_code": .string(language.replacing("_", with: "-")), "time_zone": .string(TimeZone.current.identifier),
      ],
    ]
    return try await send(
      "POST", to: "/v1/sdkServing/projects/\(project)/eligibleCampaigns:fetch", body: body, token: installation.token,
      bearer: bearer)
  }

  /// Sends lines of one kind: those of the first.
  func send(_ lines: [MessageRecords.LogRecord], of installation: MessageRecords.Installation) async throws -> Reply {
    if lines.allSatisfy(\.isConversion) {
      let events: [JSON] = lines.map { line in
        let members = (try? JSONParser.parse(line.members))?.object ?? []
        return .object(members + [.init(key: "at", value: .int(line.time)), .init(key: "key", value: .string(line.key))])
      }
      let body: JSON = ["instance": .string(installation.id), "events": .array(events)]
      return try await send("POST", to: "/v1/messages/conversions", body: body, token: installation.token)
    }
    let events: [JSON] = lines.map { line in
      ["event_time_ms": .int(line.time), "source_extension_json": .string(text(of: line, in: installation))]
    }
    let body: JSON = [
      "client_info": ["client_type": 15, "ios_client_info": ["os_major_version": "0"]],
      "log_source": "FIREBASE_INAPPMESSAGING", "request_time_ms": .int(runtime.clock.milliseconds), "log_event": .array(events),
    ]
    return try await send("POST", to: "/v1/messages/log?format=json_proto", body: body, token: installation.token)
  }

  private func text(of line: MessageRecords.LogRecord, in installation: MessageRecords.Installation) -> String {
    let members = (try? JSONParser.parse(line.members))?.object ?? []
    let app: JSON = ["google_app_id": .string(appID), "firebase_instance_id": .string(installation.id)]
    let all: [JSON.Member] = [
      .init(key: "project_number", value: .string(project)), .init(key: "client_app", value: app),
      .init(key: "client_timestamp_millis", value: .int(line.time)),
      .init(key: "fiam_sdk_version", value: .string(Self.client)), .init(key: "doubloon_key", value: .string(line.key)),
    ]
    return JSON.object(all + members).compactText
  }

  /// The stream of the server's events.
  func events(
    _ installation: MessageRecords.Installation, bearer: String?
  ) async throws -> AsyncThrowingStream<StreamEvent, any Error> {
    let request = try request(
      "GET", to: "/v1/messages/events?instance=\(PercentEncoding.encode(installation.id))", body: nil,
      headers: [("x-goog-firebase-installations-auth", installation.token)]
        + (bearer.map { [("Authorization", "Bearer \($0)")] } ?? []))
    return try await runtime.http.events(request)
  }

  // MARK: Sending

  private func send(
    _ method: String, to target: String, body: JSON?, token: String? = nil, bearer: String? = nil,
    refresh: MessageRecords.Installation? = nil
  ) async throws -> Reply {
    var headers: HTTPFields = []
    if let token { headers.append(("x-goog-firebase-installations-auth", token)) }
    if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
    if let refresh { headers.append(("Authorization", "FIS_v2 \(refresh.refreshToken)")) }
    return Reply(response: try await runtime.http.send(try request(method, to: target, body: body, headers: headers)))
  }

  private func request(_ method: String, to target: String, body: JSON?, headers: HTTPFields) throws -> HTTPRequest {
    guard let server = runtime.server else {
      throw TransportError(.badAddress, "No app is configured: call FirebaseApp.configure() first.")
    }
    let members = runtime.options.copy
    var all: HTTPFields = [("X-Doubloon-Client", Self.client)]
    if !members.bundleID.isEmpty { all.append(("X-Ios-Bundle-Identifier", members.bundleID)) }
    let key = PercentEncoding.encode(members.apiKey.flatMap { $0.isEmpty ? nil : $0 } ?? "none")
    return HTTPRequest(
      method, target + (target.contains("?") ? "&" : "?") + "key=\(key)", at: server, headers: all + headers,
      body: body.map { Array($0.compactText.utf8) }, responseBytesMax: Self.answerMax)
  }

  private func path(_ installation: MessageRecords.Installation) -> String {
    "/v1/projects/\(project)/installations/\(PercentEncoding.encode(installation.id))"
  }

  /// The project's number, as the app's id or the options have it.
  private var project: String {
    let members = runtime.options.copy
    let parts = members.googleAppID.split(separator: ":")
    let number = members.gcmSenderID.isEmpty && parts.count > 1 ? String(parts[1]) : members.gcmSenderID
    return !number.isEmpty && number.utf8.allSatisfy { (48...57).contains($0) } ? number : "1"
  }

  private var appID: String {
    let id = runtime.options.copy.googleAppID
    #if os(Linux)
      return id.isEmpty ? "1:\(project):linux:0" : id
    #else
      return id.isEmpty ? "1:\(project):ios:0" : id
    #endif
  }
}
