/// A sorted run of the table `history`, as the table `history_run` lists it.
struct HistoryRun: Sendable, Hashable {
  enum State: String {
    /// To be looked through by whoever reads the past.
    case whole
    /// Being merged from whole runs of the level below.
    case growing
    /// Its rows are being removed; another run has them.
    case retired
  }

  /// The name of its rows: of a run that the writer made the last revision, of a merged one a number beyond all revisions.
  let generation: Int64
  /// It holds the changes of later revisions than this one.
  let after: Int64
  /// It holds the changes up to this revision.
  let last: Int64

  /// The name of a merged run. Runs of one level are disjoint, so their last revisions differ.
  static func mergedName(last: Int64, level: Int64) -> Int64 { mergedNames + last * 8 + level }

  /// Where the names of merged runs begin.
  static let mergedNames: Int64 = 1 << 62

  /// Merging ends here: 16 to the seventh runs are more than a file can hold.
  static let levelMax: Int64 = 7
}
