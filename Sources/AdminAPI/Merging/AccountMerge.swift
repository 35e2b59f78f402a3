import APISupport
import Accounts
import HTTPServer
import Ledger
import Links
import NIOHTTP1
import RewardModel
import StorageCore
import TreeDatabase
import TreeModel

/// Merges two accounts of one player: what the one carries goes to the other, in one commit, once.
///
/// The referral moves, and with it what was paid for it: a reward that the one account, or whoever invited it, got for it is
/// not paid again for the other. Functions sleep through it, for no player did anything. Nobody can sign in to the account
/// that is left, so that it earns nothing more.
struct AccountMerge {
  /// Of which kind the records are; their keys are the accounts that were left.
  static let kind = "merge"
  /// How often it is planned anew because something changed meanwhile.
  private static let roundsMax = 8
  /// How long functions may take to finish what they have in hand, in milliseconds.
  private static let longTimeout: Int64 = 30_000

  let services: AdminServices
  let namespace: NamespaceID

  /// - Returns: what was moved; the same again if it is ordered again.
  func carryOut(_ order: MergeOrder) async throws(APIError) -> JSON {
    guard order.from != order.into else { throw .badRequest("\(order.from) stands on both sides.") }
    if let earlier = try earlier(order) { return earlier }
    for _ in 0..<Self.roundsMax {
      // Before functions are waited for: what is written later may have an event that they have not handled.
      let head = try self.head()
      try await settle(order)
      let plan: MergePlan
      do throws(APIError) {
        plan = try self.plan(order)
      } catch {
        // Another order may have moved everything since the first look.
        if let earlier = try earlier(order) { return earlier }
        throw error
      }
      do throws(CommitError) {
        return try await commit(plan, since: head)
      } catch {
        switch error.code {
        case .stale, .keyTaken: continue
        case .recordChanged: if let earlier = try earlier(order) { return earlier }
        default: throw APIError(error)
        }
      }
    }
    throw APIError(.conflict, "busy", "The accounts are written to all the time; try again when the player rests.")
  }

  /// What it would do, without doing it.
  func preview(_ order: MergeOrder) throws(APIError) -> JSON {
    guard order.from != order.into else { throw .badRequest("\(order.from) stands on both sides.") }
    if let earlier = try earlier(order) { return earlier }
    return report(try plan(order), at: nil, waiting: try waiting(order))
  }

  // MARK: Steps

  /// What an earlier merge of the same accounts did.
  private func earlier(_ order: MergeOrder) throws(APIError) -> JSON? {
    let namespace = namespace
    let stored = try read { (snapshot) throws(StorageError) in
      try snapshot.record(in: namespace, kind: Self.kind, key: order.from.text)
    }
    guard let stored, let json = try? JSONParser.parse(stored) else { return nil }
    let isSame =
      json["into"]?.string?.utf8.elementsEqual(order.into.text.utf8) == true
      && json["movesBalances"]?.bool == order.movesBalances && json["copiesRecord"]?.bool == order.copiesRecord
    guard isSame else {
      throw APIError(
        .conflict, "merged_before",
        "\(order.from) was merged into \(json["into"]?.string ?? "another account") before, which happens once. Move what is "
          + "left with \"doubloon ledger transfer\" and \"doubloon data\".")
    }
    return json
  }

  /// Nothing may be under way for the account that is left: it would be paid for both.
  private func settle(_ order: MergeOrder) async throws(APIError) {
    var waiting: [String] = []
    if let report = await services.functions?.drain(timeoutMilliseconds: Self.longTimeout), !report.isComplete {
      for run in report.running {
        guard let text = run["event"]?.string, let event = EventID(text), WaitingWork.concerns(event, order.from.text) else {
          continue
        }
        waiting.append("\(run["function"]?.string ?? "a function") for \(text) is running")
      }
    }
    waiting += try self.waiting(order)
    guard waiting.isEmpty else { throw .unsettled(order.from.text, waiting) }
  }

  /// What waits for the account that is left, as the store knows it.
  private func waiting(_ order: MergeOrder) throws(APIError) -> [String] {
    let namespace = namespace
    return try read { (snapshot) throws(StorageError) in
      let work = WaitingWork(uid: order.from.text, namespace: namespace, snapshot: snapshot)
      return try work.deliveries() + work.holds()
    }
  }

