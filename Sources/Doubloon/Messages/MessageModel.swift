import Foundation
import TreeModel

/// Decides what is fetched, shown and counted. Knows no clock and does nothing: each function takes the time, and gives what is
/// to be done.
struct MessageModel: Sendable {
  /// Two clocks: that of the wall for dates, and one that never jumps for waiting. Milliseconds.
  struct Now: Sendable {
    var wall: Int64
    var uptime: Int64
  }

  /// A message on its way to the screen, or on it.
  struct Display: Sendable, Equatable {
    /// Counts the displays of this process.
    var number: Int
    var campaign: MessageCampaign
    var event: String?
    var trigger: MessageTrigger?
  }

  /// What is to be done, in this order.
  enum Effect: Sendable, Equatable {
    /// Write the records.
    case save
    /// Ask for campaigns, after what waits in the log.
    case fetch
    /// Send the lines of the log.
    case upload
    /// Load the pictures, and say so by ``loaded(_:failure:now:)``.
    case load(Display)
    case show(Display)
    /// Take it off the screen: its time is over, or the player wants none.
    case close(Display, InAppMessagingDismissType)
    /// It was seen for long enough: tell the app, then ``count(_:now:)``.
    case detected(Display)
    case failed(Display, InAppMessagingDisplayRenderError)
    case open(URL)
    /// Erase this installation at the server.
    case erase(MessageRecords.Installation)
    /// A line for the developer.
    case say(String)
  }

  /// What is shown, or being loaded.
  struct Showing: Sendable {
    var display: Display
    var isVisible = false
    /// When it began to be seen, by the clock that never jumps; nil while the app is in the background.
    var seenSince: Int64?
    /// How long it was seen before.
    var seen: Int64 = 0
    /// Whether the app was told, and whether it is counted.
    var isDetected = false
    var isCounted = false
    /// Whether it is being taken off the screen.
    var isClosing = false

    func seen(at uptime: Int64) -> Int64 { seen + (seenSince.map { uptime - $0 } ?? 0) }
  }

  /// Between two fetches where the server says nothing.
  static let fetchInterval: Int64 = 86_400_000
  /// How long an event of the app waits for the first answer.
  static let eventPatience: Int64 = 10_000
  static let waitingMax = 100
  /// Who was away for longer begins another session.
  static let sessionPause: Int64 = 1_800_000

  var records: MessageRecords
  /// What the configuration says of consent; nil if nothing.
  let configured: Bool?
  var isSuppressed = false
  /// Whether somebody draws messages.
  var hasComponent = false
  var isForeground = true
  /// While a screen reader runs nothing closes by itself.
  var screenReaderRuns = false
  var campaigns: [MessageCampaign] = []
  var showing: Showing?
  /// Events of the server's that wait for a display.
  var pending: [MessageEvent] = []
  var isUploading = false
  private(set) var isRunning = false
  private(set) var isFetching = false
  private var hasFetched = false
  private var mustFetchAgain = false
  private var failures = 0
  private var launchWaits = true
  private var foregroundWaits = false
  private var waiting: [(trigger: MessageTrigger, parameters: [String: JSON], deadline: Int64)] = []
  var nextNumber = 1
  /// When the app left the foreground.
  private var leftAt: Int64?
  private var impressionAfter: Int64 = 3000
  var bannerFor: Int64 = 12_000
  /// Between any two messages, and between two that nobody asked for.
  var minInterval: Int64 = 30_000
  var foregroundInterval: Int64 = 86_400_000

  /// - `records`: what the last run left. A display that was never counted is counted now: it was on the screen.
  init(_ records: MessageRecords, configured: Bool?) {
    self.records = records
    self.configured = configured
    if let begun = records.begun {
      log(begun, type: "IMPRESSION", at: begun.time)
      self.records.noteDisplay(begun)
      self.records.begun = nil
    }
    if let answer = records.answer.flatMap({ try? JSONParser.parse($0) }) { take(MessageAnswer(answer)) }
  }

  /// The player's consent: what was decided, else what the configuration says, else yes.
  var isOn: Bool { records.automaticDataCollectionEnabled ?? configured ?? true }
  /// Whether the server should be listened to.
  var wantsStream: Bool { isOn && isRunning && isForeground && hasFetched }
}

// MARK: What happens

