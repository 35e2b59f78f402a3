import DoubloonCLI
package import FunctionsKit
import Synchronization

/// One call of the command line, with what it printed.
package struct CommandRun: Sendable {
  package let code: Int32
  package let out: String
  package let err: String

  /// Runs the command that the arguments name.
  package init(_ arguments: [String], functions: @escaping @Sendable (Functions) -> Void = { _ in }) async {
    let out = Captured()
    let err = Captured()
    let output = CommandOutput(out: out.append, err: err.append, showsProgress: false)
    code = await DoubloonCommandLine.$output.withValue(output) {
      await DoubloonCommandLine.$functions.withValue(FunctionRegistration(register: functions)) {
        await DoubloonCommandLine.execute(arguments)
      }
    }
    self.out = out.text
    self.err = err.text
  }

  private final class Captured: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }
  }
}
