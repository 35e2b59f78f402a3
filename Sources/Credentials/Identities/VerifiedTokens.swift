import Crypto
import Synchronization
import TreeModel

/// Tokens whose signature was checked, so that it is checked once: a check costs 30 µs, looking here 1 µs.
///
/// Bounded: there are two generations, and when the young one is half of the capacity the old one is forgotten. Kept by the
/// token's hash, so that nobody chooses who meets whom in the table.
final class VerifiedTokens: Sendable {
  private struct Entry {
    let token: IDToken
    let key: KeyID
  }

  private struct Generations {
    var young: [SHA256Digest: Entry] = [:]
    var old: [SHA256Digest: Entry] = [:]
  }

  private let capacity: Int
  private let generations = Mutex(Generations())

  init(capacity: Int) {
    self.capacity = max(2, capacity)
  }

  /// The token of a text; nil if it is not known, or its key is no longer published.
  func token(for text: String, isPublished: (KeyID) -> Bool) -> IDToken? {
    guard text.utf8.count <= WebToken.sizeMax else { return nil }
    let hash = Self.hash(text)
    let entry = generations.withLock { generations -> Entry? in
      if let entry = generations.young[hash] { return entry }
      guard let entry = generations.old.removeValue(forKey: hash) else { return nil }
      insert(entry, hash, in: &generations)
      return entry
    }
    guard let entry, isPublished(entry.key) else { return nil }
    return entry.token
  }

  func insert(_ token: IDToken, for text: String, signedWith key: KeyID?) {
    guard let key else { return }
    let hash = Self.hash(text)
    generations.withLock { insert(Entry(token: token, key: key), hash, in: &$0) }
  }

  /// How many are kept.
  var count: Int { generations.withLock { $0.young.count + $0.old.count } }

  private func insert(_ entry: Entry, _ hash: SHA256Digest, in generations: inout Generations) {
    if generations.young.count >= capacity / 2 {
      generations.old = generations.young
      generations.young = [:]
    }
    generations.young[hash] = entry
  }

  private static func hash(_ text: String) -> SHA256Digest {
    var text = text
    return text.withUTF8 { buffer in
      var hasher = SHA256()
      hasher.update(bufferPointer: UnsafeRawBufferPointer(buffer))
      return hasher.finalize()
    }
  }
}
