import Foundation
import TreeModel

/// Which campaign shows.
extension MessageModel {
  /// Shows the first campaign whose trigger, time and caps hold.
  mutating func fire(_ trigger: MessageTrigger, parameters: [String: JSON] = [:], now: Now) -> [Effect] {
    let waits = campaigns.filter { $0.answers(trigger, parameters: parameters) && !$0.isTest }
    guard !waits.isEmpty else { return [] }
    if isSuppressed {
      for campaign in waits.prefix(1) { log(begun(campaign, event: nil, at: now.wall), type: "SUPPRESSED", at: now.wall) }
      return [.say("\(waits[0].name) is not shown: messages are suppressed.")]
    }
    guard hasComponent else { return [.say("\(waits[0].name) is not shown: there is no messageDisplayComponent.")] }
    guard isForeground, showing == nil else { return [.say("\(waits[0].name) is not shown: another message is.")] }
    if case .event = trigger {
    } else if let last = records.lastForegroundDisplay, isWithin(foregroundInterval, of: last, now) {
      return [.say("\(waits[0].name) is not shown: the foreground showed one within a day.")]
    }
    guard isApart(now) else { return [.say("\(waits[0].name) is not shown: too soon after the last one.")] }
    guard let chosen = waits.first(where: { isAllowed($0, at: now) }) else {
      return [.say("\(waits[0].name) is not shown: its time or its caps do not hold.")]
    }
    return begin(chosen, trigger: trigger, now: now)
  }

  /// Shows what waits for an event of the server's; the event stays until it can be shown.
  mutating func showPending(_ now: Now) -> [Effect] {
    guard canShow, showing == nil, isApart(now) else { return [] }
    for event in pending {
      let chosen = campaigns.first { campaign in
        campaign.eventID == event.id && campaign.answers(event.trigger, parameters: event.parameters)
          && isAllowed(campaign, at: now)
      }
      if let chosen { return begin(chosen, trigger: event.trigger, event: event.id, now: now) }
    }
    return []
  }

  private func isAllowed(_ campaign: MessageCampaign, at now: Now) -> Bool {
    guard campaign.start <= now.wall, now.wall <= campaign.end else { return false }
    return (campaign.frequency ?? .once).allows(after: records.displays[campaign.id] ?? [], at: now.wall)
  }

  /// A clock that was set back ends no interval, and begins none.
  func isWithin(_ interval: Int64, of last: Int64, _ now: Now) -> Bool {
    (0..<interval).contains(now.wall - last)
  }

  private func isApart(_ now: Now) -> Bool { records.lastDisplay.map { !isWithin(minInterval, of: $0, now) } ?? true }

  mutating func begin(
    _ campaign: MessageCampaign, trigger: MessageTrigger? = nil, event: String? = nil, now: Now
  ) -> [Effect] {
    if campaign.isControl {
      let begun = begun(campaign, event: event, at: now.wall)
      log(begun, type: "CONTROL", at: now.wall)
      records.noteDisplay(begun)
      pending.removeAll { $0.id == event }
      return [.save]
    }
    var campaign = campaign
    if campaign.content.type == .banner { campaign.presentation.dismissAfter = Double(bannerFor) / 1000 }
    let display = Display(number: nextNumber, campaign: campaign, event: event, trigger: trigger)
    nextNumber += 1
    showing = Showing(display: display)
    guard campaign.content.image == nil else { return [.load(display)] }
    return appear(now)
  }

  /// It goes onto the screen: from now on intervals count.
  mutating func appear(_ now: Now) -> [Effect] {
    guard let display = showing?.display else { return [] }
    showing?.isVisible = true
    showing?.seenSince = now.uptime
    records.lastDisplay = now.wall
    if display.trigger == .launch || display.trigger == .foreground { records.lastForegroundDisplay = now.wall }
    records.begun = begun(display.campaign, event: display.event, at: now.wall)
    if display.campaign.isTest { campaigns.removeAll { $0.isTest && $0.id == display.campaign.id } }
    if let event = display.event { pending.removeAll { $0.id == event } }
    return [.save, .show(display)]
  }
}
