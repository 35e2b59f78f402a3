import Accounts
import HTTPServer
import StorageCore
import TreeModel

/// Where in the tree a player's own data stand: the record that the balance is part of, what the configuration and the order
/// name beside it, and the account.
struct PersonalPaths {
  let paths: [Path]

  /// - `patterns`: with one capture each, for the player: `/leaderboard/{uid}`.
  /// - Throws: `invalid_argument` if a pattern names no place, or the uid can be no key.
  init(of uid: String, currencies: [Currency], patterns: [String]) throws(APIError) {
    var places = [AccountRecord.place(of: uid)]
    if let key = try? Key(uid) { places += currencies.compactMap { Self.record(of: key, $0) } }
    for pattern in patterns { places.append(try Self.place(of: uid, pattern)) }
    // One that lies within another goes with it.
    paths = places.enumerated().filter { index, place in
      !places.enumerated().contains { $0 != index && $1.contains(place) && ($1 != place || $0 < index) }
    }.map(\.element)
  }

  /// The subtree that a player's balance hangs in: `/users/bob` for `/users/{uid}/inventory/gold`.
  private static func record(of uid: Key, _ currency: Currency) -> Path? {
    let segments = currency.pattern.segments
    guard currency.pattern.captureNames.count == 1,
      let capture = segments.firstIndex(where: { if case .single = $0 { true } else { false } }),
      let balance = try? currency.pattern.path(filling: [uid.text])
    else { return nil }
    return Path(keys: Array(balance.keys[...capture]))
  }

  /// The place that a pattern stands for.
  private static func place(of uid: String, _ text: String) throws(APIError) -> Path {
    let pattern: PathPattern
    do throws(PatternError) {
      pattern = try PathPattern(parsing: text)
    } catch {
      throw .badRequest("\"\(text.prefix(200))\" is no pattern of a place: \(error)")
    }
    guard pattern.isPersonal else {
      throw .badRequest(
        "\"\(text.prefix(200))\" must name the player by one capture and be open nowhere else: /leaderboard/{uid}.")
    }
    do {
      return try pattern.path(filling: [uid])
    } catch {
      throw .badRequest("\"\(uid.prefix(200))\" can be no key of the tree, so nothing can stand at \(pattern).")
    }
  }
}
