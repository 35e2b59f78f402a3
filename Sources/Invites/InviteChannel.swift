/// A way to pass an invitation on (spec: links-messaging §5).
public enum InviteChannel: String, Sendable, Hashable, CaseIterable {
  /// A subject, a long text, HTML.
  case email
  /// A short text; no subject, no image.
  case sms
  /// The link and nothing else.
  case copy
  /// A short text with the link, for the system's own sharing.
  case share
  /// A link into another app that knows what to do with it; off unless it is configured.
  case partner

  /// What a button says.
  ///
  /// - Parameter locales: what the reader reads, the best first; English if nothing is known in any.
  public func name(in locales: [String]) -> String {
    let names = InvitePhrases.chosen(from: locales).words.channels
    return switch self {
    case .email: names.email
    case .sms: names.sms
    case .copy: names.copy
    case .share: names.share
    case .partner: names.partner
    }
  }

  /// What a button shows: a name that icon sets share.
  public var icon: String {
    switch self {
    case .email: "mail"
    case .sms: "message"
    case .copy: "link"
    case .share: "share"
    case .partner: "app"
    }
  }

  /// Whether it can be used on a device.
  ///
  /// - Parameters:
  ///   - device: `iphone`, `ipad`, `android`, `desktop`.
  ///   - canSendMail: whether a mail account is set up there.
  public func isAvailable(on device: String, canSendMail: Bool) -> Bool {
    switch self {
    case .email: canSendMail
    case .sms: device == "iphone" || device == "android"
    case .copy: true
    case .share: device != "desktop"
    case .partner: device != "desktop"
    }
  }
}
