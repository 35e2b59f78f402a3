import Foundation
import TreeModel

/// What this device keeps of messages between two runs of the app. Times are milliseconds since 1970.
struct MessageRecords: Codable, Sendable, Equatable {
  /// Who this installation is to the server. A secret: who has the token answers in its name.
  struct Installation: Codable, Sendable, Equatable {
    var id: String
    var refreshToken: String
    var token: String
    var tokenEnds: Int64
  }

  /// A line for the server's count.
  struct LogRecord: Codable, Sendable, Equatable {
    /// Makes a second arrival of the same line count once.
    var key: String
    var time: Int64
    /// Members beside those that every line has, as compact JSON.
    var members: String
    /// Whether it is an event of the app's, which has its own address.
    var isConversion = false
  }

  /// Displays of a campaign, the newest ones: a cap needs no more.
  static let displaysMax = 50
  /// Campaigns that are remembered, those shown last.
  static let campaignsMax = 300
  /// Bytes of an answer that is kept: with all the rest the file stays below what is read again.
  static let answerMax = 300_000
  /// Lines that wait for a network.
  static let linesMax = 500
  /// Server events that were shown.
  static let eventsMax = 200
  /// How long a line waits before nobody wants it.
  static let lineLife: Int64 = 14 * 86_400_000

  /// The player's consent; nil where the player was not asked.
  var automaticDataCollectionEnabled: Bool?
  var installation: Installation?
  /// The last answer of a fetch, as it came.
  var answer: String?
  var nextFetch: Int64 = 0
  /// How far the server's clock is ahead of this device's.
  var clockOffset: Int64 = 0
  /// When campaigns were shown, by their id.
  var displays: [String: [Int64]] = [:]
  /// Ids of server events that were shown.
  var shownEvents: [String] = []
  /// The display that has begun and whose impression is not written yet: the app may be killed while it shows.
  var begun: Begun?
  /// When the last message began, and the last one that a launch or the foreground showed.
  var lastDisplay: Int64?
  var lastForegroundDisplay: Int64?
  var lines: [LogRecord] = []
  var nextLog: Int64 = 0
  /// The number of the next line.
  var lineNumber = 0
  /// Whether `first_open` was said.
  var hasOpened: Bool?

  struct Begun: Codable, Sendable, Equatable {
    var campaign: String
    var event: String?
    var variant: String?
    var isTest: Bool
    var time: Int64
  }

  /// Notes a display for the caps.
  mutating func noteDisplay(_ begun: Begun) {
    if let event = begun.event {
      shownEvents = Array((shownEvents + [event]).suffix(Self.eventsMax))
    }
    guard !begun.isTest else { return }
    displays[begun.campaign] = Array((displays[begun.campaign, default: []] + [begun.time]).suffix(Self.displaysMax))
    while displays.count > Self.campaignsMax, let oldest = displays.min(by: { $0.value.last ?? 0 < $1.value.last ?? 0 }) {
      displays[oldest.key] = nil
    }
  }

  /// A line for the server, after those before; the oldest go where too many wait.
  mutating func add(_ members: JSON, at time: Int64, key: String, isConversion: Bool = false) {
    lines.removeAll { $0.time < time - Self.lineLife }
    lines.append(LogRecord(key: key, time: time, members: members.compactText, isConversion: isConversion))
    lines = Array(lines.suffix(Self.linesMax))
  }

  /// Forgets everything but the decision, and that this is no first start: who took back their consent is nobody.
  mutating func forget() {
    let (decision, hasOpened) = (automaticDataCollectionEnabled, hasOpened)
    self = MessageRecords()
    (automaticDataCollectionEnabled, self.hasOpened) = (decision, hasOpened)
  }
}
