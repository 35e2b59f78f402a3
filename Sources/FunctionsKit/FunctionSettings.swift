/// A function's parameters, with defaults in code: overridden in the configuration under the function's name, printed at
/// start, and recorded with each run.
public protocol FunctionSettings: Codable, Sendable {
  /// Names of settings that are nil by default, which the encoded defaults therefore do not show.
  static var optionalNames: Set<String> { get }
}

extension FunctionSettings {
  public static var optionalNames: Set<String> { [] }
}

/// The settings of a function that has none.
struct NoSettings: FunctionSettings {}
