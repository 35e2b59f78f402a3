import Glibc

/// What a configuration may ask of the machine, so that a test can be the machine.
struct ConfigurationSurroundings: Sendable {
  /// Looks up a variable of the environment.
  let variable: @Sendable (String) -> String?
  /// Reads a file, whole; the failure is a sentence.
  let file: @Sendable (String) throws(CommandFailure) -> [UInt8]
  /// Whether every user of the machine may read a file.
  var isOpenToAll: @Sendable (String) -> Bool = { _ in false }

  /// The process's own.
  static let process = ConfigurationSurroundings(
    variable: { ServerOptions.variable($0) }, file: { (path) throws(CommandFailure) in try FileBytes.read(path) },
    isOpenToAll: { FileBytes.isOpenToAll($0) })
}
