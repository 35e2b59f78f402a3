/// Where a session stands in line for a transaction, so that it can leave when it ends. Pure.
///
/// It may have lost some of these places since: its time there has passed. The one where a write of it waits it never gives
/// up by itself, for nobody else would call that write.
struct TransactionPlaces {
  /// More are not kept: a session that stands in so many lines leaves one.
  static let placesMax = 64

  private(set) var all: Set<TransactionTurns.Place> = []

  /// The session stands in this line now.
  ///
  /// - Parameter waiting: where a write of it waits.
  /// - Returns: the line that it must leave for that.
  mutating func enter(_ place: TransactionTurns.Place, keeping waiting: TransactionTurns.Place?) -> TransactionTurns.Place? {
    guard !all.contains(place) else { return nil }
    let other = all.count < Self.placesMax ? nil : all.first { $0 != waiting }
    if let other { all.remove(other) }
    all.insert(place)
    return other
  }

  /// A transaction at this place is over.
  ///
  /// - Returns: whether the session must leave the line.
  mutating func leave(_ place: TransactionTurns.Place, keeping waiting: TransactionTurns.Place?) -> Bool {
    place != waiting && all.remove(place) != nil
  }
}
