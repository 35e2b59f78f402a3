/// What a check of a whole store found: its pages, and every row against its witness.
public struct StoreReport: Sendable, Hashable {
  /// Rows that were read.
  public private(set) var rows: Int64 = 0
  /// What is wrong, in sentences; the first of them.
  public private(set) var faults: [String] = []
  /// How many there are altogether.
  public private(set) var faultCount = 0

  /// Faults that are kept.
  static let faultsMax = 100

  /// The report of a store of which nothing was read yet.
  public init() {}

  /// Whether everything is what was written.
  public var isSound: Bool { faultCount == 0 }

  /// Takes note of what is wrong.
  public mutating func note(_ message: String) {
    faultCount += 1
    if faults.count < Self.faultsMax { faults.append(message) }
  }

  /// Counts rows that were read.
  public mutating func count(_ more: Int64) {
    rows += more
  }
}
