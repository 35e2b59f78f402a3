package import TreeModel

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

  /// Reads ``value``; nil if it is damaged.
  init?(key: String, value: String) {
    guard let json = try? JSONParser.parse(value), let canonical = json["says"]?.string,
      let option = json["option"]?.string.flatMap(LinkSuffix.Option.init), let createdAt = json["at"]?.int
    else { return nil }
    self.init(
      key: key, canonical: canonical, option: option, createdAt: createdAt, name: json["name"]?.string,
      owner: json["owner"]?.string, code: json["code"]?.string, invite: json["invite"]?.string)
    changedAt = json["changed"]?.int
    disabledAt = json["disabled"]?.int
  }

  /// As it is stored.
  var value: String {
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
    return JSON.object(members).text
  }

  /// The short link.
  package var address: String { "https://\(key)" }

  /// What it says; nil if the record is damaged.
  package var parameters: LinkParameters? { LinkParameters(canonical: canonical) }
}

extension JSON {
  /// As text on one line.
  var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension LinkRecord {
  /// As `managedShortLinks:create` shows it (spec: links-messaging §2).
  package var managed: JSON {
    [
      "link": .string(address), "linkName": .string(name ?? ""), "creationTime": .string(String(createdAt)),
      "visibility": "UNARCHIVED", "info": info,
    ]
  }

  /// As administrators see it.
  package var json: JSON {
    var members: [JSON.Member] = [
      .init(key: "shortLink", value: .string(address)), .init(key: "longLink", value: .string(longLink)),
      .init(key: "option", value: .string(option.rawValue)), .init(key: "createdAt", value: .int(createdAt)),
    ]
    for (key, text) in [("name", name), ("inviter", owner), ("code", code), ("invitation", invite)] {
      if let text { members.append(.init(key: key, value: .string(text))) }
    }
    for (key, time) in [("changedAt", changedAt), ("disabledAt", disabledAt)] {
      if let time { members.append(.init(key: key, value: .int(time))) }
    }
    members.append(.init(key: "info", value: info))
    return .object(members)
  }

  /// The prefix that it lies below.
  package var prefix: LinkPrefix? {
    LinkPrefix("https://" + key.split(separator: "/").dropLast(invite == nil ? 1 : 2).joined(separator: "/"))
  }

  /// The same link with everything it says in it.
  package var longLink: String { prefix.map { "\($0)/?\(canonical)" } ?? address }

  private var info: JSON {
    guard let prefix, let parameters else { return [:] }
    return LinkForm.json(parameters, below: prefix)
  }
}
