package import StorageCore
package import TreeModel

/// A player who was referred, and what that earned.
package struct Referral: Sendable, Hashable {
  /// How far it came.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// The player is there; nothing was earned yet.
    case joined
    /// Coins wait for a confirmation or a review.
    case held
    /// Coins were paid.
    case paid
  }

  /// The player who was brought.
  package let player: String
  /// When the referrer was entered, in milliseconds since 1970; nil if the log no longer tells.
  package let since: Int64?
  /// What the referrer got for it, by unit.
  package let coins: [String: Int64]
  /// What waits for the referrer, by unit.
  package let held: [String: Int64]

  /// How far it came.
  package var state: State {
    if coins.values.contains(where: { $0 > 0 }) { return .paid }
    return held.isEmpty ? .joined : .held
  }
}

/// Where the tree says who referred a player: `/users/{uid}/referred_by`.
package struct ReferralPath: Sendable {
  /// The path, with the player's id as its one capture.
  package let pattern: PathPattern
  private let filter: PatternFilter

  /// - Parameter pattern: has one capture, of one key; another one is a mistake of the programmer and traps.
  package init(_ pattern: PathPattern) {
    let open = pattern.segments.filter { if case .literal = $0 { false } else { true } }
    guard open.count == 1, case .single(_?) = open[0] else {
      preconditionFailure("The referrer's place \(pattern) needs exactly one open segment: the player's id.")
    }
    self.pattern = pattern
    filter = PatternFilter(pattern)
  }

  /// Whose referrer is named at exactly this path; nil if nobody's is.
  func player(at path: PathBytes) -> String? {
    guard filter.mayHold(path), !path.isPriority, let readable = path.path else { return nil }
    return pattern.match(readable)?.first?.value
  }

  /// Where a player's referrer is named; nil if the id is no legal key.
  package func path(of player: String) -> PathBytes? {
    guard (try? Key(player)) != nil, let path = try? pattern.path(filling: [player]) else { return nil }
    return PathBytes(path)
  }

  /// The player's record: the node that the path names the player by; nil if the id is no legal key.
  package func record(of player: String) -> Path? {
    guard let key = try? Key(player) else { return nil }
    return players.path.map { $0.child(key) }
  }

  /// The node whose children are the players.
  var players: PathBytes {
    pattern.segments.prefix { if case .literal = $0 { true } else { false } }.reduce(.root) { path, segment in
      if case .literal(let key) = segment { path.child(key) } else { path }
    }
  }

  /// The player whom the value at the path names: one legal key, else nobody.
  static func referrer(_ scalar: Scalar?) -> String? {
    guard let text = scalar?.stringValue, (try? Key(text)) != nil else { return nil }
    return text
  }
}

/// Keeps the index of who brought whom: one record for each player whose path names a referrer, put and removed in the
/// transaction of the write, no matter who wrote, and how deep.
///
/// The index holds nothing that the tree does not say, so it is right after replays, imports and merges, and
/// ``ReferralBuild`` can make it again at any time.
package struct ReferralIndex: CommitParticipant {
  /// The kind of the index's records; their key is `REFERRER/PLAYER`.
  static let kind = "referral"
  private static let value = "true"

  let referralPath: ReferralPath

  /// The index over a path.
  package init(_ referralPath: ReferralPath) {
    self.referralPath = referralPath
  }

  /// Nothing: the index follows what others write.
  package func assignments(for request: CommitRequest, at time: Int64, in session: any CommitSession) throws(CommitError)
    -> [WriteOperation.Assignment]
  { [] }

  /// Moves the players whose referrer the commit changes.
  package func participate(in draft: inout CommitDraft, session: any CommitSession) throws(CommitError) {
    // What is kept from the beginning need not be made at the next start.
    if draft.revision == Revision(1) { session.put(ReferralBuild.mark(of: referralPath), in: draft.request.namespace) }
    for change in draft.treeChanges {
      guard let player = referralPath.player(at: change.path) else { continue }
      let before = ReferralPath.referrer(change.before)
      let after = ReferralPath.referrer(change.after)
      if let before { session.put(Self.removal(before, player: player), in: draft.request.namespace) }
      if let after { session.put(Self.record(after, player), in: draft.request.namespace) }
    }
  }

  static func key(_ referrer: String, _ player: String) -> String { "\(referrer)/\(player)" }

  static func record(_ referrer: String, _ player: String) -> KeyedRecordChange {
    KeyedRecordChange(kind: kind, key: key(referrer, player), value: value)
  }

  private static func removal(_ referrer: String, player: String) -> KeyedRecordChange {
    KeyedRecordChange(kind: kind, key: key(referrer, player), value: nil)
  }

  /// The two players of a record's key: keys of the tree hold no slash.
  static func players(in key: String) -> (referrer: String, player: String)? {
    let parts = key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }
}