extension MessageModel {
  /// The player, or the game for them, decides. On begins at the next foreground or event.
  mutating func setOn(_ isOn: Bool) -> [Effect] {
    let wasOn = self.isOn
    records.automaticDataCollectionEnabled = isOn
    guard wasOn, !isOn else { return [.save] }
    var effects: [Effect] = []
    if let showing, showing.isVisible { effects.append(.close(showing.display, .unspecified)) }
    if let installation = records.installation { effects.append(.erase(installation)) }
    records.forget()
    (campaigns, pending, waiting, showing) = ([], [], [], nil)
    (isRunning, hasFetched, isFetching, launchWaits, failures) = (false, false, false, true, 0)
    return effects + [.save]
  }

  /// The app comes to the foreground.
  mutating func foreground(_ now: Now) -> [Effect] {
    isForeground = true
    if let one = showing, one.isVisible, one.seenSince == nil { showing?.seenSince = now.uptime }
    guard isOn else { return [] }
    isRunning = true
    foregroundWaits = true
    let effects = beginSession(now)
    guard !isFetching else { return effects }
    return effects + (isFetchDue(now) ? startFetch() : arrive(now))
  }

  /// The first start of the app, and the start of a session, are events of their own.
  private mutating func beginSession(_ now: Now) -> [Effect] {
    var effects: [Effect] = []
    if records.hasOpened != true {
      records.hasOpened = true
      effects += logEvent("first_open", parameters: [:], now: now)
    }
    let isSame = leftAt.map { isWithin(Self.sessionPause, of: $0, now) } ?? false
    return effects + (isSame ? [] : logEvent("session_start", parameters: [:], now: now))
  }

  /// Another player is signed in, or none.
  mutating func playerChanged() -> [Effect] { isRunning ? refresh() : [] }

  /// The app leaves the foreground: what waits for the server goes now.
  mutating func background(_ now: Now) -> [Effect] {
    isForeground = false
    leftAt = now.wall
    if let since = showing?.seenSince {
      showing?.seen += now.uptime - since
      showing?.seenSince = nil
    }
    guard isOn, !records.lines.isEmpty, !isUploading else { return [] }
    isUploading = true
    return [.upload]
  }

  /// An event of the app's.
  mutating func event(_ name: String, parameters: [String: JSON], now: Now) -> [Effect] {
    guard isOn else { return [.say("The event \(name) triggers nothing: messages are off.")] }
    isRunning = true
    var effects: [Effect] = []
    if !hasFetched, !isFetching { effects = isFetchDue(now) ? startFetch() : arrive(now) }
    guard !hasFetched else { return effects + fire(.event(name), parameters: parameters, now: now) }
    if waiting.count < Self.waitingMax { waiting.append((.event(name), parameters, now.uptime + Self.eventPatience)) }
    return effects
  }

  /// The server has news, or the app wants to know.
  mutating func refresh() -> [Effect] {
    guard isOn else { return [] }
    isRunning = true
    return startFetch()
  }

  /// A fetch succeeded.
  ///
  /// - `asked`: the ids that the request said were seen: what comes back nevertheless may be shown again.
  mutating func fetched(_ text: String, asked: Set<String>, now: Now) -> [Effect] {
    guard isOn else { return [] }
    (isFetching, failures) = (false, 0)
    let answer = MessageAnswer((try? JSONParser.parse(text)) ?? [:])
    records.answer = text.utf8.count <= MessageRecords.answerMax ? text : nil
    let wait = answer.expiration.map { min(max($0, 0), 1 << 53) - now.wall } ?? 0
    records.nextFetch = now.wall + ((1...Self.waitMax).contains(wait) ? wait : Self.fetchInterval)
    for campaign in answer.campaigns where campaign.frequency == nil && asked.contains(campaign.id) {
      records.displays[campaign.id] = nil
    }
    take(answer)
    if mustFetchAgain { return [.save] + startFetch() + arrive(now) }
    return [.save] + arrive(now)
  }

  /// A fetch failed.
  ///
  /// - `retryAfter`: what the server asks for, in milliseconds.
  mutating func fetchFailed(retryAfter: Int64?, now: Now) -> [Effect] {
    guard isFetching else { return [] }
    (isFetching, mustFetchAgain) = (false, false)
    failures += 1
    let own = min(Int64(60_000) << Int64(min(failures - 1, 8)), 960_000)
    records.nextFetch = now.wall + max(own, min(retryAfter ?? 0, Self.fetchInterval))
    return [.save]
  }