  private func plan(_ order: MergeOrder) throws(APIError) -> MergePlan {
    let text = services.links?.settings.referral.path ?? "/users/{uid}/referred_by"
    guard let referral = try? PathPattern(parsing: text) else { throw .badRequest("\(text) is no pattern of a place.") }
    let (namespace, currencies) = (namespace, services.ledger?.declaredCurrencies ?? [])
    let result = try read { (snapshot) throws(StorageError) -> Result<MergePlan, APIError> in
      var plan = try MergePlan(order, referral: referral, currencies: currencies, in: namespace, snapshot)
      guard try exists(order.into, snapshot, currencies) else {
        return .failure(
          APIError(
            .notFound, "not_found",
            "There is neither an account nor a record of \(order.into), so nothing can go there. See to the spelling."))
      }
      if try snapshot.account(in: namespace, uid: order.into.text)?.isDisabled == true {
        return .failure(
          APIError(
            .conflict, "disabled",
            "Nobody can sign in to \(order.into), and nobody could to \(order.from) afterwards. Enable it before: "
              + "doubloon accounts enable \(order.into)"))
      }
      return try plan.fill().map { .failure($0) } ?? .success(plan)
    }
    return try result.get()
  }

  private func exists(_ uid: Key, _ snapshot: any Snapshot, _ currencies: [Currency]) throws(StorageError) -> Bool {
    if try snapshot.account(in: namespace, uid: uid.text) != nil { return true }
    let places = (try? PersonalPaths(of: uid.text, currencies: currencies, patterns: []))?.paths ?? []
    for place in places where try !snapshot.leaves(in: namespace, under: PathBytes(place), limit: 1).isEmpty { return true }
    return false
  }

  private func head() throws(APIError) -> Revision {
    let namespace = namespace
    return try read { (snapshot) throws(StorageError) in try snapshot.head(of: namespace).revision }
  }

  private func commit(_ plan: MergePlan, since head: Revision) async throws(CommitError) -> JSON {
    let order = plan.order
    let report = report(plan, at: services.database.clock.now())
    var request = CommitRequest(namespace: namespace, actor: order.actor, operations: plan.operations)
    request.requestID = "merge/\(order.from)/\(order.into)"
    request.expectations = plan.expectations
    request.quiet = plan.records.map { CommitRequest.Quiet(path: $0, since: head) }
    request.transfers = plan.transfers
    request.records = [
      KeyedRecordChange(
        kind: Self.kind, key: order.from.text, value: String(decoding: report.compactBytes, as: UTF8.self), expecting: .absent)
    ]
    request.suppressesTriggers = true
    request.decision = services.accounts?.disabling(order.from.text)
    request.isMarked = true
    _ = try await services.database.commit(request)
    return report
  }

  private func report(_ plan: MergePlan, at time: Int64?, waiting: [String]? = nil) -> JSON {
    let order = plan.order
    return .record([
      ("from", .string(order.from.text)), ("into", .string(order.into.text)), ("referrer", plan.referrer.map(JSON.string)),
      ("balances", .array(plan.moved.map { ["unit": .string($0.unit), "amount": .int($0.amount)] })),
      ("copied", .array(plan.copied.map { .string($0.description) })),
      ("held", plan.held.map { JSON.string($0.description) }),
      ("spent", .array(plan.spentKeys.map { .string($0.text) })), ("movesBalances", .bool(order.movesBalances)),
      ("copiesRecord", .bool(order.copiesRecord)), ("by", .string(order.actor.description)), ("reason", .string(order.reason)),
      ("at", time.map(JSON.int)), ("waiting", waiting.map { JSON.array($0.map(JSON.string)) }),
    ])
  }

  private func read<Value>(_ body: (any Snapshot) throws(StorageError) -> Value) throws(APIError) -> Value {
    do throws(StorageError) {
      return try services.database.engine.read(body)
    } catch {
      throw APIError(error)
    }
  }
}

extension JSON {
  /// As text on one line.
  fileprivate var compactBytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }
}
