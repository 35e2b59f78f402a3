/// Checks the templates in a campaign's texts against the values that its events bring.
struct TemplateChecks {
  let document: CampaignDocument
  let faults: CampaignFaults

  /// Values of the server's own events, and whether they are always there.
  private static let ledger = [
    "currency": true, "amount": true, "code": true, "key": true, "balance": true, "function": false, "inviter": false,
    "invitee": false,
  ]
  private static let own: [String: [String: Bool]] = [
    "reward": ledger, "reward_held": ledger.merging(["reason": false]) { a, _ in a },
    "reward_released": ledger.merging(["reason": false]) { a, _ in a },
    "reward_reversed": ledger.merging(["reason": false]) { a, _ in a },
    "account_linked": ["provider": true, "wasAnonymous": true],
    "referral_claimed": ["inviter": false, "code": false, "campaign": false],
    "friend_joined": ["invitee": false, "code": false],
    "invite_opened": ["invite": true, "channel": false], "invite_converted": ["invite": true, "channel": false],
  ]

  func run() {
    check(document.content, at: "content")
    for (index, variant) in document.variants.enumerated() { check(variant.content, at: "variants[\(index)].content") }
  }

  private func check(_ content: MessageContent, at path: String) {
    for (language, texts) in content.texts.sorted(by: { $0.key < $1.key }) {
      for (name, text) in texts.named { check(text, at: "\(path).texts.\(language).\(name)") }
    }
    for (language, text) in content.imageAlt.sorted(by: { $0.key < $1.key }) { check(text, at: "\(path).imageAlt.\(language)") }
  }

  private func check(_ text: String, at path: String) {
    let template: MessageTemplate
    do {
      template = try MessageTemplate(text)
    } catch {
      return faults.refuse("TEMPLATE", at: path, error.message)
    }
    for (name, fallback) in template.values {
      guard let isSure = isSure(name) else {
        faults.refuse(
          "TEMPLATE", at: path,
          "No event of the campaign brings a value {{\(name)}}; there are \(known.joined(separator: ", ")).")
        continue
      }
      if !isSure, fallback == nil {
        faults.warn(
          "NO_FALLBACK", at: path,
          "{{\(name)}} may be missing, and then the message is not shown; write {{\(name)|something else}}.")
      }
    }
  }

  /// Whether a value is there whenever the message is; nil if no event brings it.
  private func isSure(_ name: String) -> Bool? {
    if name == "player.name" || document.variables[name] != nil { return false }
    var found: [Bool] = []
    for trigger in document.triggers {
      guard case .server(let event, _) = trigger else { continue }
      // What functions and administrators raise brings whatever they like.
      guard let values = Self.own[event] else {
        if CampaignDocument.isEventName(name) { found.append(false) }
        continue
      }
      if let isSure = values[name] { found.append(isSure) } else { found.append(false) }
    }
    let isKnown = document.triggers.contains {
      if case .server(let event, _) = $0 { Self.own[event].map { $0[name] != nil } ?? true } else { false }
    }
    guard isKnown else { return nil }
    return found.allSatisfy { $0 } && found.count == document.triggers.count
  }

  private var known: [String] {
    let values = document.serverTriggers.flatMap { Self.own[$0.name].map { Array($0.keys) } ?? [] }
    return (Set(values).union(document.variables.keys).union(["player.name"])).sorted()
  }
}
