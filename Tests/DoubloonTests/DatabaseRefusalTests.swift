import ClientRuntime
import Foundation
import Testing

@testable import Doubloon

/// What the library refuses by itself, before anything is sent; and the numbers of its errors.
@Suite(.timeLimit(.minutes(5))) struct DatabaseRefusalTests {
  @Test(
    "an error of the database has Firebase's number and a sentence as NSError",
    arguments: [
      (DatabaseError.permissionDenied(reason: "", path: "/a"), 1), (.unavailable("busy"), 2), (.offline, 2),
      (.writeCanceled, 3), (.stale, 9999), (.maxRetries, 9999), (.overriddenBySet, 9999), (.disconnected, 9999),
      (.invalidPath("a.b"), 9999),
      (.invalidData("nothing"), 9999), (.invalidQuery(reason: "two orders"), 9999), (.notConfigured, 9999), (.timedOut, 9999),
      (.failed(status: "too_big", reason: ""), 9999),
    ])
  func numbers(error: DatabaseError, number: Int) {
    let bridged = error as NSError
    #expect(bridged.domain == "com.firebase" && bridged.code == number)
    #expect(!bridged.localizedDescription.isEmpty && bridged.localizedDescription == error.errorDescription)
  }

  @Test("what no server takes is refused at once: long texts and keys, deep trees, numbers that are none, and other types")
  func limits() {
    let client = DatabaseClient(port: 1)
    client.database.goOffline()
    let ref = client.ref("a")
    func nested(_ levels: Int) -> Any { (0..<levels).reduce(1 as Any) { value, _ in ["k": value] } }
    let refused: [Any] = [
      String(repeating: "x", count: 10 << 20 + 1), nested(32), [String(repeating: "k", count: 769): 1], Double.nan,
      Double.infinity, ["a.b": 1], [1: 2], Date(), [Data()],
    ]
    for value in refused {
      guard case .refused(.invalidData(let reason)) = ref.write(value).state else {
        Issue.record("\(String(describing: value).prefix(40)) was taken")
        continue
      }
      #expect(!reason.isEmpty)
    }
    for value in [nested(31), [String(repeating: "k", count: 768): 1], "text", 2.5] as [Any] {
      #expect(ref.write(value).state == .queued, "\(String(describing: value).prefix(40))")
    }
  }

  @Test("without a configuration every operation of a database fails with a sentence, and nothing traps")
  func notConfigured() async throws {
    let ref = Doubloon.Database.database(app: .unconfigured).reference(withPath: "a")
    let errors = await [
      failure { try await ref.setValue(1) }, failure { try await ref.updateChildValues(["b": 1]) },
      failure { try await ref.removeValue() }, failure { _ = try await ref.getData() },
      failure { _ = try await ref.queryOrderedByKey().queryLimited(toFirst: 1).getData() },
      failure { for try await _ in ref.snapshots {} }, failure { for try await _ in ref.childEvents() {} },
      failure { try await ref.transaction(as: Int.self) { _ in 1 } }, failure { try await ref.onDisconnectSetValue(1) },
    ]
    for error in errors {
      #expect(error as? DatabaseError == .notConfigured)
      #expect(error?.localizedDescription.contains("configure") == true)
    }
    let begun = await failure { _ = try await Referrals.referrals(app: .unconfigured).begin(proof: nil) }
    #expect("\(String(describing: begun))".contains("configure"))
  }
}
