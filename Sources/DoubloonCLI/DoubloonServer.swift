public import FunctionsKit
import ServerApp

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Doubloon for a studio's own `main`: its functions, with the whole command line.
///
/// ```swift
/// @main struct Main {
///   static func main() async { await DoubloonServer(functions: registerFunctions).main() }
/// }
/// ```
public struct DoubloonServer: Sendable {
  private let functions: @Sendable (Functions) -> Void

  /// - Parameter functions: registers the deployment's functions; called once for each server that is started.
  public init(functions: @escaping @Sendable (Functions) -> Void) {
    self.functions = functions
  }

  /// Runs the command that the arguments name, and ends the process with its exit code.
  ///
  /// - Parameter arguments: without the program's name; nil takes the process's own.
  public func main(_ arguments: [String]? = nil) async {
    // A client that hangs up while it is written to is an error on its socket, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    MemoryTrimmer.prepare()
    let code = await DoubloonCommandLine.$functions.withValue(FunctionRegistration(register: functions)) {
      await DoubloonCommandLine.execute(arguments)
    }
    exit(code)
  }
}

/// The deployment's functions, as a value that a task carries.
///
/// A struct around the closure, because a task local whose value is a bare closure crashes in optimised builds of
/// Swift 6.3: its reabstraction is specialised wrongly.
package struct FunctionRegistration: Sendable {
  package let register: @Sendable (Functions) -> Void

  package init(register: @escaping @Sendable (Functions) -> Void) {
    self.register = register
  }

  /// Registers the functions with an engine that is being started.
  func callAsFunction(_ functions: Functions) {
    register(functions)
  }
}
