import TreeModel

/// A short link as it is stored.
package struct LinkRecord: Sendable, Hashable {
  /// Of its place: prefix and suffix, `go.acme.test/r/aB3x`.
  package let key: String
  /// What it says, as ``LinkParameters/canonical``.
  package var canonical: String
  /// How its suffix was chosen.
  package let option: LinkSuffix.Option
  /// In milliseconds since 1970.
  package let createdAt: Int64
  /// What an administrator calls it; nil for links of apps.
  package var name: String?
  /// The player who invites with it; nil if what it says decides.
  package let owner: String?
  /// What can be typed in its place; nil if nobody invites with it.
  package let code: String?
  /// The invitation that it was made for.
  package let invite: String?
  /// When an administrator changed it last, in milliseconds since 1970; nil if nobody did.
  package var changedAt: Int64?
  /// Since when it is switched off: it opens nothing and names no inviter; nil if it is on.
  package var disabledAt: Int64?

  init(
    key: String, canonical: String, option: LinkSuffix.Option, createdAt: Int64, name: String?, owner: String?, code: String?,
    invite: String?
  ) {
    self.key = key
    self.canonical = canonical
    self.option = option
    self.createdAt = createdAt
    self.name = name
    self.owner = owner
    self.code = code
    self.invite = invite
  }

  /// The short link.
  package var address: String { "https://\(key)" }

  /// What it says; nil if the record is damaged.
  package var parameters: LinkParameters? { LinkParameters(canonical: canonical) }

  /// The prefix that it lies below.
  package var prefix: LinkPrefix? {
    LinkPrefix("https://" + key.split(separator: "/").dropLast(invite == nil ? 1 : 2).joined(separator: "/"))
  }

  /// The same link with everything it says in it.
  package var longLink: String { prefix.map { "\($0)/?\(canonical)" } ?? address }
}

extension LinkRecord {
  /// Reads the stored form; nil if it is damaged.
  init?(key: String, stored text: String) {
    guard let json = try? JSONParser.parse(text), let canonical = json["says"]?.string,
      let option = json["option"]?.string.flatMap(LinkSuffix.Option.init), let createdAt = json["at"]?.int
    else { return nil }
    self.init(
      key: key, canonical: canonical, option: option, createdAt: createdAt, name: json["name"]?.string,
      owner: json["owner"]?.string, code: json["code"]?.string, invite: json["invite"]?.string)
    changedAt = json["changed"]?.int
    disabledAt = json["disabled"]?.int
  }

  /// The stored form.
  var stored: String {
    var members: [JSON.Member] = [
      .init(key: "says", value: .string(canonical)), .init(key: "option", value: .string(option.rawValue)),
      .init(key: "at", value: .int(createdAt)),
    ]
    for (name, text) in [("name", name), ("owner", owner), ("code", code), ("invite", invite)] {
      if let text { members.append(.init(key: name, value: .string(text))) }
    }
    for (name, time) in [("changed", changedAt), ("disabled", disabledAt)] {
      if let time { members.append(.init(key: name, value: .int(time))) }
    }
    return JSON.object(members).compactText
  }
}
