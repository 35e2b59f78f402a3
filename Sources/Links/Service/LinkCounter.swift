import StorageCore
import Synchronization

/// Counts in memory what happens to links, until it is written.
///
/// An opening costs no write: a crash loses the counts of the last seconds, an orderly stop none. No claim and no reward
/// hangs on them.
final class LinkCounter: Sendable {
  private struct Key: Hashable {
    let link: String
    let day: Int64
    let platform: LinkPlatform
    let event: LinkEvent
  }

  private struct State {
    var counts: [Key: Int64] = [:]
    /// Marks of invitations that were opened by their link: name and time.
    var marks: [String: Int64] = [:]
    var lost: Int64 = 0
  }

  /// Counts that are kept between two writings; beyond, they are lost.
  private static let keysMax = 500_000
  private let state = Mutex(State())

  /// - `mark`: of an invitation that this tells something of: `ID/clicked`.
  func count(_ event: LinkEvent, of link: String, on platform: LinkPlatform, at time: Int64, mark: String? = nil) {
    let key = Key(link: link, day: time / 86_400_000, platform: platform, event: event)
    state.withLock { state in
      if let mark, state.marks.count < Self.keysMax, state.marks[mark] == nil { state.marks[mark] = time }
      guard state.counts.count < Self.keysMax || state.counts[key] != nil else {
        state.lost += 1
        return
      }
      state.counts[key, default: 0] += 1
    }
  }

  /// Notes a mark; the first time counts.
  func mark(_ name: String, at time: Int64) {
    state.withLock { state in
      if state.marks.count < Self.keysMax, state.marks[name] == nil { state.marks[name] = time }
    }
  }

  /// Takes all that was counted, for writing: in the order of its rows, so that neighbours are written together.
  func take() -> (counts: [LinkCount], marks: [String: Int64]) {
    let (counts, marks) = state.withLock { state in
      let taken = (state.counts, state.marks)
      state.counts = Dictionary(minimumCapacity: taken.0.count)
      state.marks = [:]
      return taken
    }
    return (
      counts.map { key, count in
        LinkCount(
          link: key.link, day: key.day, platform: key.platform.rawValue, event: key.event.rawValue, count: count)
      }.sorted { ($0.link, $0.day) < ($1.link, $1.day) }, marks
    )
  }

  /// Puts back what could not be written.
  func restore(_ counts: some Sequence<LinkCount>, marks: [String: Int64]) {
    state.withLock { state in
      for count in counts {
        guard let platform = LinkPlatform(rawValue: count.platform), let event = LinkEvent(rawValue: count.event) else {
          continue
        }
        state.counts[Key(link: count.link, day: count.day, platform: platform, event: event), default: 0] += count.count
      }
      state.marks.merge(marks) { old, _ in old }
    }
  }
}

/// What is counted of a link (https://firebase.google.com/docs/reference/dynamic-links/analytics).
package enum LinkEvent: String, Sendable, Hashable, CaseIterable {
  /// Opened by a person.
  case click = "CLICK"
  /// Sent to a fallback: a store, or what was named for a missing app.
  case redirect = "REDIRECT"
  /// Installed from Google's store by way of the link.
  case install = "APP_INSTALL"
  /// First opened after an installation that the link led to.
  case firstOpen = "APP_FIRST_OPEN"
  /// Opened by the link later.
  case reopen = "APP_RE_OPEN"
}
