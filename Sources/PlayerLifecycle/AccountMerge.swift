package import Accounts
package import FunctionsKit
package import StorageCore
package import TreeDatabase
package import TreeModel

/// Why two accounts were not merged. Nothing was moved.
package enum MergeError: Error, Sendable, CustomStringConvertible {
  /// The account would be merged into itself.
  case sameAccount(Key)
  /// There is neither an account nor a record of the player who is to get everything.
  case unknownTarget(Key)
  /// The remaining account has no way to sign in, or the merge would leave one open to the other.
  case disabledTarget(Key, from: Key)
  /// The accounts are of two tenants: players of two brands are two.
  case otherTenant(Key, Key)
  /// Something still has to be done for the account that is left: a sentence for each.
  case unsettled(uid: String, work: [String])
  /// The account was merged into another one before, or with other options.
  case mergedBefore(Key, into: String)
  /// The declared path of referrals is no pattern.
  case unreadableReferralPattern(String)
  /// The declared path of referrals has other captures than the player.
  case impersonalReferralPattern(PathPattern)
  /// The value at the referral's path is no player's id.
  case invalidReferral(Path)
  /// The one account was invited by the other.
  case selfReferral(Key, by: Key)
  /// The account that the player goes on with was invited by another player; nil if the value there names none.
  case alreadyReferred(Key, by: String?)
  /// A reward for the referrer waits for each of the accounts.
  case heldTwice(referrer: String, Path, Path)
  /// The balances of a player cannot be found among so many.
  case tooManyBalances(unit: String, PathPattern)
  /// More values than one merge copies.
  case recordTooLarge(Path)
  case nothingToMove(Key)
  /// The accounts were written to at every attempt.
  case busy

  package var description: String {
    switch self {
    case .sameAccount(let uid): "\(uid) stands on both sides."
    case .unknownTarget(let uid):
      "There is neither an account nor a record of \(uid), so nothing can go there. See to the spelling."
    case .disabledTarget(let into, let from):
      "Nobody can sign in to \(into), and nobody could to \(from) afterwards. Enable it before: "
        + "doubloon accounts enable \(into)"
    case .otherTenant(let from, let into):
      "\(from) and \(into) are players of two tenants, which are kept apart: nothing was moved."
    case .unsettled(let uid, let work): WaitingWork.message(of: uid, because: work)
    case .mergedBefore(let from, let into):
      "\(from) was merged into \(into) before, which happens once. Move what is left with \"doubloon ledger transfer\" and "
        + "\"doubloon data\"."
    case .unreadableReferralPattern(let text): "\(text) is no pattern of a place."
    case .impersonalReferralPattern(let pattern): "The referral's place \(pattern) must have one capture, the player."
    case .invalidReferral(let path): "What stands at \(path) names no player; correct it first."
    case .selfReferral(let uid, let inviter): "\(inviter) invited \(uid): nobody can invite themselves."
    case .alreadyReferred(let uid, let inviter):
      "\(uid) was invited by \(inviter ?? "somebody else"), and that stays. Nothing was moved."
    case .heldTwice(let referrer, let source, let target):
      "A reward for \(referrer) waits for each of the accounts, at \(source) and \(target): remove the one that is not to be "
        + "paid, and ask again."
    case .tooManyBalances(let unit, let pattern):
      "The balances in \(unit) stand at more places of \(pattern) than can be looked through for the players' own. Nothing was "
        + "moved; move the coins with \"doubloon ledger transfer\", and the referral with \"doubloon data\"."
    case .recordTooLarge(let path):
      "The record at \(path) has more than 10,000 values; copy it with \"doubloon data\"."
    case .nothingToMove(let uid):
      "\(uid) carries no referral. Move the coins with --balances, and what else there is with --record."
    case .busy: "The accounts are written to all the time; try again when the player rests."
    }
  }
}

