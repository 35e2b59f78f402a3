import StorageCore

/// The secret by which client networks, and players who were paid and left, are known again: made once, kept beside the signing
/// keys. Without it what was remembered is lost, and nothing else.
struct IdentitySecret {
  private static let name = "identities.secret"

  /// The secret of a key folder, made if there is none; a new one where keys live in memory alone.
  ///
  /// - Throws: ``KeyFolder/Failure`` if it cannot be read or kept, or is open to others.
  static func load(from folder: KeyFolder?) throws(KeyFolder.Failure) -> [UInt8] {
    guard let folder else { return fresh() }
    if let known = try folder.secret(named: name) {
      guard known.count == IdentityHash.keyBytes else {
        throw KeyFolder.Failure(
          description: "\(folder.path)/\(name) is damaged: restore it from a backup of the keys, or remove it.")
      }
      return known
    }
    let secret = fresh()
    try folder.keep(secret: secret, named: name)
    return secret
  }

  private static func fresh() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<IdentityHash.keyBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}
