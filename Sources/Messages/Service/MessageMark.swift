import StorageCore
import TreeModel

/// What an instance has seen of a campaign.
struct MessageMark: Sendable, Hashable {
  static let kind = "message_seen"
  /// Times of displays that are kept: caps count no more.
  private static let timesMax = 100
  private static let eventsMax = 20

  var variant: String?
  var displays: Int64 = 0
  /// Of the displays, oldest first, in milliseconds since 1970.
  var times: [Int64] = []
  /// The events that were told last.
  var events: [String] = []
  var clickedAt: Int64?
  var convertedAt: Int64?

  static func key(_ instance: String, _ campaign: String) -> String { "\(instance)/\(campaign)" }

  init() {}

  init?(stored text: String) {
    guard let json = try? JSONParser.parse(text), let displays = json["displays"]?.int else { return nil }
    self.displays = displays
    variant = json["variant"]?.string
    times = json["times"]?.array?.compactMap(\.int) ?? []
    events = json["events"]?.array?.compactMap(\.string) ?? []
    clickedAt = json["clicked"]?.int
    convertedAt = json["converted"]?.int
  }

  var stored: String {
    JSON(fields: [
      ("displays", .int(displays)), ("variant", variant.map(JSON.string)), ("times", .array(times.map(JSON.int))),
      ("events", .array(events.map(JSON.string))), ("clicked", clickedAt.map(JSON.int)),
      ("converted", convertedAt.map(JSON.int)),
    ]).compactText
  }

  mutating func show(at time: Int64, variant: String?, event: String?) {
    displays += 1
    times = Array((times + [time]).sorted().suffix(Self.timesMax))
    self.variant = variant
    if let event { events = Array((events + [event]).suffix(Self.eventsMax)) }
  }

  /// Whether the goal of a campaign was reached by what was seen of it, if it was not counted before.
  mutating func convert(_ goal: MessageConversion, hasURL: Bool, at now: Int64) -> Bool {
    guard let since = hasURL ? clickedAt : times.last, now - since <= Int64(goal.days) * 86_400_000,
      (convertedAt ?? .min) < since
    else { return false }
    convertedAt = now
    return true
  }
}

/// Writes marks and counts, on the writer.
struct MessageMarks {
  let session: any CommitSession
  let namespace: NamespaceID
  let time: Int64

  static let countKind = "message_count"

  func mark(_ instance: String, campaign: String) throws(StorageError) -> MessageMark {
    let key = MessageMark.key(instance, campaign)
    return try session.record(in: namespace, kind: MessageMark.kind, key: key).flatMap { MessageMark(stored: $0) }
      ?? MessageMark()
  }

  func put(_ mark: MessageMark, of instance: String, _ campaign: String) {
    let key = MessageMark.key(instance, campaign)
    session.put(KeyedRecordChange(kind: MessageMark.kind, key: key, value: mark.stored), in: namespace)
  }

  /// Adds to a count of the day.
  func count(_ key: MessageCountKey, by more: Int64 = 1) throws(StorageError) {
    let stored = try session.record(in: namespace, kind: Self.countKind, key: key.text).flatMap { Int64($0) } ?? 0
    session.put(KeyedRecordChange(kind: Self.countKind, key: key.text, value: String(stored + more)), in: namespace)
  }

  func convert(_ campaign: Campaign, instance: String) throws(StorageError) {
    guard let goal = campaign.document.conversion else { return }
    var mark = try mark(instance, campaign: campaign.id)
    let hasURL = campaign.document.content(of: mark.variant).hasURL
    guard mark.convert(goal, hasURL: hasURL, at: time) else { return }
    put(mark, of: instance, campaign.id)
    try count(MessageCountKey(campaign: campaign.id, time: time, variant: mark.variant, kind: .conversion))
  }
}

/// What is counted.
package enum MessageCount: String, Sendable, Hashable, CaseIterable {
  case served, impression, instance, click, dismissal, error, suppressed, control, conversion
  case testImpression = "test_impression"
  case testClick = "test_click"
}

/// What a count is about.
struct MessageCountKey: Sendable, Hashable {
  let campaign: String
  /// Since 1970, UTC.
  let day: Int64
  /// Empty without variants.
  let variant: String
  let kind: MessageCount
  /// The button, the way of dismissal, the reason; or empty.
  let detail: String

  init(campaign: String, time: Int64, variant: String?, kind: MessageCount, detail: String = "") {
    self.campaign = campaign
    day = time / 86_400_000
    self.variant = variant ?? ""
    self.kind = kind
    self.detail = detail
  }

  /// The key of its record: those of a campaign stand together, by day.
  var text: String {
    let digits = String(day)
    let day = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
    return "\(campaign)/\(day)/\(variant)/\(kind.rawValue)/\(detail)"
  }

  init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, let day = Int64(parts[1]), let kind = MessageCount(rawValue: parts[3]) else { return nil }
    self.init(campaign: parts[0], time: day * 86_400_000, variant: parts[2], kind: kind, detail: parts[4])
  }
}
