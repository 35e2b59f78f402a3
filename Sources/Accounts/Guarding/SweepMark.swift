import StorageCore

/// How far the clean-up of a namespace came: the next round goes on there, so that what is kept for good keeps nothing else.
struct SweepMark: Sendable {
  /// The anonymous account that was looked at last; nil to begin with the longest unused.
  var account: AccountRecord?
  /// The hash of the session that was looked at last; nil to begin with the first.
  var session: [UInt8]?
}
