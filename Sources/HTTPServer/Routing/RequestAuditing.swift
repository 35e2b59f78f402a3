package import NIOCore
package import StorageCore

/// Where it is put on record what administrators do, and what was refused.
package protocol RequestAuditing: Sendable {
  /// Adds a record of somebody with an administrator's credentials.
  ///
  /// - Parameter result: `ok`, or why it was refused.
  func record(
    _ action: String, by actor: Actor, _ captures: [String: String], _ query: QueryString, _ body: ByteBuffer?, result: String)
  /// Adds a record of somebody without, who was refused; only so many are kept.
  func recordStranger(_ action: String, by actor: Actor, result: String)
}
