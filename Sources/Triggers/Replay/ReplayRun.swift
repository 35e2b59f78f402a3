import Logging
import RewardModel
import StorageCore
import TreeModel

/// One replay at work, from where its record says to its end.
struct ReplayRun {
  private let replayer: Replayer
  private let key: Replayer.Key
  private let scan: ReplayScan
  private var record: ReplayRecord
  private var progress: ReplayProgress
  /// When this process began to work on it, and what had been given by then.
  private var began: Int64 = 0
  private var givenBefore: Int64 = 0

  init(_ key: Replayer.Key, of replayer: Replayer) throws {
    self.replayer = replayer
    self.key = key
    record = try replayer.record(key)
    progress = ReplayProgress(record.progress)
    scan = try ReplayScan(record.order, in: key.namespace, through: progress.through, of: replayer.dispatcher)
  }

  /// Works until the end, or until a person, or the server's stop, ends it.
  mutating func carryOut() async throws {
    guard record.state == .running else { return }
    try await finishGiven()
    try countAgain()
    (began, givenBefore) = (replayer.clock.now(), progress.given)
    while let cursor = progress.cursor {
      try Task.checkCancellation()
      if let wish = replayer.wish(for: key), wish != .running { return try await end(wish) }
      let scan = scan
      let page = try await replayer.onOwnThread { [engine = replayer.engine] in
        try engine.read { (snapshot) throws(StorageError) in try scan.page(from: cursor, in: snapshot) }
      }
      try await give(page)
    }
    try await end(.done)
  }

  /// A process that died may have given pairs to functions that have not run: they wait, and are run now.
  private func finishGiven() async throws {
    guard progress.given > 0 else { return }
    var last: ReplayItem?
    while true {
      let from = last
      let (items, waiting) = try replayer.engine.read { [key] (snapshot) throws(StorageError) in
        let items = try snapshot.replayItems(in: key.namespace, of: key.id, after: from, limit: 512)
        var waiting: Set<ReplayItem> = []
        for item in items {
          let delivery = try snapshot.delivery(in: key.namespace, of: item.event, to: item.function)
          if delivery?.state == .waiting, delivery?.attempts == 0 { waiting.insert(item) }
        }
        return (items, waiting)
      }
      if !waiting.isEmpty, await !replayer.dispatcher.deliver([], hurrying: waiting, in: key.namespace) {
        throw CancellationError()
      }
      last = items.last
      if items.count < 512 { return }
    }
  }

  /// A process that died may have given pairs to functions without having counted how they ended: storage knows.
  private mutating func countAgain() throws {
    guard progress.given > 0 else { return }
    var tally = ReplayTally()
    var last: ReplayItem?
    progress.given = 0
    while true {
      let items = try replayer.engine.read { [key] (snapshot) throws(StorageError) in
        let items = try snapshot.replayItems(in: key.namespace, of: key.id, after: last, limit: 512)
        for item in items { try tally.add(item, in: key.namespace, from: snapshot) }
        return items
      }
      progress.given += Int64(items.count)
      last = items.last
      if items.count < 512 { break }
    }
    (progress.outcomes, progress.coins) = (tally.outcomes, tally.coins)
  }

  // MARK: One page

  /// A part of a page that is given at once.
  private struct Chunk {
    var pairs: [ReplayPair] = []
    var last: ReplayPair?
    var alreadyDone: Int64 = 0
    var resting: Int64 = 0

    mutating func add(_ pair: ReplayPair) {
      last = pair
      switch pair.status {
      case .finished: alreadyDone += 1
      case .resting, .underway: resting += 1
      case .never, .failed: pairs.append(pair)
      }
    }
  }

  /// Stores a page's deliveries with the cursor behind them, and has them run, some at a time.
  private mutating func give(_ page: ReplayScan.Page) async throws {
    var chunks = [Chunk()]
    for pair in page.pairs {
      let chunk = chunks[chunks.count - 1]
      // What belongs to one commit stays together: the cursor points behind whole commits.
      let isSameCommit = record.order.mode != .failed && chunk.last?.event.id.revision == pair.event.id.revision
      if chunk.pairs.count >= pairsAtOnce, !isSameCommit { chunks.append(Chunk()) }
      chunks[chunks.count - 1].add(pair)
    }
    for (index, chunk) in chunks.enumerated() {
      let isLast = index == chunks.count - 1
      progress.cursor = isLast ? page.next : chunk.last.map(cursor(behind:))
      if isLast { progress.scanned += Int64(page.scanned) }
      progress.given += Int64(chunk.pairs.count)
      progress.alreadyDone += chunk.alreadyDone
      progress.resting += chunk.resting
      try await give(chunk.pairs)
      try await keepRate()
      try Task.checkCancellation()
      if !isLast, let wish = replayer.wish(for: key), wish != .running { return }
    }
  }

  /// Pairs of a chunk. A paced replay gives what ten milliseconds allow, so that nobody waits behind a burst.
  private var pairsAtOnce: Int {
    let most = replayer.options.pairsMax
    return record.order.rate > 0 ? min(most, max(4, Int(clamping: record.order.rate / 100))) : most
  }

  private func cursor(behind pair: ReplayPair) -> ReplayCursor {
    if record.order.mode != .failed { return .log(after: pair.event.id.revision) }
    if case .failed(let record) = pair.status, record.state == .waiting { return .waiting(after: pair.item) }
    return .dead(after: pair.item)
  }

