import TreeModel

/// A short link as it is stored.
public struct LinkRecord: Sendable, Hashable {
  /// Of its place: prefix and suffix, `go.acme.test/r/aB3x`.
  public let key: String
  /// What it says, as ``LinkParameters/canonical``.
  public let canonical: String
  /// How its suffix was chosen.
  public let option: LinkSuffix.Option
  /// In milliseconds since 1970.
  public let createdAt: Int64
  /// What an administrator calls it; nil for links of apps.
  public let name: String?
  /// The player who invites with it; nil if what it says decides.
  public let owner: String?
  /// What can be typed in its place; nil if nobody invites with it.
  public let code: String?
  /// The invitation that it was made for.
  public let invite: String?

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
