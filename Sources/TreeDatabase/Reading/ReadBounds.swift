/// How much one read may cost, and when it is no longer wanted.
public struct ReadBounds: Sendable {
  /// Leaves and priorities that an answer may hold.
  public var leavesMax: Int
  /// Bytes of paths and values that may be looked at.
  public var bytesMax: Int
  /// Rows that may be looked at, those that are left out of the answer included.
  public var visitsMax: Int
  /// Asked now and then while rows are read: true ends the read with ``TreeReadError/stopped``.
  public var isUnwanted: (@Sendable () -> Bool)?

  public init(leavesMax: Int, bytesMax: Int, visitsMax: Int, isUnwanted: (@Sendable () -> Bool)? = nil) {
    self.leavesMax = leavesMax
    self.bytesMax = bytesMax
    self.visitsMax = visitsMax
    self.isUnwanted = isUnwanted
  }

  /// What an event loop may do between two packets.
  public static let brief = ReadBounds(leavesMax: 512, bytesMax: 1 << 20, visitsMax: 1024)
  /// What one answer may hold; for a thread that may take its time.
  public static let standard = ReadBounds(leavesMax: 1_000_000, bytesMax: 64 << 20, visitsMax: 4_000_000)
  /// What an administrator may ask for at once: 256 MB, as hosted (spec: rtdb-protocol §6).
  public static let generous = ReadBounds(leavesMax: 4_000_000, bytesMax: 256 << 20, visitsMax: 40_000_000)
}

/// Counts what a read has cost so far.
struct ReadMeter {
  private let bounds: ReadBounds
  private var visits = 0
  private var bytes = 0

  init(_ bounds: ReadBounds) {
    self.bounds = bounds
  }

  /// Bytes that may still be looked at.
  var bytesLeft: Int { bounds.bytesMax - bytes }

  /// The number of leaves that may be asked for at once.
  var leavesMax: Int { bounds.leavesMax }

  mutating func visit(rows: Int, bytes added: Int) throws(TreeReadError) {
    visits += rows
    bytes += added
    guard visits <= bounds.visitsMax, bytes <= bounds.bytesMax else { throw .tooLarge }
    if let isUnwanted = bounds.isUnwanted, isUnwanted() { throw .stopped }
  }

  func check(leaves: Int) throws(TreeReadError) {
    guard leaves <= bounds.leavesMax else { throw .tooLarge }
  }
}
