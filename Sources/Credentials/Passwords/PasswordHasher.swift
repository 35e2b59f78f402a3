/// Hashes new passwords, and checks given ones.
///
/// scrypt with parameters that OWASP's cheat sheet recommends. One check takes about a tenth of a second of a core, and 16 MB:
/// call it on threads of your own, and as few at a time as the machine has memory for.
package struct PasswordHasher: Sendable {
  /// What one hash costs.
  package struct Cost: Sendable, Hashable {
    /// The binary logarithm of scrypt's N.
    package let logN: Int
    /// scrypt's block size.
    package let r: Int
    /// scrypt's parallelism.
    package let p: Int

    /// - Precondition: within the bounds that stored records may have.
    package init(logN: Int, r: Int, p: Int) {
      precondition(
        PasswordScheme.scrypt(logN: logN, r: r, p: p).isBounded(hashSize: 32), "scrypt(2^\(logN), \(r), \(p)) is out of bounds."
      )
      self.logN = logN
      self.r = r
      self.p = p
    }

    /// OWASP Password Storage Cheat Sheet: N = 2^14, r = 8, p = 5, which costs a guesser as much as its other sets do, and a
    /// small server an eighth of the memory that N = 2^17 takes.
    package static let recommended = Cost(logN: 14, r: 8, p: 5)
    /// For tests that are about something else: a millisecond, no protection.
    package static let test = Cost(logN: 4, r: 8, p: 1)
  }

  /// What came of a check.
  package enum Verdict: Sendable, Hashable {
    /// Another password, or none is set.
    case wrong
    /// The password. Where `isOutdated`, hash it again and store the new record: it came from elsewhere, or was cheaper.
    case right(isOutdated: Bool)
  }

  private static let saltSize = 16
  private static let hashSize = 32

  /// What new hashes cost.
  package let cost: Cost

  package init(cost: Cost = .recommended) {
    self.cost = cost
  }

  private var scheme: PasswordScheme { .scrypt(logN: cost.logN, r: cost.r, p: cost.p) }

  /// A new record for a password; nil if the password is longer than ``PasswordRecord/passwordMax``, or memory is short.
  package func record(for password: String, using random: inout some RandomNumberGenerator) -> PasswordRecord? {
    let bytes = Array(password.utf8)
    guard bytes.count <= PasswordRecord.passwordMax else { return nil }
    let salt = (0..<Self.saltSize).map { _ in UInt8.random(in: 0...255, using: &random) }
    return scheme.hash(bytes, salt: salt, size: Self.hashSize).flatMap {
      PasswordRecord(scheme: scheme, salt: salt, hash: $0)
    }
  }

  /// Checks a password against what an account stores.
  ///
  /// - `stored`: ``PasswordRecord/text``; nil for an account that is not there or has no password: then as much time
  ///   is spent, so that the duration does not tell which addresses are known.
  package func check(_ password: String, against stored: String?) -> Verdict {
    guard let record = stored.flatMap(PasswordRecord.init) else {
      _ = scheme.hash(Array(password.utf8.prefix(PasswordRecord.passwordMax)), salt: [0], size: Self.hashSize)
      return .wrong
    }
    return record.matches(password) ? .right(isOutdated: record.scheme != scheme) : .wrong
  }
}