/// Merges two accounts of one player: what the one carries goes to the other, in one commit, once. What waits to be shown to the
/// one is shown to the other.
///
/// The referral moves, and with it what was paid for it: a reward that the one account, or the one who invited it, got for it is
/// not paid again for the other. Functions do not run for it, because no player did anything. Nobody can sign in to the
/// account that is left, so that it earns nothing more.
package struct AccountMerge: Sendable {
  /// What a deployment declares and a merge needs.
  package struct Declarations: Sendable {
    /// The kinds of coin.
    package var currencies: [Currency]
    /// Where the tree says who referred a player, as a pattern with the player as its capture.
    package var referralPattern: String
    /// Where functions keep rewards that wait for a referrer.
    package var heldRewards: [HeldRewardPath]

    package init(
      currencies: [Currency], referralPattern: String = "/users/{uid}/referred_by", heldRewards: [HeldRewardPath] = []
    ) {
      self.currencies = currencies
      self.referralPattern = referralPattern
      self.heldRewards = heldRewards
    }
  }

  /// How often it is planned again because something changed meanwhile.
  private static let roundsMax = 8
  /// How long functions may take to finish what they have begun, in milliseconds.
  private static let drainTimeout: Int64 = 30_000

  let database: Database
  let accounts: AccountService?
  let functions: (any FunctionActivity)?
  let declarations: Declarations
  let recordMoves: RecordMoves?

  /// Records beside the tree that go along, as changes that expect what was read; reads one snapshot.
  package typealias RecordMoves =
    @Sendable (_ from: String, _ into: String, NamespaceID, any Snapshot) throws(StorageError) -> [KeyedRecordChange]

  /// - `recordMoves`: what waits for the one player and goes to the other; nil if nothing does.
  package init(
    database: Database, accounts: AccountService?, functions: (any FunctionActivity)?, declarations: Declarations,
    recordMoves: RecordMoves? = nil
  ) {
    self.database = database
    self.accounts = accounts
    self.functions = functions
    self.declarations = declarations
    self.recordMoves = recordMoves
  }

  /// - Returns: what was moved; the same again if it is ordered again.
  /// - Throws: `MergeError`, and what the store and the writer throw.
  package func carryOut(_ order: MergeOrder, in namespace: NamespaceID) async throws -> MergeReport {
    guard order.from != order.into else { throw MergeError.sameAccount(order.from) }
    if let earlier = try earlier(order, in: namespace) { return earlier }
    for _ in 0..<Self.roundsMax {
      // Read before waiting for functions: a later write may have an event that they have not handled.
      let head = try database.engine.read { snapshot in try snapshot.head(of: namespace).revision }
      try await settle(order, in: namespace)
      let plan: MergePlan
      do {
        plan = try self.plan(order, in: namespace)
      } catch {
        // Another order may have moved everything since the first look.
        if let earlier = try earlier(order, in: namespace) { return earlier }
        throw error
      }
      do throws(CommitError) {
        return try await commit(plan, since: head)
      } catch {
        switch error.code {
        case .stale, .keyTaken: continue
        case .recordChanged: if let earlier = try earlier(order, in: namespace) { return earlier }
        default: throw error
        }
      }
    }
    throw MergeError.busy
  }

  /// What it would do, without doing it; or what it did.
  ///
  /// - Returns: also what has to be done before, a sentence each; nil for a merge that was carried out.
  package func preview(_ order: MergeOrder, in namespace: NamespaceID) throws -> (report: MergeReport, waitingWork: [String]?) {
    guard order.from != order.into else { throw MergeError.sameAccount(order.from) }
    if let earlier = try earlier(order, in: namespace) { return (earlier, nil) }
    return (MergeReport(try plan(order, in: namespace), at: nil), try waitingWork(order, in: namespace))
  }

  // MARK: Steps

  /// What an earlier merge of the same accounts did.
  private func earlier(_ order: MergeOrder, in namespace: NamespaceID) throws -> MergeReport? {
    let stored = try database.engine.read { snapshot in
      try snapshot.record(in: namespace, kind: MergeReport.kind, key: order.from.text)
    }
    guard let report = stored.flatMap({ MergeReport(stored: $0) }) else { return nil }
    let isSame =
      report.into.utf8.elementsEqual(order.into.text.utf8) && report.movesBalances == order.movesBalances
      && report.copiesRecord == order.copiesRecord
    guard isSame else { throw MergeError.mergedBefore(order.from, into: report.into) }
    return report
  }

  /// Nothing may be under way for the account that is left: it would be paid for both.
  private func settle(_ order: MergeOrder, in namespace: NamespaceID) async throws {
    var work =
      await functions?.unfinishedRuns(for: order.from.text, timeoutMilliseconds: Self.drainTimeout) ?? []
    work += try waitingWork(order, in: namespace)
    guard work.isEmpty else { throw MergeError.unsettled(uid: order.from.text, work: work) }
  }

  /// What waits for the account that is left, as the store knows it.
  private func waitingWork(_ order: MergeOrder, in namespace: NamespaceID) throws -> [String] {
    try database.engine.read { snapshot in
      let work = WaitingWork(uid: order.from.text, namespace: namespace, snapshot: snapshot)
      return try work.deliveries() + work.holds()
    }
  }

  private func plan(_ order: MergeOrder, in namespace: NamespaceID) throws -> MergePlan {
    guard let referral = try? PathPattern(parsing: declarations.referralPattern) else {
      throw MergeError.unreadableReferralPattern(declarations.referralPattern)
    }
    return try database.engine.read { snapshot in
      guard try exists(order.into, in: namespace, snapshot: snapshot) else { throw MergeError.unknownTarget(order.into) }
      let into = try snapshot.account(in: namespace, uid: order.into.text)
      if into?.isDisabled == true { throw MergeError.disabledTarget(order.into, from: order.from) }
      if let into, let from = try snapshot.account(in: namespace, uid: order.from.text), from.tenant != into.tenant {
        throw MergeError.otherTenant(order.from, order.into)
      }
      var plan = MergePlan(order, declarations, referralPattern: referral, in: namespace, snapshot)
      try plan.fill()
      plan.recordMoves = try recordMoves?(order.from.text, order.into.text, namespace, snapshot) ?? []
      return plan
    }
  }

  private func exists(_ uid: Key, in namespace: NamespaceID, snapshot: any Snapshot) throws -> Bool {
    if try snapshot.account(in: namespace, uid: uid.text) != nil { return true }
    let paths = (try? PersonalPaths(of: uid.text, currencies: declarations.currencies, patterns: []))?.paths ?? []
    for path in paths where try !snapshot.leaves(in: namespace, under: PathBytes(path), limit: 1).isEmpty { return true }
    return false
  }

  private func commit(_ plan: MergePlan, since head: Revision) async throws(CommitError) -> MergeReport {
    let order = plan.order
    let report = MergeReport(plan, at: database.clock.now())
    var request = CommitRequest(namespace: plan.namespace, actor: order.actor, operations: plan.operations)
    request.log.requestID = "merge/\(order.from)/\(order.into)"
    request.preconditions.expectations = plan.expectations
    request.preconditions.unwritten = plan.records.map { CommitRequest.Unwritten(path: $0, since: head) }
    request.ledger.transfers = plan.transfers
    request.rows.records = [report.change] + plan.recordMoves
    request.triggers.areSuppressed = true
    request.decision = accounts?.disabling(order.from.text)
    request.log.isMarked = true
    _ = try await database.commit(request)
    return report
  }
}
