package import TreeModel

/// An installed app, or a browser, that messages are shown in.
package struct MessageInstance: Sendable, Hashable {
  static let kind = "message_instance"
  /// By player, the instances, the one that was joined last at the end.
  static let playerKind = "message_player"
  /// Instances of a player that are kept; one that falls out is nobody's until it fetches again.
  static let listMax = 20

  /// 22 characters of base64url; never given to anybody but the app.
  package let id: String
  /// SHA-256 of the tokens, in hexadecimal digits; nil for one that was met in development.
  var tokenHash: String?
  var tokenExpires: Int64?
  var refreshHash: String?
  package var appID = ""
  package var platform = ""
  package var language = ""
  package var timeZone = ""
  package var appVersion = ""
  package var osVersion = ""
  /// The player who was signed in at the last fetch.
  package var uid: String?
  /// Milliseconds since 1970.
  package var firstSeen: Int64
  package var lastSeen: Int64
  /// Visits with half an hour and more between.
  package var sessions: Int64 = 0
  /// The day that ``logged`` is about, since 1970.
  var day: Int64 = 0
  /// What it has reported on that day.
  var logged: Int64 = 0

  init(id: String, at time: Int64) {
    self.id = id
    firstSeen = time
    lastSeen = time
  }

  /// For administrators: without hashes.
  package var json: JSON {
    JSON(fields: [
      ("instance", .string(id)), ("appId", .string(appID)), ("platform", .string(platform)), ("language", .string(language)),
      ("timeZone", .string(timeZone)), ("appVersion", .string(appVersion)), ("osVersion", .string(osVersion)),
      ("uid", uid.map(JSON.string)), ("firstSeen", .int(firstSeen)), ("lastSeen", .int(lastSeen)), ("sessions", .int(sessions)),
    ])
  }

  var stored: String {
    let own = JSON(fields: [
      ("token", tokenHash.map(JSON.string)), ("expires", tokenExpires.map(JSON.int)), ("refresh", refreshHash.map(JSON.string)),
      ("day", .int(day)), ("logged", .int(logged)),
    ])
    return JSON.object((json.object ?? []) + (own.object ?? [])).compactText
  }

  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let id = json["instance"]?.string, let first = json["firstSeen"]?.int,
      let last = json["lastSeen"]?.int
    else { return nil }
    self.init(id: id, at: first)
    lastSeen = last
    tokenHash = json["token"]?.string
    tokenExpires = json["expires"]?.int
    refreshHash = json["refresh"]?.string
    appID = json["appId"]?.string ?? ""
    platform = json["platform"]?.string ?? ""
    language = json["language"]?.string ?? ""
    timeZone = json["timeZone"]?.string ?? ""
    appVersion = json["appVersion"]?.string ?? ""
    osVersion = json["osVersion"]?.string ?? ""
    uid = json["uid"]?.string
    sessions = json["sessions"]?.int ?? 0
    day = json["day"]?.int ?? 0
    logged = json["logged"]?.int ?? 0
  }

  /// Whether a text has the form of an id.
  package static func isID(_ text: String) -> Bool { (1...64).contains(text.utf8.count) && CampaignDocument.isID(text) }

  /// The instances of a player.
  static func list(stored text: String) -> [String] {
    (try? JSONParser.parse(text))?.array?.compactMap(\.string) ?? []
  }

  static func stored(list: [String]) -> String { JSON.array(list.suffix(listMax).map(JSON.string)).compactText }
}
