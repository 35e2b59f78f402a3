/// The published keys of one provider, and for how long they may be used.
///
/// A value without I/O: who fetches asks ``needsFetch(for:at:)``, and tells what came of it.
public struct KeySetCache: Sendable {
  /// How long keys are kept if their publisher does not say, in milliseconds.
  private static let usual: Int64 = 3_600_000
  /// The longest and the shortest time that a publisher's word is taken for, in milliseconds.
  private static let bounds: ClosedRange<Int64> = 60_000...86_400_000
  /// How long after one attempt the next may be made for the sake of an unknown key, or after a failure.
  private static let pause: Int64 = 60_000
  /// How long keys stay usable after their time if they cannot be fetched again: the publisher may be down.
  private static let grace: Int64 = 86_400_000

  private var set: KeySet?
  /// Before the first fetch nothing is fresh.
  private var freshUntil = Int64.min
  private var lastAttempt: Int64?

  public init() {}

  /// The keys; nil if there are none, or they are too old to be trusted.
  public func keys(at now: Int64) -> KeySet? { set != nil && now < freshUntil + Self.grace ? set : nil }

  /// Whether the keys should be fetched before a token of this key is judged. Somebody who sends made-up names of keys
  /// causes one fetch a minute, no more.
  public func needsFetch(for key: KeyID?, at now: Int64) -> Bool {
    if let lastAttempt, now >= lastAttempt, now < lastAttempt + Self.pause { return false }
    guard let set, now < freshUntil else { return true }
    return set.key(key) == nil
  }

  /// Whether the keys' time is over, or there are none, and it is not too early to ask again.
  public func isStale(at now: Int64) -> Bool { now >= freshUntil && needsFetch(for: nil, at: now) }

  /// Whether the keys are fresh and this one is among them: nothing that a fetch could bring would help.
  public func isSettled(for key: KeyID?, at now: Int64) -> Bool { now < freshUntil && set?.key(key) != nil }

  /// Notes that a fetch begins, so that it is not begun twice.
  public mutating func begin(at now: Int64) { lastAttempt = now }

  /// Keeps what was fetched.
  ///
  /// - Parameters:
  ///   - cacheControl: the header of the answer.
  ///   - now: milliseconds since 1970.
  public mutating func store(_ keys: KeySet, cacheControl: String?, at now: Int64) {
    set = keys
    freshUntil = now + Self.lifetime(cacheControl)
    lastAttempt = now
  }

  /// How long an answer with this `Cache-Control` may be kept, in milliseconds.
  static func lifetime(_ cacheControl: String?) -> Int64 {
    for part in (cacheControl ?? "").lowercased().split(separator: ",") {
      let words = part.split(separator: "=").map { $0.filter { !$0.isWhitespace && $0 != "\"" } }
      if words.first == "no-store" || words.first == "no-cache" { return bounds.lowerBound }
      if words.count == 2, words[0] == "max-age", let seconds = Int64(words[1]), seconds >= 0 {
        return min(max(min(seconds, 1_000_000) * 1000, bounds.lowerBound), bounds.upperBound)
      }
    }
    return usual
  }
}