  /// Time passes: what is due happens. ``wakes(after:)`` says when the next is.
  mutating func tick(_ now: Now) -> [Effect] {
    var effects: [Effect] = []
    guard isOn else { return [] }
    if let one = showing, one.isVisible, one.seenSince != nil {
      if one.seen(at: now.uptime) >= impressionAfter, !one.isDetected {
        showing?.isDetected = true
        effects.append(.detected(one.display))
      }
      if closes(one), one.seen(at: now.uptime) >= bannerFor {
        showing?.isClosing = true
        effects.append(.close(one.display, .typeAuto))
      }
    }
    if isRunning, isForeground, isFetchDue(now) { effects += startFetch() }
    let due = waiting.filter { $0.deadline <= now.uptime }
    waiting.removeAll { $0.deadline <= now.uptime }
    for one in due { effects += fire(one.trigger, parameters: one.parameters, now: now) }
    if isRunning { effects += showPending(now) }
    if isUploadDue(now) {
      isUploading = true
      effects.append(.upload)
    }
    return effects
  }

  /// Milliseconds until ``tick(_:)`` has something to do; nil for never.
  func wakes(after now: Now) -> Int64? {
    guard isOn else { return nil }
    var waits = waiting.map { $0.deadline - now.uptime }
    if let showing, showing.isVisible, showing.seenSince != nil {
      if !showing.isDetected { waits.append(impressionAfter - showing.seen(at: now.uptime)) }
      if closes(showing) { waits.append(bannerFor - showing.seen(at: now.uptime)) }
    }
    if isRunning, isForeground, !isFetching { waits.append(records.nextFetch - now.wall) }
    if isRunning, showing == nil, canShow, !pending.isEmpty, let last = records.lastDisplay, now.wall < last + minInterval {
      waits.append(last + minInterval - now.wall)
    }
    if isRunning, !isUploading, !records.lines.isEmpty { waits.append(records.nextLog - now.wall) }
    return waits.min().map { max($0, 0) }
  }

  private static let waitMax: Int64 = 3 * 86_400_000
  var canShow: Bool { hasComponent && !isSuppressed && isForeground }
  private func closes(_ one: Showing) -> Bool {
    one.display.campaign.content.type == .banner && !screenReaderRuns
  }

  private func isFetchDue(_ now: Now) -> Bool {
    // A clock that was set back must not keep an old answer for ever.
    !isFetching && (now.wall >= records.nextFetch || records.nextFetch > now.wall + Self.waitMax)
  }

  private mutating func startFetch() -> [Effect] {
    guard !isFetching else {
      mustFetchAgain = true
      return []
    }
    (isFetching, mustFetchAgain) = (true, false)
    return [.fetch]
  }

  private mutating func take(_ answer: MessageAnswer) {
    // The server may not know yet that a test was shown; it hears of it by the log.
    let shown = Set(records.lines.compactMap { $0.members.contains("TEST_MESSAGE_IMPRESSION") ? $0.campaign : nil })
    campaigns = answer.campaigns.filter { !$0.isTest || !(shown.contains($0.id) || showing?.display.campaign.id == $0.id) }
    pending = answer.events.filter { !records.shownEvents.contains($0.id) && $0.id != showing?.display.event }
    impressionAfter = answer.impressionAfter ?? impressionAfter
    bannerFor = answer.bannerFor ?? bannerFor
    minInterval = answer.minInterval ?? minInterval
    foregroundInterval = answer.foregroundInterval ?? foregroundInterval
  }

  /// The campaigns are there: what waited for them.
  private mutating func arrive(_ now: Now) -> [Effect] {
    hasFetched = true
    var effects: [Effect] = []
    if canShow, showing == nil, let test = campaigns.first(where: \.isTest) { effects += begin(test, now: now) }
    effects += showPending(now)
    let events = waiting
    waiting = []
    for one in events { effects += fire(one.trigger, parameters: one.parameters, now: now) }
    if launchWaits {
      launchWaits = false
      effects += fire(.launch, now: now)
    }
    if foregroundWaits {
      foregroundWaits = false
      effects += fire(.foreground, now: now)
    }
    return effects
  }
}

extension MessageRecords.LogRecord {
  /// The campaign that it is about.
  fileprivate var campaign: String? { (try? JSONParser.parse(members))?["campaign_id"]?.string }
}
