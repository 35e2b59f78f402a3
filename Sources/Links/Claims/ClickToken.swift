import Crypto
import StorageCore
import Synchronization
import TextFormats
import TreeModel

/// Proves that a link was opened: when, on which platform. Nothing has to be stored for it, so that opening a link costs no
/// write and a crash loses no proof.
///
/// 8 random bytes, 5 of time (seconds), 1 of platform, 12 of HMAC-SHA256 over these and the link. Anybody who can
/// open the link can have one: it proves a click, not a person; what may be done with it, may be done once.
package struct ClickToken: Sendable, Hashable {
  /// Unique: the 8 random bytes, as hexadecimal digits.
  package let id: String
  /// In milliseconds since 1970, to the second.
  package let time: Int64
  /// Where the link was opened.
  package let platform: LinkPlatform

  private static let platforms: [LinkPlatform] = [.android, .desktop, .ios, .other]

  /// Makes one for a click that happens now.
  static func issue(
    for link: String, on platform: LinkPlatform, at time: Int64, key: SymmetricKey,
    using random: inout some RandomNumberGenerator
  ) -> String {
    var bytes = (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
    let seconds = time / 1000
    for shift in stride(from: 32, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: seconds >> Int64(shift))) }
    bytes.append(UInt8(platforms.firstIndex(of: platform) ?? 3))
    return Base64.encode(bytes + seal(bytes, link: link, key: key), as: .url)
  }

  /// Reads one.
  ///
  /// - Returns: nil unless it was made for this link with this key.
  init?(_ text: String, for link: String, key: SymmetricKey) {
    guard text.utf8.count <= 64, let bytes = Base64.decode(Array(text.utf8)), bytes.count == 26 else { return nil }
    let content = Array(bytes[..<14])
    let difference = zip(Self.seal(content, link: link, key: key), bytes[14...]).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
    guard difference == 0, Int(content[13]) < Self.platforms.count else { return nil }
    id = Hex.encode(content[..<8])
    time = content[8..<13].reduce(Int64(0)) { $0 << 8 | Int64($1) } * 1000
    platform = Self.platforms[Int(content[13])]
  }

  private static func seal(_ bytes: [UInt8], link: String, key: SymmetricKey) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes + Array(link.utf8), using: key).prefix(12))
  }
}

/// A link that an app or a player presents, found, with the proof of a click if one came along.
struct LinkProof: Sendable {
  let parameters: LinkParameters
  let prefix: LinkPrefix
  /// The record, if it is a short link.
  let record: LinkRecord?
  /// The proof of a click; nil if none came along, or it was not good.
  let click: ClickToken?
  /// Whether something came along that should have been a proof.
  let hasBadClick: Bool

  /// The long form of the link.
  var longLink: String { parameters.longLink(below: prefix) }
  /// What is counted; nil for a long link.
  var key: String? { record?.key }

  /// Finds a link that was presented, as text: short or long, with `cid` and `_icp` or without.
  ///
  /// - Returns: nil for a link that is not known, not allowed, or disabled.
  static func find(_ text: String, in links: LinkService) async throws -> LinkProof? {
    guard text.utf8.count <= 2 * LongLink.lengthMax else { return nil }
    let address = text.firstRange(of: "://") == nil ? "https://\(text)" : text
    guard let url = LinkURL(address), let query = url.parameters else { return nil }
    let settings = links.settings
    guard let prefix = settings.prefix(host: url.host + url.port, path: url.path) else { return nil }
    let token = query.first { $0.name == "cid" }?.value
    let rest = prefix.remainder(of: url.path).map(String.init) ?? ""
    if rest.isEmpty {
      let parameters = LinkParameters(query)
      guard (try? LinkChecker(settings: settings).check(parameters, below: prefix)) != nil,
        try !links.isDisabled(parameters, below: prefix)
      else { return nil }
      let binding = String(parameters.longLink(below: prefix).dropFirst("https://".count))
      let click = try await Self.click(token, on: binding, in: links)
      return LinkProof(
        parameters: parameters, prefix: prefix, record: nil, click: click, hasBadClick: token != nil && click == nil)
    }
    let suffix = rest.hasSuffix("/") ? String(rest.dropLast()) : rest
    guard LinkSuffix.isShortForm(suffix), let entry = try links.entry("\(prefix.key)/\(suffix)"), entry.error == nil,
      let parameters = entry.record.parameters
    else { return nil }
    let click = try await Self.click(token, on: entry.record.key, in: links)
    return LinkProof(
      parameters: parameters, prefix: prefix, record: entry.record, click: click, hasBadClick: token != nil && click == nil)
  }

  /// Reads the proof of a click; nil if it is not good, or too old.
  private static func click(_ token: String?, on link: String, in links: LinkService) async throws -> ClickToken? {
    guard let token, let click = ClickToken(token, for: link, key: try await links.clickKey()) else { return nil }
    let age = links.clock.now() - click.time
    return age <= links.settings.clickLifetime && age >= -60_000 ? click : nil
  }
}

/// Clicks of the last hours with their addresses, for guessing which one an installation came from. In memory only: the
/// addresses are gone with the window, or with the process.
final class RecentClicks: Sendable {
  /// One click of somebody who may install the app.
  struct Click: Sendable, Hashable {
    let link: String
    /// The whole of an IPv4 address, the first 64 bits of an IPv6 one.
    let network: String
    let platform: LinkPlatform
    let systemVersion: String
    let time: Int64
    let token: String
  }

  private static let clicksMax = 100_000
  private let clicks = Mutex<[Click]>([])

  func add(_ click: Click, window: Int64) {
    clicks.withLock { clicks in
      if clicks.count >= Self.clicksMax { clicks.removeFirst(Self.clicksMax / 2) }
      clicks.append(click)
      if let first = clicks.first, first.time < click.time - window * 2 {
        clicks.removeAll { $0.time < click.time - window }
      }
    }
  }

  /// The clicks that an installation may have come from.
  func candidates(network: String, platform: LinkPlatform, systemVersion: String, from start: Int64, to end: Int64) -> [Click] {
    clicks.withLock { clicks in
      clicks.filter { click in
        click.time >= start && click.time <= end && click.network == network && click.platform == platform
          && (systemVersion.isEmpty || click.systemVersion.isEmpty || click.systemVersion == systemVersion)
      }
    }
  }

  /// Takes clicks out: a guess is made of them once.
  func remove(_ taken: [Click]) {
    clicks.withLock { clicks in clicks.removeAll { taken.contains($0) } }
  }

  func removeAll() { clicks.withLock { $0.removeAll() } }

  /// What of an address is compared.
  static func network(of address: String) -> String {
    guard address.contains(":") else { return address }
    if let mapped = address.split(separator: ":").last, mapped.contains(".") { return String(mapped) }
    // "::" stands for as many zero groups as are missing.
    let halves = address.split(separator: "%").first.map(String.init) ?? address
    var groups: [Substring] = []
    if let gap = halves.firstRange(of: "::") {
      let left = halves[..<gap.lowerBound].split(separator: ":")
      let right = halves[gap.upperBound...].split(separator: ":")
      groups = left + Array(repeating: "0", count: max(0, 8 - left.count - right.count)) + right
    } else {
      groups = halves.split(separator: ":")
    }
    return groups.prefix(4).joined(separator: ":") + "::/64"
  }
}
