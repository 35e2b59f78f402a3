import Synchronization

/// Clicks of the last hours with their addresses, for guessing which one an installation came from. In memory only: the
/// addresses are gone with the window, or with the process (spec: links-messaging §2, honest limits).
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
