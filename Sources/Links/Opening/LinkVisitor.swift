/// Who opens a link, as far as the `User-Agent` tells.
package struct LinkVisitor: Sendable, Hashable {
  /// What kind of device.
  package enum Device: String, Sendable, Hashable {
    case android, iphone, ipad, desktop, other
  }

  /// What the link is opened on, as the agent says; where it may be an iPad or a Mac, a desktop until its page has told.
  package private(set) var device: Device
  /// Whether a desktop may be an iPad: Safari there says that it is a Mac, and only a page can tell.
  package private(set) var mayBeIPad: Bool
  /// Whether it is a program that makes a card of the link, for people to look at.
  package let isCrawler: Bool
  /// Firefox on Android goes to the fallback of an `intent:` although the app is there.
  package let isFirefox: Bool
  /// `17.2`; empty if it is not said.
  package let systemVersion: String

  /// A desktop.
  static let desktop = LinkVisitor(userAgent: "Mozilla/5.0 (X11; Linux x86_64)")

  private static let crawlers = [
    "facebookexternalhit", "facebot", "twitterbot", "slackbot", "whatsapp", "telegrambot", "linkedinbot", "discordbot",
    "applebot", "pinterest", "skypeuripreview", "vkshare", "redditbot", "googlebot", "bingbot", "embedly", "iframely",
    "mastodon", "bot/", "bot;", "crawler", "spider", "snapchat-proxy", "viber/", "line-poker",
  ]

  /// Reads a `User-Agent`; an empty one is nobody in particular.
  package init(userAgent: String) {
    let agent = userAgent.prefix(1024).lowercased()
    isCrawler = Self.crawlers.contains { agent.contains($0) }
    isFirefox = agent.contains("firefox/")
    if agent.contains("ipad") {
      device = .ipad
    } else if agent.contains("iphone") || agent.contains("ipod") {
      device = .iphone
    } else if agent.contains("macintosh"), ["crios/", "fxios/", "edgios/"].contains(where: { agent.contains($0) }) {
      // Apple's systems alone have these; their Macs have the browsers' other editions.
      device = .ipad
    } else if agent.contains("android") {
      device = .android
    } else if ["windows nt", "macintosh", "x11;", "x11 ", "cros ", "linux x86"].contains(where: { agent.contains($0) }) {
      device = .desktop
    } else {
      device = .other
    }
    mayBeIPad =
      device == .desktop && agent.contains("macintosh") && agent.contains("version/") && agent.contains("safari/")
    systemVersion = Self.version(agent, device: device)
  }

  /// The same visitor, after its page has told which of both it is.
  package func told(isIPad: Bool) -> LinkVisitor {
    guard mayBeIPad else { return self }
    var visitor = self
    visitor.mayBeIPad = false
    if isIPad { visitor.device = .ipad }
    return visitor
  }

  /// What it counts as.
  package var platform: LinkPlatform {
    switch device {
    case .android: .android
    case .iphone, .ipad: .ios
    case .desktop: .desktop
    case .other: .other
    }
  }

  private static func version(_ agent: String, device: Device) -> String {
    let mark =
      switch device {
      case .iphone, .ipad: " os "
      case .android: "android "
      case .desktop, .other: ""
      }
    guard !mark.isEmpty, let start = agent.firstRange(of: mark) else { return "" }
    let digits = agent[start.upperBound...].prefix { $0.isASCII && ($0.isNumber || $0 == "_" || $0 == ".") }
    return String(digits.map { $0 == "_" ? "." : $0 })
  }
}

/// What opens a link.
package enum LinkPlatform: String, Sendable, Hashable, CaseIterable {
  case android = "ANDROID"
  case desktop = "DESKTOP"
  case ios = "IOS"
  case other = "OTHER"
}
