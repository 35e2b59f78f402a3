#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The fields of a SQLite file's first hundred bytes that SQLite's own check does not look at.
enum StoreHeader {
  /// What is not as the writer leaves it; nil if nothing is.
  static func fault(at path: String) -> String? {
    // A checkpoint may have been at it.
    read(path).flatMap { _ in read(path) }
  }

  private static func read(_ path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: 100)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return "The file is shorter than its header." }
    func word(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    // SQLite counts changes at 24, and notes at 92 for which count the size at 28 is right.
    let isRight =
      bytes[18..<21] == [2, 2, 0] && word(24) == word(92) && bytes[72..<92].allSatisfy { $0 == 0 }
      // The form of the schema and of texts stand there from the first table on.
      && [0, 4].contains(word(44)) && word(56) <= 1
      && [48, 52, 60, 64, 68].allSatisfy { word($0) == 0 }
    return isRight ? nil : "The header of the file is not what was written."
  }
}
