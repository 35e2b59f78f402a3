package import FunctionsKit
import Glibc

/// What a configuration may ask of the machine, so that a test can be the machine.
package struct ConfigurationSurroundings: Sendable {
  /// Looks up a variable of the environment.
  let variable: @Sendable (String) -> String?
  /// Reads a file, whole; the failure is a sentence.
  let file: @Sendable (String) throws(FileError) -> [UInt8]
  /// Whether every user of the machine may read a file.
  var isOpenToAll: @Sendable (String) -> Bool = { _ in false }
  /// Registers the deployment's functions: the file may hold settings of those, and of no others.
  package var functions: @Sendable (Functions) -> Void = { _ in }

  /// The process's own, without functions.
  package static let process = ConfigurationSurroundings(
    variable: { name in getenv(name).flatMap { $0.pointee == 0 ? nil : String(cString: $0) } },
    file: { (path) throws(FileError) in try FileBytes.read(path) },
    isOpenToAll: { FileBytes.isOpenToAll($0) })
}
