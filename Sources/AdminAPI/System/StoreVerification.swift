package import AdminModel
import HTTPServer
package import Ledger
import RewardModel
package import StorageCore
import TreeDatabase

/// Everything that can be proved of a store at once: its pages and rows, and of each namespace the log, the ledger and the index
/// of referrals.
///
/// What cannot be read is a fault like any other, so a damaged store gets a whole report.
package struct StoreVerification: Sendable {
  /// What was found in one namespace's logs.
  struct Part: Sendable {
    /// How much was read, and what was wrong with it.
    var answer: AdminSystem.NamespaceVerification

    init(namespace: String) {
      answer = AdminSystem.NamespaceVerification(namespace: namespace, faultCount: 0, faults: [])
    }

    /// Takes over the faults of an audit.
    mutating func add(_ messages: [String], of count: Int) {
      answer.faults += messages
      answer.faultCount += Int64(count)
    }

    /// Runs an audit on a look of its own; what it cannot read is a fault.
    mutating func check(
      _ what: String, in engine: any StorageEngine, audit: (any Snapshot, inout Part) throws -> Void
    ) {
      do {
        try engine.read { snapshot in try audit(snapshot, &self) }
      } catch {
        add(["\(what) cannot be read: \(error)"], of: 1)
      }
    }
  }

  /// Pages and rows.
  package private(set) var store = StoreReport()
  private(set) var parts: [Part] = []

  /// Whether everything is what was written.
  package var isSound: Bool { store.isSound && parts.allSatisfy { $0.answer.faultCount == 0 } }

  /// Checks everything, each part on a look of its own; others go on writing.
  ///
  /// - `currencies`: nil where no ledger is kept.
  /// - `referrals`: where the tree says who referred a player; nil where no index of that is kept.
  package static func run(_ engine: any StorageEngine, currencies: CurrencyTable?, referrals: ReferralPath?)
    -> StoreVerification
  {
    var result = StoreVerification()
    let namespaces: [NamespaceRecord]
    do {
      result.store = try engine.check()
      namespaces = try engine.read { snapshot in try snapshot.namespaces() }
    } catch {
      result.store.note("The store cannot be read: \(error)")
      return result
    }
    for namespace in namespaces {
      var part = Part(namespace: namespace.name)
      part.check("The log", in: engine) { snapshot, part in
        let log = try LogAudit.verify(snapshot, namespace: namespace.id)
        (part.answer.commits, part.answer.executions) = (log.commits, log.executions)
        part.add(log.faults.map(\.message), of: log.faultCount)
      }
      if let currencies {
        part.check("The ledger", in: engine) { snapshot, part in
          let ledger = try LedgerAudit.verify(snapshot, namespace: namespace.id, currencies: currencies)
          (part.answer.entries, part.answer.ledgerAccounts) = (ledger.entryCount, Int64(ledger.accountCount))
          part.add(ledger.faults.map(\.message), of: ledger.faultCount)
        }
      }
      if let referrals {
        part.check("The index of referrals", in: engine) { snapshot, part in
          let index = try ReferralAudit.verify(snapshot, namespace: namespace.id, referralPath: referrals)
          part.answer.referrals = index.referrals
          part.add(index.messages, of: index.faultCount)
        }
      }
      result.parts.append(part)
    }
    return result
  }

  /// What was found wrong in all.
  package var faultCount: Int { store.faultCount + parts.reduce(0) { $0 + Int($1.answer.faultCount) } }

  /// What was found wrong, in a sentence; nil if nothing was.
  package var failure: String? {
    guard !isSound else { return nil }
    let first = store.faults.first ?? parts.lazy.compactMap(\.answer.faults.first).first ?? "see doubloon verify"
    return "\(faultCount) faults, the first: \(first)"
  }

  /// The report as the administrators' surface answers it.
  package var answer: AdminSystem.Verification {
    AdminSystem.Verification(
      sound: isSound, rows: store.rows, faultCount: Int64(store.faultCount), faults: store.faults,
      namespaces: parts.map(\.answer))
  }
}
