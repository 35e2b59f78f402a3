import TreeModel

/// A short link as it is stored.
public struct LinkRecord: Sendable, Hashable {
  /// Of its place: prefix and suffix, `go.acme.test/r/aB3x`.
  public let key: String
  /// What it says, as ``LinkParameters/canonical``.
  public var canonical: String
  /// How its suffix was chosen.
  public let option: LinkSuffix.Option
  /// In milliseconds since 1970.
  public let createdAt: Int64
  /// What an administrator calls it; nil for links of apps.
  public var name: String?
  /// The player who invites with it; nil if what it says decides.
  public let owner: String?
  /// What can be typed in its place; nil if nobody invites with it.
  public let code: String?
  /// The invitation that it was made for.
  public let invite: String?
  /// When an administrator changed it last, in milliseconds since 1970; nil if nobody did.
  public var changedAt: Int64?
  /// Since when it is switched off: it opens nothing and names no inviter; nil if it is on.
  public var disabledAt: Int64?

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
  public var address: String { "https://\(key)" }

  /// What it says; nil if the record is damaged.
  public var parameters: LinkParameters? { LinkParameters(canonical: canonical) }
}

extension JSON {
  /// As text on one line.
  var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
