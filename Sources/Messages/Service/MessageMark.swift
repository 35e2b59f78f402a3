import RewardModel
import StorageCore
import TreeModel

/// What an instance has seen of a campaign.
struct MessageMark: Sendable, Hashable {
  static let kind = "message_seen"
  /// Times of displays that are kept: caps count no more.
  private static let timesMax = 100
  private static let eventsMax = 20
  private static let grantsMax = 50

  var variant: String?
  var displays: Int64 = 0
  /// Of the displays, oldest first, in milliseconds since 1970.
  var times: [Int64] = []
  /// The events that were told last.
  var events: [String] = []
  var clickedAt: Int64?
  var convertedAt: Int64?
  /// The ledger entries that were counted last, by sequence.
  var grants: [Int64] = []

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
    grants = json["grants"]?.array?.compactMap(\.int) ?? []
  }

  var stored: String {
    JSON(fields: [
      ("displays", .int(displays)), ("variant", variant.map(JSON.string)), ("times", .array(times.map(JSON.int))),
      ("events", .array(events.map(JSON.string))), ("clicked", clickedAt.map(JSON.int)),
      ("converted", convertedAt.map(JSON.int)), ("grants", grants.isEmpty ? JSON?.none : .array(grants.map(JSON.int))),
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
    guard let since = opening(of: goal, hasURL: hasURL, at: now), (convertedAt ?? .min) < since else { return false }
    convertedAt = now
    return true
  }

  /// When the time began in which a goal counts; nil if it is over, or did not begin.
  private func opening(of goal: MessageConversion, hasURL: Bool, at now: Int64) -> Int64? {
    guard let since = hasURL ? clickedAt : times.last, now - since <= Int64(goal.days) * 86_400_000 else { return nil }
    return since
  }

  /// When the goal was reached, if what is granted now is granted within its time.
  func conversion(to goal: MessageConversion, hasURL: Bool, at now: Int64) -> Int64? {
    opening(of: goal, hasURL: hasURL, at: now).flatMap { since in convertedAt.flatMap { $0 >= since ? $0 : nil } }
  }

  mutating func grant(_ sequence: Int64) { grants = Array((grants + [sequence]).suffix(Self.grantsMax)) }
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
    let (sum, overflow) = stored.addingReportingOverflow(more)
    let value: String? = overflow ? String(more < 0 ? Int64.min : .max) : sum == 0 ? nil : String(sum)
    session.put(KeyedRecordChange(kind: Self.countKind, key: key.text, value: value), in: namespace)
  }

  func convert(_ campaign: Campaign, instance: String) throws(StorageError) {
    guard let goal = campaign.document.conversion else { return }
    var mark = try mark(instance, campaign: campaign.id)
    guard mark.convert(goal, hasURL: campaign.isClicked(in: mark.variant), at: time) else { return }
    put(mark, of: instance, campaign.id)
    try count(MessageCountKey(campaign: campaign.id, time: time, variant: mark.variant, kind: .conversion))
  }

  /// Counts coins for a campaign whose goal the player has reached, once: on the instance that reached it last.
  func grant(_ entry: LedgerEntry, _ campaign: Campaign, instances: [String]) throws(StorageError) {
    guard let goal = campaign.document.conversion else { return }
    var last: (instance: String, mark: MessageMark, at: Int64)?
    for instance in instances {
      let mark = try mark(instance, campaign: campaign.id)
      guard let at = mark.conversion(to: goal, hasURL: campaign.isClicked(in: mark.variant), at: time),
        at > last?.at ?? .min
      else { continue }
      last = (instance, mark, at)
    }
    guard let last else { return }
    var mark = last.mark
    mark.grant(entry.sequence)
    put(mark, of: last.instance, campaign.id)
    try count(coins(entry, campaign, mark), by: entry.transfer.amount)
  }

  /// Takes coins back from the day on which they were counted, if they were.
  func takeBack(_ original: LedgerEntry, _ campaign: Campaign, instances: [String]) throws(StorageError) {
    for instance in instances {
      var mark = try mark(instance, campaign: campaign.id)
      guard let place = mark.grants.firstIndex(of: original.sequence) else { continue }
      mark.grants.remove(at: place)
      put(mark, of: instance, campaign.id)
      try count(coins(original, campaign, mark), by: -original.transfer.amount)
    }
  }

  private func coins(_ entry: LedgerEntry, _ campaign: Campaign, _ mark: MessageMark) -> MessageCountKey {
    MessageCountKey(
      campaign: campaign.id, time: entry.time, variant: mark.variant, kind: .coins, detail: entry.transfer.unit)
  }
}

/// What is counted.
package enum MessageCount: String, Sendable, Hashable, CaseIterable {
  case served, impression, instance, click, dismissal, error, suppressed, control, conversion
  /// Granted to players who reached the goal, within its days; the detail is the currency.
  case coins
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
