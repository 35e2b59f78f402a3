#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What stops the program: a mistake of the programmer, or of a configuration that nobody has checked.
enum Misuse {
  /// Says what is wrong, and stops. The sentence is written here because a release build drops that of a trap.
  static func stop(_ message: String) -> Never {
    let line = Array("Error: \(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    preconditionFailure(message)
  }
}
