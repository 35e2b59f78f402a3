import StorageCore
import Synchronization
import TreeModel

@testable import AdminAPI

/// Notes what it is asked; knows one function, `f`, and never gets done.
final class StubFunctions: FunctionOperating {
  let problems: [String]
  private let noted = Mutex<[String]>([])

  init(problems: [String]) {
    self.problems = problems
  }

  var calls: [String] { noted.withLock { $0 } }

  func functionRecords() throws(OperationFault) -> [FunctionRecord] { [] }

  func pause(_ function: String, reason: String, by actor: Actor) async throws(OperationFault) {
    guard function == "f" else { throw OperationFault(.notFound, "There is no function \(function).") }
    noted.withLock { $0.append("pause \(function) \(reason) \(actor)") }
  }

  func resume(_ function: String, by actor: Actor) async throws(OperationFault) {
    noted.withLock { $0.append("resume \(function)") }
  }

  func retryDeadLetters(of function: String, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault) -> Int {
    noted.withLock { $0.append("retry \(function)") }
    return 3
  }

  func redeliver(_ event: EventID, in namespace: NamespaceID, by actor: Actor) async throws(OperationFault) {}

  func drain(timeoutMilliseconds: Int64) async -> DrainReport {
    DrainReport(isComplete: false, running: [["event": "1-1:/a", "function": "f"]], unfinished: [])
  }
}
