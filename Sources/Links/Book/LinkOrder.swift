public import TreeModel

/// A link that is to be created.
public struct LinkOrder: Sendable {
  /// Where the link is to live.
  public let prefix: LinkPrefix
  /// What it is to say.
  public let parameters: LinkParameters
  /// How its suffix is chosen.
  public var option = LinkSuffix.Option.unguessable
  /// For ``LinkSuffix/Option/custom``.
  public var customSuffix: String?
  /// What an administrator calls it.
  public var name: String?
  /// The player who invites with it.
  public var owner: String?
  /// The invitation that it is made for; such a link is no duplicate of another, and lies below `i/`.
  public var invite: String?
  /// When it was created elsewhere; nil: now.
  public var createdAt: Int64?
  /// Whether it begins switched off: it was so where it comes from.
  var isDisabled = false
  let hasFragment: Bool

  public init(prefix: LinkPrefix, parameters: LinkParameters, hasFragment: Bool = false) {
    self.prefix = prefix
    self.parameters = parameters
    self.hasFragment = hasFragment
  }

  /// Reads the body of `POST /v1/shortLinks` (spec: links-messaging §2).
  public init(json: JSON, settings: LinkSettings) throws(LinkFault) {
    let (long, info) = (json["longDynamicLink"], json["dynamicLinkInfo"])
    switch (long, info) {
    case (let long?, nil):
      guard let text = long.string else { throw .invalid("longDynamicLink must be a text.") }
      let link = try LongLink(text, settings: settings)
      self.init(prefix: link.prefix, parameters: link.parameters, hasFragment: link.hasFragment)
    case (nil, let info?):
      let (prefix, parameters) = try LinkForm.read(info, settings: settings)
      self.init(prefix: prefix, parameters: parameters)
    default:
      throw .invalid("Set longDynamicLink (https://PREFIX/?link=…) or dynamicLinkInfo (an object). Expecting exactly one.")
    }
    guard let suffix = json["suffix"], !suffix.isNull else { return }
    guard suffix.object != nil else { throw .invalid("suffix must be an object: {\"option\": \"SHORT\"}.") }
    customSuffix = suffix["customSuffix"]?.string
    switch suffix["option"] {
    case nil, .null, "OPTION_UNSPECIFIED", 0: option = customSuffix == nil ? .unguessable : .custom
    case "UNGUESSABLE", 1: option = .unguessable
    case "SHORT", 2: option = .short
    case "CUSTOM", 3: option = .custom
    default: throw .invalid("suffix.option must be UNGUESSABLE, SHORT or CUSTOM.")
    }
  }
}