  private mutating func give(_ pairs: [ReplayPair]) async throws {
    // A part of the log without anything for the functions costs no commit.
    guard !pairs.isEmpty else { return }
    let now = replayer.clock.now()
    let deliveries = pairs.compactMap { $0.handOver(in: record, at: now) }
    let retries = Set(pairs.filter(\.isWaiting).map(\.item))
    var request = CommitRequest(namespace: key.namespace, actor: .system("replay"))
    request.triggers.deliveries = deliveries
    var upkeep = Maintenance()
    upkeep.events = pairs.filter { !$0.isInTable }.map(\.event)
    upkeep.replayItems = (key.id, pairs.map(\.item))
    record = record.with(.running, progress: progress, at: now)
    upkeep.replay = record
    request.rows.maintenance = upkeep
    try await replayer.commit(request)
    replayer.dispatcher.options.failpoint(.replayHandedOver)
    guard await replayer.dispatcher.deliver(deliveries, hurrying: retries, in: key.namespace) else {
      throw CancellationError()
    }
    var tally = ReplayTally()
    try replayer.engine.read { [key] (snapshot) throws(StorageError) in
      for pair in pairs { try tally.add(pair.item, in: key.namespace, from: snapshot) }
    }
    progress.outcomes.merge(tally.outcomes, uniquingKeysWith: +)
    progress.coins.merge(tally.coins) { $0.addingUpTo($1) }
  }

  /// Waits until no more than the order's rate was given in a second.
  private func keepRate() async throws {
    guard record.order.rate > 0 else { return }
    let due = began + (progress.given - givenBefore) * 1000 / record.order.rate
    if due > replayer.clock.now() { try await replayer.clock.sleep(until: due) }
  }

  // MARK: The end

  private mutating func end(_ state: ReplayRecord.State) async throws {
    let now = replayer.clock.now()
    record = record.with(state, progress: progress, at: now)
    var writer = JSONWriter()
    writer.write(JSON(fields: [("replay", .int(key.id)), ("order", record.order.json), ("progress", progress.json)]))
    let audit = AuditRecord(
      time: now, actor: .system("replay"), action: "replays.\(state.rawValue)",
      detail: String(decoding: writer.bytes, as: UTF8.self), result: "ok")
    try await replayer.store(record, in: key.namespace, audit: audit)
    replayer.logger.notice("Replay \(key.id) is \(state.rawValue): \(progress.given) given, \(progress.outcomes).")
  }
}

extension ReplayPair {
  /// Whether its retry waits in the dispatcher's memory already.
  fileprivate var isWaiting: Bool {
    if case .failed(let record) = status { record.state == .waiting } else { false }
  }

  /// The record with which the pair goes to the dispatcher; nil if it has one that only waits.
  fileprivate func handOver(in replay: ReplayRecord, at now: Int64) -> DeliveryRecord? {
    switch status {
    case .never:
      DeliveryRecord(
        event: event.id, kind: event.kind, hop: event.hop, function: name, state: .waiting, attempts: 0, crashes: 0,
        nextAttemptAt: now, lastError: "given to the function by replay \(replay.id)", updatedAt: now)
    case .failed(let record) where record.state == .dead:
      DeliveryRecord(
        event: event.id, kind: event.kind, hop: event.hop, function: name, state: .waiting, attempts: 0, crashes: 0,
        nextAttemptAt: now, lastError: record.lastError, updatedAt: now)
    case .failed, .resting, .finished, .underway: nil
    }
  }
}

/// Counts how pairs ended, and what they paid.
struct ReplayTally: Sendable {
  private(set) var outcomes: [String: Int64] = [:]
  private(set) var coins: [String: Int64] = [:]

  /// Adds one pair, as it is in the snapshot.
  mutating func add(_ item: ReplayItem, in namespace: NamespaceID, from snapshot: any Snapshot) throws(StorageError) {
    if let execution = try snapshot.execution(in: namespace, of: item.event, by: item.function) {
      outcomes[Self.word(execution), default: 0] += 1
      guard let effect = execution.effect else { return }
      for entry in try snapshot.entries(in: namespace, of: effect) where entry.transfer.function == item.function {
        coins[entry.transfer.unit] = (coins[entry.transfer.unit] ?? 0).addingUpTo(entry.transfer.signedAmount)
      }
    } else if let delivery = try snapshot.delivery(in: namespace, of: item.event, to: item.function) {
      outcomes[delivery.state.rawValue, default: 0] += 1
    } else {
      outcomes["underway", default: 0] += 1
    }
  }

  /// An end in one word, or two: `done`, `skipped: not_referred`.
  static func word(_ execution: ExecutionRecord) -> String {
    guard execution.outcome == .skipped else { return execution.outcome.rawValue }
    return "skipped: \(firstWord(execution.reason ?? "no reason"))"
  }

  /// A reason without its particulars.
  static func firstWord(_ reason: String) -> String {
    String(reason.prefix { $0 != ":" && $0 != " " })
  }
}

extension Int64 {
  /// The sum, or the nearest number that there is: for reports, which add up what each fits and together need not.
  func addingUpTo(_ other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? (other > 0 ? .max : .min) : sum
  }
}

extension LedgerTransfer {
  /// What the players get by it: below zero where they pay.
  var signedAmount: Int64 { debit.kind == "issuance" ? amount : credit.kind == "redemption" ? -amount : 0 }
}
