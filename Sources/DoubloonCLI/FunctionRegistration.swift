package import FunctionsKit

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
