public import TreeModel

extension LinkRecord {
  /// As `managedShortLinks:create` shows it (spec: links-messaging §2).
  public var managed: JSON {
    [
      "link": .string(address), "linkName": .string(name ?? ""), "creationTime": .string(String(createdAt)),
      "visibility": "UNARCHIVED", "info": info,
    ]
  }

  /// As administrators see it.
  public var json: JSON {
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
  public var prefix: LinkPrefix? {
    LinkPrefix("https://" + key.split(separator: "/").dropLast(invite == nil ? 1 : 2).joined(separator: "/"))
  }

  /// The same link with everything it says in it.
  public var longLink: String { prefix.map { "\($0)/?\(canonical)" } ?? address }

  private var info: JSON {
    guard let prefix, let parameters else { return [:] }
    return LinkForm.json(parameters, below: prefix)
  }
}
