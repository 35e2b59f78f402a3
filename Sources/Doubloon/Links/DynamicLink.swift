public import Foundation
import TextFormats
import TreeModel

/// How sure it is that the link led this player here.
public enum DynamicLinkMatchConfidence: Sendable {
  /// Another player may have opened it: show nothing of the inviter.
  case weak
  /// It is proven.
  case strong
}

/// How the server matched a link, by Firebase's words.
public enum DLMatchType: Int, Sendable {
  case none, weak, `default`, unique

  /// `unique` of the custom scheme, `UNIQUE` of the server.
  init(_ text: String) {
    switch text.lowercased() {
    case "unique": self = .unique
    case "default": self = .default
    case "weak": self = .weak
    default: self = .none
    }
  }
}

/// Strong, by the name of the first SDKs.
public let FIRDynamicLinkMatchConfidenceStrong = DynamicLinkMatchConfidence.strong
/// Weak, by the name of the first SDKs.
public let FIRDynamicLinkMatchConfidenceWeak = DynamicLinkMatchConfidence.weak

/// A link that opened the app, or led to its installation.
public final class DynamicLink: Sendable {
  /// Where the app is led; nil if the link says nothing.
  public let url: URL?
  /// How it was matched.
  public let matchType: DLMatchType
  /// The oldest version of the app that understands it; the app decides what to do.
  public let minimumAppVersion: String?
  /// `utm_source` and the others.
  public let utmParametersDictionary: [String: String]
  /// The invitation that the link is of; nil for others.
  public let invitationID: String?
  /// The long link.
  let resolved: URL?

  /// Strong only for ``DLMatchType/unique``.
  public var matchConfidence: DynamicLinkMatchConfidence { matchType == .unique ? .strong : .weak }

  private init(
    url: URL?, matchType: DLMatchType, version: String?, utm: [String: String], invitation: String?, resolved: URL? = nil
  ) {
    self.url = url
    self.matchType = matchType
    minimumAppVersion = version
    utmParametersDictionary = utm
    invitationID = invitation
    self.resolved = resolved
  }

  /// The parameters of a URL that opened the app by its own scheme.
  convenience init(scheme parameters: [String: String]) {
    let url = parameters["deep_link_id"].flatMap { URL(string: $0) }
    let isWeak = ["1", "true"].contains(parameters["is_weak_match"] ?? "")
    let type = parameters["match_type"].map { DLMatchType($0) } ?? (isWeak ? .weak : url == nil ? DLMatchType.none : .unique)
    self.init(
      url: url, matchType: type, version: parameters["imv"], utm: parameters.filter { $0.key.hasPrefix("utm_") },
      invitation: parameters["invitation_id"])
  }

  /// The parameters of a long link.
  convenience init(long parameters: [String: String], link: URL) {
    self.init(
      url: parameters["link"].flatMap { URL(string: $0) }, matchType: .unique, version: parameters["imv"],
      utm: parameters.filter { $0.key.hasPrefix("utm_") }, invitation: nil, resolved: link)
  }

  /// What the server says of a link.
  ///
  /// - `confidence`: of links that opened the app; those that led to an installation say it themselves.
  convenience init(_ json: JSON, confidence: DLMatchType?) {
    let names = ["source", "medium", "campaign", "term", "content"]
    let utm = names.compactMap { name in
      json["utm\(name.prefix(1).uppercased())\(name.dropFirst())"]?.string.map { ("utm_\(name)", $0) }
    }
    let invitation = json["invitationId"]?.string ?? json["invitationId"]?["id"]?.string
    let version = json["appMinimumVersion"]?.string ?? json["iosMinAppVersion"]?.string
    self.init(
      url: json["deepLink"]?.string.flatMap { URL(string: $0) },
      matchType: confidence ?? DLMatchType(json["attributionConfidence"]?.string ?? ""), version: version,
      utm: Dictionary(utm, uniquingKeysWith: { $1 }), invitation: invitation,
      resolved: json["resolvedLink"]?.string.flatMap { URL(string: $0) })
  }
}

/// The forms of links, without asking the server.
struct LinkForms: Sendable {
  /// Bytes that a link may have.
  private static let bytesMax = 16 << 10

  /// Schemes by which the app is opened, in small letters.
  let schemes: Set<String>
  /// The server's prefixes.
  let prefixes: [String]

  /// The parameters of `scheme://google/link/?…`; nil if the URL is none.
  func schemeParameters(_ url: URL) -> [String: String]? {
    guard let parts = parts(url), isOfScheme(parts), parts.path == "/link" || parts.path == "/link/",
      let query = parts.query, !query.isEmpty
    else { return nil }
    return Self.parameters(query)
  }

  /// Whether the URL is for the app's scheme, and for links.
  func isOfScheme(_ url: URL) -> Bool { parts(url).map(isOfScheme) ?? false }

  private func isOfScheme(_ parts: URLParts) -> Bool {
    guard let scheme = parts.scheme?.lowercased(), schemes.contains(scheme), parts.authority == "google" else { return false }
    return parts.path.hasPrefix("/link")
  }

  /// A link of the server's, by what kind it is.
  enum Kind { case short, long([String: String]) }

  /// Nil for what is none of the server's links.
  func kind(_ url: URL) -> Kind? {
    guard let parts = parts(url), let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
      let authority = parts.authority, let rest = path(parts, authority: authority.lowercased())
    else { return nil }
    let segments = rest.path.split(separator: "/").map(String.init)
    if segments.isEmpty {
      let parameters = parts.query.map(Self.parameters) ?? [:]
      guard let link = parameters["link"]?.lowercased(), link.hasPrefix("http://") || link.hasPrefix("https://") else {
        return nil
      }
      return .long(parameters)
    }
    guard segments != ["link", "dismiss"], segments.allSatisfy({ $0.utf8.allSatisfy(Self.isSuffix) }) else { return nil }
    let isInvitation = segments.count == 2 && segments[0] == "i"
    return rest.isCustom || segments.count == 1 || isInvitation ? .short : nil
  }

  /// The path below the longest prefix that the URL is of. A prefix `/r` is none of `/rabbit`.
  private func path(_ parts: URLParts, authority: String) -> (path: Substring, isCustom: Bool)? {
    var longest: Int?
    for prefix in prefixes {
      let own = URLParts(prefix)
      guard own.authority?.lowercased() == authority else { continue }
      var base = own.path
      while base.hasSuffix("/") { base.removeLast() }
      guard parts.path.hasPrefix(base), parts.path.dropFirst(base.count).first.map({ $0 == "/" }) ?? true else { continue }
      longest = max(longest ?? 0, base.count)
    }
    if let longest { return (parts.path.dropFirst(longest), true) }
    return authority.hasSuffix(".page.link") || authority.hasSuffix(".app.goo.gl") ? (parts.path, false) : nil
  }

  private func parts(_ url: URL) -> URLParts? {
    let text = url.absoluteString
    return text.utf8.count <= Self.bytesMax ? URLParts(text) : nil
  }

  private static func isSuffix(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }

  /// Split at `&`, then at the first `=`; `+` stays a plus.
  static func parameters(_ query: Substring) -> [String: String] {
    query.split(separator: "&").reduce(into: [:]) { found, item in
      let name = item.prefix { $0 != "=" }
      guard let key = PercentEncoding.decode(name), let value = PercentEncoding.decode(item.dropFirst(name.count + 1)) else {
        return
      }
      found[key] = value
    }
  }
}
