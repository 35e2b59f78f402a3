import Crypto
import StorageCore
import Synchronization

/// Opening links. Every request of a browser comes through here, so what it needs is in memory and nothing is written.
extension LinkService {
  /// The link, if it is in memory.
  ///
  /// - Parameter key: prefix and suffix.
  package func cached(_ key: String) -> LinkEntry? { cache[key] }

  /// The link, from memory or the store: one point read.
  package func entry(_ key: String) throws -> LinkEntry? {
    if let entry = cache[key] { return entry }
    let generation = cache.generation
    let settings = settings
    guard let text = try stored(Kind.link, key: key) else { return nil }
    guard let record = LinkRecord(key: key, stored: text) else {
      throw LinkError.unavailable("The record of this link cannot be read; restore a backup.")
    }
    let entry = LinkEntry(record, settings: settings)
    cache.insert(entry, generation: generation)
    return entry
  }

  /// What opening a long link does, and what is doubtful about the link.
  ///
  /// - Throws: ``LinkError/invalid(_:)`` if the link must not be opened.
  package func longLink(_ query: [(name: String, value: String)], below prefix: LinkPrefix) throws(LinkError)
    -> (opening: LinkOpening, warnings: [LinkWarning])
  {
    let settings = settings
    let parameters = LinkParameters(query)
    let warnings = try LinkChecker(settings: settings).check(parameters, below: prefix)
    return (LinkOpening(parameters, address: parameters.longLink(below: prefix), settings: settings), warnings)
  }

  /// What is doubtful about a link, and what is wrong with it.
  package func findings(_ opening: LinkOpening, below prefix: LinkPrefix) -> (warnings: [LinkWarning], error: LinkError?) {
    do throws(LinkError) {
      return (try LinkChecker(settings: settings).check(opening.parameters, below: prefix), nil)
    } catch {
      return ([], error)
    }
  }

  /// The proof of a click that happens now.
  package func click(on link: String, by visitor: LinkVisitor) async throws -> String {
    token(link, visitor: visitor, key: try await clickKey())
  }

  /// The same without waiting; nil if the key has to be made first.
  package func clickNow(on link: String, by visitor: LinkVisitor) -> String? {
    knownClickKey.map { token(link, visitor: visitor, key: $0) }
  }

  private func token(_ link: String, visitor: LinkVisitor, key: SymmetricKey) -> String {
    random.withLock { ClickToken.issue(for: link, on: visitor.platform, at: clock.now(), key: key, using: &$0) }
  }

  /// Counts an opening by a person.
  ///
  /// - `link`: prefix and suffix; of a long link nil, for those are not counted.
  /// - `isFallback`: whether the visitor is sent to a store or another fallback.
  /// - `address`: the visitor's, remembered for the window if guessing is on.
  package func opened(
    _ link: String?, invite: String?, by visitor: LinkVisitor, isFallback: Bool, address: @autoclosure () -> String?,
    click: String
  ) {
    guard let link else { return }
    let now = clock.now()
    counter.count(.click, of: link, on: visitor.platform, at: now, mark: invite.map { "\($0)/clicked" })
    if isFallback { counter.count(.redirect, of: link, on: visitor.platform, at: now) }
    guard visitor.platform == .ios || visitor.platform == .android else { return }
    let heuristics = settings.heuristics
    guard heuristics.isEnabled, let address = address() else { return }
    recent.add(
      RecentClicks.Click(
        link: link, network: RecentClicks.network(of: address), platform: visitor.platform,
        systemVersion: visitor.systemVersion, time: now, token: click), window: heuristics.window)
  }

  /// Notes that something happened to an invitation: `ID/opened`. Written with the counts.
  package func mark(_ name: String, isKept: Bool) {
    guard isKept, name.utf8.count <= 64 else { return }
    counter.mark(name, at: clock.now())
  }

  // MARK: Writing counts

  /// How often counts are written, in milliseconds.
  static let interval: Int64 = 2000
  /// How many counts are written with one commit.
  private static let countsPerCommit = 2000

  /// Writes counts every two seconds until the task is cancelled, and then the rest.
  @Sendable package func run() async throws {
    try? await prepare()
    do {
      while true {
        try await clock.sleep(until: clock.now() + Self.interval)
        try? await flush()
      }
    } catch {
      try? await flush()
      throw error
    }
  }

  /// Writes what was counted; what cannot be written is kept for the next time.
  package func flush() async throws {
    let taken = counter.take()
    var counts = taken.counts[...]
    var marks = taken.marks
    while !counts.isEmpty || !marks.isEmpty {
      // Other writes take their turn in between.
      let part = Array(counts.prefix(Self.countsPerCommit))
      do {
        try await commit { request in
          if !part.isEmpty {
            var maintenance = Maintenance()
            maintenance.linkCounts = part
            request.rows.maintenance = maintenance
          }
          request.rows.records = marks.map { KeyedRecordChange(kind: Kind.mark, key: $0.key, value: "{\"at\":\($0.value)}") }
        }
      } catch {
        counter.restore(counts, marks: marks)
        throw error
      }
      counts = counts.dropFirst(part.count)
      marks = [:]
    }
  }
}
