import Accounts
package import StorageCore
package import TreeModel

/// Where in the tree a player's own data are: the record that the balance is part of, what the configuration and the order
/// name beside it, and the account.
package struct PersonalPaths: Sendable {
  /// Why the paths of a player cannot be told.
  package enum PathsError: Error, Sendable, CustomStringConvertible {
    /// A pattern that cannot be read.
    case unreadable(pattern: String, PatternError)
    /// A pattern that does not stand for one path of each player.
    case notPersonal(pattern: String)
    /// A uid that no key of the tree can be.
    case illegalKey(uid: String, PathPattern)

    package var description: String {
      switch self {
      case .unreadable(let pattern, let error): "\"\(pattern.prefix(200))\" is no pattern of a place: \(error)"
      case .notPersonal(let pattern):
        "\"\(pattern.prefix(200))\" must name the player by one capture and be open nowhere else: /leaderboard/{uid}."
      case .illegalKey(let uid, let pattern):
        "\"\(uid.prefix(200))\" can be no key of the tree, so nothing can stand at \(pattern)."
      }
    }
  }

  /// None lies within another.
  package let paths: [Path]

  /// - `patterns`: with one capture each, for the player: `/leaderboard/{uid}`.
  package init(of uid: String, currencies: [Currency], patterns: [String]) throws {
    var found = [AccountRecord.path(of: uid)] + Self.records(of: uid, currencies: currencies)
    for pattern in patterns { found.append(try Self.path(of: uid, in: pattern)) }
    paths = Self.outermost(of: found)
  }

  /// The subtrees that a player's balances are part of: `/users/bob` for `/users/{uid}/inventory/gold`.
  package static func records(of uid: String, currencies: [Currency]) -> [Path] {
    guard let key = try? Key(uid) else { return [] }
    return outermost(of: currencies.compactMap { record(of: key, currency: $0) })
  }

  /// What lies within another path goes with it.
  private static func outermost(of paths: [Path]) -> [Path] {
    paths.enumerated().filter { index, path in
      !paths.enumerated().contains { $0 != index && $1.contains(path) && ($1 != path || $0 < index) }
    }.map(\.element)
  }

  private static func record(of uid: Key, currency: Currency) -> Path? {
    let segments = currency.pattern.segments
    guard currency.pattern.captureNames.count == 1,
      let capture = segments.firstIndex(where: { if case .single = $0 { true } else { false } }),
      let balance = try? currency.pattern.path(filling: [uid.text])
    else { return nil }
    return Path(keys: Array(balance.keys[...capture]))
  }

  private static func path(of uid: String, in text: String) throws -> Path {
    let pattern: PathPattern
    do {
      pattern = try PathPattern(parsing: text)
    } catch {
      throw PathsError.unreadable(pattern: text, error)
    }
    guard pattern.isPersonal else { throw PathsError.notPersonal(pattern: text) }
    do {
      return try pattern.path(filling: [uid])
    } catch {
      throw PathsError.illegalKey(uid: uid, pattern)
    }
  }
}
