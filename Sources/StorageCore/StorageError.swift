/// What went wrong below the store's door: the file, the disk, the schema. Never a fault of a request, but for
/// ``Code/unsuitable``.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  /// What kind of fault. Engines may learn of more, so it is no enum that a caller could switch over completely.
  public struct Code: Sendable, Hashable {
    private enum Value: Sendable, Hashable { case locked, newerSchema, damaged, full, failed, stopped, unreadable, unsuitable }
    private let value: Value

    private init(_ value: Value) { self.value = value }

    /// Another process has the data open.
    public static let locked = Code(.locked)
    /// The file was written by a newer version.
    public static let newerSchema = Code(.newerSchema)
    /// The file does not hold what it should.
    public static let damaged = Code(.damaged)
    /// The disk is full.
    public static let full = Code(.full)
    /// Reading or writing failed; after a failed commit nothing more is written.
    public static let failed = Code(.failed)
    /// The store is closed.
    public static let stopped = Code(.stopped)
    /// What was asked for lies before what the store still remembers.
    public static let unreadable = Code(.unreadable)
    /// The file that a copy was to go to cannot be one: it is no regular file, or lies beside the store.
    public static let unsuitable = Code(.unsuitable)
  }

  /// Which kind.
  public let code: Code
  /// What happened, and what to do.
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}
