import Foundation
import TreeModel

/// What becomes of a message on the screen, and what is counted of it.
extension MessageModel {
  /// The pictures are there, or one is not.
  mutating func loaded(_ number: Int, failure: InAppMessagingDisplayRenderError?, now: Now) -> [Effect] {
    guard let one = showing, one.display.number == number, !one.isVisible else { return [] }
    if let failure { return [.failed(one.display, failure)] }
    guard !isSuppressed, isForeground, hasComponent else {
      // Nobody saw it: neither a display nor the begin of an interval. An event of the server's waits on.
      showing = nil
      log(begun(one.display.campaign, event: nil, at: now.wall), type: "SUPPRESSED", at: now.wall)
      return [.save, .say("\(one.display.campaign.name) is not shown: messages were suppressed while its picture was loaded.")]
    }
    return appear(now)
  }

  /// Nobody draws it: what did is gone.
  mutating func gone(_ number: Int) -> [Effect] {
    guard isShowing(number) else { return [] }
    (showing, hasComponent, records.begun) = (nil, false, nil)
    return [
      .save, .say("A message is not shown: the messageDisplayComponent is gone; it is held weakly, keep it in a property."),
    ]
  }

  /// Whether a component's word that it was seen is news.
  mutating func takesImpression(_ number: Int) -> Bool {
    guard isShowing(number), showing?.isDetected == false else { return false }
    showing?.isDetected = true
    return true
  }

  /// Whether a callback of a component is about what is shown.
  func isShowing(_ number: Int) -> Bool { showing?.display.number == number }

  /// It was seen for long enough, or the player did something with it: counted once.
  mutating func count(_ number: Int, now: Now) -> [Effect] {
    guard let one = showing, one.display.number == number, one.isVisible, !one.isCounted else { return [] }
    showing?.isDetected = true
    showing?.isCounted = true
    let begun = records.begun ?? begun(one.display.campaign, event: one.display.event, at: now.wall)
    log(begun, type: "IMPRESSION", at: now.wall)
    records.noteDisplay(begun)
    records.begun = nil
    // The server takes what was shown from the player's other devices, too.
    if begun.event != nil || begun.isTest { records.nextLog = min(records.nextLog, now.wall) }
    return [.save]
  }

  /// The player followed it. A click that leads nowhere closes it.
  mutating func clicked(_ number: Int, by action: InAppMessagingAction, now: Now) -> [Effect] {
    guard let one = showing, one.display.number == number else { return [] }
    var effects = count(number, now: now)
    showing = nil
    guard let url = action.actionURL else { return effects }
    log(
      begun(one.display.campaign, event: one.display.event, at: now.wall), type: "CLICK", at: now.wall,
      more: ["action": .string(action.role.rawValue), "action_url": .string(url.absoluteString)])
    effects += [.save, .open(url)]
    return effects
  }

  /// It was closed.
  mutating func dismissed(_ number: Int, as type: InAppMessagingDismissType, now: Now) -> [Effect] {
    guard let one = showing, one.display.number == number else { return [] }
    let effects = count(number, now: now)
    showing = nil
    let name: String? =
      switch type {
      case .typeAuto: "AUTO"
      case .typeUserSwipe: "SWIPE"
      case .typeUserTapClose: "CLICK"
      case .unspecified: nil
      }
    if let name {
      log(
        begun(one.display.campaign, event: one.display.event, at: now.wall), members: ["dismiss_type": .string(name)],
        at: now.wall)
    }
    return effects + [.save]
  }

  /// It could not be shown: it leaves the campaigns until the next fetch, and the next one that waits for the trigger may show.
  mutating func failed(_ number: Int, with error: InAppMessagingDisplayRenderError, now: Now) -> [Effect] {
    guard let one = showing, one.display.number == number else { return [] }
    let campaign = one.display.campaign
    showing = nil
    records.begun = nil
    campaigns.removeAll { $0.id == campaign.id }
    let reason = error.reason
    log(begun(campaign, event: nil, at: now.wall), members: ["render_error_reason": .string(reason)], at: now.wall)
    guard !one.isVisible, let trigger = one.display.trigger else { return [.save] }
    return [.save] + (one.display.event == nil ? fire(trigger, now: now) : tick(now))
  }

  // MARK: The log

  func begun(_ campaign: MessageCampaign, event: String?, at time: Int64) -> MessageRecords.Begun {
    MessageRecords.Begun(
      campaign: campaign.id, event: event, variant: campaign.variant, isTest: campaign.isTest, time: time)
  }

  /// A line of the server's count. Of a test only what was seen and followed counts.
  mutating func log(
    _ begun: MessageRecords.Begun, type: String, at time: Int64, more: KeyValuePairs<String, JSON> = [:]
  ) {
    let isKnown = type == "IMPRESSION" || type == "CLICK"
    guard isKnown || !begun.isTest else { return }
    let name = (begun.isTest ? "TEST_MESSAGE_" : "") + type + "_EVENT_TYPE"
    log(
      begun, members: [.init(key: "event_type", value: .string(name))] + more.map { .init(key: $0.key, value: $0.value) },
      at: time)
  }

  private mutating func log(_ begun: MessageRecords.Begun, members: KeyValuePairs<String, JSON>, at time: Int64) {
    guard !begun.isTest else { return }
    log(begun, members: members.map { .init(key: $0.key, value: $0.value) }, at: time)
  }

  private mutating func log(_ begun: MessageRecords.Begun, members: [JSON.Member], at time: Int64) {
    var all = [JSON.Member(key: "campaign_id", value: .string(begun.campaign))] + members
    if let event = begun.event { all.append(.init(key: "doubloon_event_id", value: .string(event))) }
    if let variant = begun.variant { all.append(.init(key: "variant", value: .string(variant))) }
    add(all, at: time)
  }

  private mutating func add(_ members: [JSON.Member], at time: Int64) {
    guard isOn else { return }
    records.lineNumber += 1
    records.add(.object(members), at: time, key: "\(time)-\(records.lineNumber)")
  }

  /// An event of the app's, for conversions.
  mutating func logEvent(_ name: String, parameters: [String: JSON], now: Now) -> [Effect] {
    guard isOn else { return [] }
    let values = parameters.sorted { $0.key < $1.key }.map { JSON.Member(key: $0.key, value: $0.value) }
    records.lineNumber += 1
    records.add(
      ["name": .string(name), "params": .object(values)], at: now.wall, key: "\(now.wall)-\(records.lineNumber)",
      isConversion: true)
    return [.save] + event(name, parameters: parameters, now: now)
  }

  func isUploadDue(_ now: Now) -> Bool {
    isOn && isRunning && !isUploading && !records.lines.isEmpty && now.wall >= records.nextLog
  }

  /// The server took these lines, or will never take them; the others wait.
  ///
  /// - `wait`: until the next batch, as the server asks; nil for five minutes, and an hour after a failure.
  mutating func uploaded(_ keys: Set<String>, wait: Int64?, now: Now) -> [Effect] {
    isUploading = false
    records.lines.removeAll { keys.contains($0.key) }
    records.nextLog = now.wall + min(max(wait ?? 0, 300_000), 43_200_000)
    // Another event may wait for the campaign that has just been shown.
    return [.save] + (pending.isEmpty || keys.isEmpty ? [] : refresh())
  }

  /// There was nothing to send after all.
  mutating func nothingToUpload() -> [Effect] {
    isUploading = false
    return []
  }
}
