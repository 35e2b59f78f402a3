package import Ledger
import RewardModel
package import StorageCore
package import TreeModel

/// The question why a player was paid, or was not, and how it is answered: from the history of the paths where functions
/// look for the player, from the player's accounts, and from the records of others that name the player.
package struct WhyQuestion {
  /// Commits of one path that are told.
  package static let changesMax = 20
  /// Entries that are told.
  static let entriesMax = 20
  /// Values of other players that are looked at: the records of some hundred thousand players, in a second or two.
  static let leavesMax = 2_000_000
  /// So many of them are in memory at a time.
  private static let leavesAtATime = 10_000
  /// Dead letters that are looked at.
  static let deadLettersMax = 10_000
  private static let pageSize = 500
  /// Other players, and dead letters, that are told of.
  static let mentionsMax = 10
  /// Players whom the player brought, and of these those whose stories are looked at, which takes a millisecond each.
  private static let referralsMax = 20_000
  private static let referralStoriesMax = 100
  /// Commits of another player's path.
  private static let mentionChanges = 5

  let uid: Key
  /// Only this function.
  let reward: String?
  let namespace: NamespaceID
  let functions: [FunctionDescription]
  let currencies: [Currency]
  /// Where the tree says who referred a player, of which an index is kept; nil: the records are searched.
  let referralPath: ReferralPath?
  let snapshot: any Snapshot

  package init(
    uid: Key, reward: String?, namespace: NamespaceID, functions: [FunctionDescription], currencies: [Currency],
    referralPath: ReferralPath? = nil, snapshot: any Snapshot
  ) {
    self.referralPath = referralPath
    self.uid = uid
    self.reward = reward
    self.namespace = namespace
    self.functions = functions
    self.currencies = currencies
    self.snapshot = snapshot
  }

  /// Answers the question.
  ///
  /// - Parameters:
  ///   - sequence: only payments before this entry; nil begins with the newest.
  ///   - limit: how many commits of each path are told.
  package func report(beforeEntry sequence: Int64? = nil, limit: Int = Self.changesMax) throws -> WhyReport {
    let head = try snapshot.head(of: namespace)
    let (payments, next) = try payments(before: sequence)
    let (mentions, sawAll) = try mentions()
    let paths = PlayerPaths(of: uid, currencies: currencies, functions: functions)
    let stories = try stories(of: uid, limit: limit)
    let told = Set(
      stories.flatMap { story in
        story.changes.filter(\.fate.isDead).map { FunctionEvent(function: story.function.name, event: $0.event) }
      })
    let (dead, sawAllDead) = try deadLetters(besides: told, at: paths)
    let spread = asked.filter { paths.segment(of: $0.pattern) != nil && paths.known(of: $0.pattern) == nil }
    return WhyReport(
      uid: uid, revision: head.revision, stories: stories, spread: spread, payments: payments, nextPayment: next,
      mentions: mentions, sawAllMentions: sawAll, deadLetters: dead, sawAllDeadLetters: sawAllDead,
      isKnown: try isKnown(stories, hasMore: !payments.isEmpty || !mentions.isEmpty || !dead.isEmpty),
      erasure: try snapshot.erasure(in: namespace, of: uid.text))
  }

  /// Whether anything says that there is such a player: an account, a record, something that happened.
  private func isKnown(_ stories: [FunctionStory], hasMore: Bool) throws -> Bool {
    if hasMore || stories.contains(where: { !$0.changes.isEmpty || !$0.isComplete || $0.isErased }) { return true }
    if try snapshot.account(in: namespace, uid: uid.text) != nil { return true }
    if try snapshot.erasure(in: namespace, of: uid.text) != nil { return true }
    for root in Set(currencies.compactMap(\.playersRoot)) {
      if try !snapshot.leaves(in: namespace, under: PathBytes(root.child(uid)), limit: 1).isEmpty { return true }
    }
    return false
  }

  // MARK: Dead letters

  /// An event of a function.
  private struct FunctionEvent: Hashable {
    let function: String
    let event: EventID
  }

  /// What functions gave up on that is the player's: an event at a path of the player's, or of a write by the player.
  private func deadLetters(besides told: Set<FunctionEvent>, at paths: PlayerPaths) throws -> ([WhyReport.DeadLetter], Bool) {
    var found: [WhyReport.DeadLetter] = []
    var last: DeliveryRecord?
    var looked = 0
    while looked < Self.deadLettersMax {
      let page = try snapshot.deliveries(in: namespace, state: .dead, after: last, limit: Self.pageSize)
      for delivery in page where reward == nil || delivery.function == reward {
        let function = functions.first { $0.name == delivery.function || $0.formerly.contains(delivery.function) }
        guard !told.contains(FunctionEvent(function: function?.name ?? delivery.function, event: delivery.event)) else {
          continue
        }
        let commit = try snapshot.commit(in: namespace, at: delivery.event.revision)
        guard paths.concerns(delivery.event, of: function) || commit?.actor == .user(uid: uid.text) else { continue }
        guard found.count < Self.mentionsMax else { return (found, false) }
        found.append(WhyReport.DeadLetter(record: delivery, isRegistered: function != nil))
      }
      if page.count < Self.pageSize { return (found, true) }
      looked += page.count
      last = page.last
    }
    return (found, false)
  }

  /// The functions that the question is about.
  private var asked: [FunctionDescription] { functions.filter { reward == nil || $0.name == reward } }

  private func stories(of player: Key, limit: Int) throws -> [FunctionStory] {
    let records = try snapshot.functions()
    let paths = PlayerPaths(of: player, currencies: currencies, functions: functions)
    var stories: [FunctionStory] = []
    for function in asked {
      let reader = FunctionStoryReader(
        function: function, paths: paths, namespace: namespace, snapshot: snapshot,
        record: records.first { $0.name == function.name })
      if let story = try reader.story(limit: limit) { stories.append(story) }
    }
    return stories
  }

  // MARK: The accounts

  private func payments(before sequence: Int64?) throws -> ([WhyReport.Payment], Int64?) {
    let accounts = Set(currencies.map { LedgerAccount("\($0.holder):\(uid)") })
    var entries: [LedgerEntry] = []
    for account in accounts {
      entries += try snapshot.entries(in: namespace, account: account, before: sequence, limit: Self.entriesMax + 1)
    }
    entries.sort { $0.sequence > $1.sequence }
    let page = entries.prefix(Self.entriesMax)
    var payments: [WhyReport.Payment] = []
    for entry in page where reward == nil || entry.transfer.function == reward {
      payments.append(
        WhyReport.Payment(
          entry: entry, isReceived: accounts.contains(entry.transfer.credit), cause: try happening(of: entry.transfer.event),
          reversal: try snapshot.reversal(in: namespace, of: entry.sequence)))
    }
    return (payments, entries.count > page.count ? page.last?.sequence : nil)
  }

  /// What happened at an event's path, where the commit's changes tell.
  private func happening(of event: String?) throws -> Happening? {
    guard let id = event.flatMap({ EventID($0) }), let path = id.path.path,
      let commit = try snapshot.commit(in: namespace, at: id.revision), commit.epoch == id.epoch,
      let change = commit.changes?.first(where: { $0.path == id.path })
    else { return nil }
    let before: TreeNode = change.before.map { .leaf($0) } ?? .absent
    let after: TreeNode = change.after.map { .leaf($0) } ?? .absent
    return EventRecord.Kind(before, after).map { Happening(path: path, kind: $0, before: before, after: after) }
  }

  // MARK: Others who name the player

  private func mentions() throws -> ([WhyReport.Mention], Bool) {
    if let referralPath { return try referrals(referralPath) }
    var mentions: [WhyReport.Mention] = []
    var sawAll = true
    var seen: Set<Key> = [uid]
    for root in Set(currencies.compactMap(\.playersRoot)) {
      let (found, isComplete) = try paths(naming: .string(uid.text), below: PathBytes(root))
      sawAll = sawAll && isComplete
      for path in found {
        guard path.depth > root.depth, seen.insert(path.keys[root.depth]).inserted else { continue }
        guard mentions.count < Self.mentionsMax else { return (mentions, false) }
        let player = path.keys[root.depth]
        let stories = try stories(of: player, limit: Self.mentionChanges).compactMap { unpaid($0) }
        if !stories.isEmpty { mentions.append(WhyReport.Mention(player: player, path: path, stories: stories)) }
      }
    }
    return (mentions, sawAll)
  }

  /// Those whom the player brought, by the index: all where they are few, else first those for whom nothing was paid.
  private func referrals(_ referralPath: ReferralPath) throws -> ([WhyReport.Mention], Bool) {
    var players: [String] = []
    var sawAll = false
    while !sawAll, players.count < Self.referralsMax {
      let page = try ReferralIndex.players(
        of: uid.text, in: namespace, after: players.last, limit: 1000, snapshot: snapshot)
      players += page
      sawAll = page.count < 1000
    }
    if players.count > Self.referralStoriesMax {
      let earned = try ReferralEarnings(of: uid.text, currencies: currencies, in: namespace, snapshot: snapshot)
      let unpaid = players.filter { earned.coins[$0] == nil }
      sawAll = sawAll && unpaid.count <= Self.referralStoriesMax
      players = Array(unpaid.prefix(Self.referralStoriesMax))
    }
    var mentions: [WhyReport.Mention] = []
    for player in players {
      guard let key = try? Key(player), key != uid, let path = referralPath.path(of: player)?.path else { continue }
      let stories = try stories(of: key, limit: Self.mentionChanges).compactMap { unpaid($0) }
      if stories.isEmpty { continue }
      guard mentions.count < Self.mentionsMax else { return (mentions, false) }
      mentions.append(WhyReport.Mention(player: key, path: path, stories: stories))
    }
    return (mentions, sawAll)
  }

  /// The leaves below a node that have a value, in path order; and whether all of the node was looked at.
  private func paths(naming value: Scalar, below root: PathBytes) throws -> ([Path], Bool) {
    let head = try snapshot.head(of: namespace).revision
    var found: [Path] = []
    var looked = 0
    var last = root
    while looked < Self.leavesMax {
      let page = try snapshot.leaves(in: namespace, after: last, asOf: head, limit: Self.leavesAtATime)
      for leaf in page {
        guard root.contains(leaf.leaf.path) else { return (found, true) }
        if leaf.leaf.scalar == value, let path = leaf.leaf.path.path { found.append(path) }
      }
      guard page.count == Self.leavesAtATime, let end = page.last?.leaf.path else { return (found, true) }
      looked += page.count
      last = end
    }
    return (found, false)
  }

  /// A story without what paid: this player's payments are told by their entries, others' are not asked for. Of changes that
  /// the function does not run on, the last one is told where there is nothing else.
  private func unpaid(_ story: FunctionStory) -> FunctionStory? {
    if case .paid? = story.changes.last?.fate { return nil }
    var changes = story.changes.filter { change in
      if case .paid = change.fate { false } else { !change.fate.isUnwanted }
    }
    if changes.isEmpty, story.changes.allSatisfy(\.fate.isUnwanted), let last = story.changes.last { changes = [last] }
    guard !changes.isEmpty else { return nil }
    return FunctionStory(
      function: story.function, player: story.player, path: story.path, pauseReason: story.pauseReason, changes: changes,
      isComplete: story.isComplete, prunedThrough: story.prunedThrough)
  }
}

extension Currency {
  /// The node whose children are the players: the keys before the first capture; nil if the pattern begins with one.
  fileprivate var playersRoot: Path? {
    let keys = pattern.segments.prefix { if case .literal = $0 { true } else { false } }.compactMap { segment -> Key? in
      if case .literal(let key) = segment { key } else { nil }
    }
    return keys.isEmpty ? nil : Path(keys: keys)
  }
}
