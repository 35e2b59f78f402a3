import CConsoleAssets
import Crypto
import TextFormats

/// The console's files as the program carries them: a tar file, packed as gzip by `Scripts/console_pack.py`.
enum ConsoleArchive {
  /// A tar file is made of blocks of so many bytes.
  private static let block = 512

  /// The archive's bytes.
  static var packed: [UInt8] {
    Array(UnsafeBufferPointer(start: console_archive(), count: Int(console_archive_count)))
  }

  /// What it says, as far as nobody may confuse two: 16 hexadecimal digits.
  static let version = String(Hex.encode(Array(SHA256.hash(data: packed))).prefix(16))

  /// The files by their names: unpacked when the first one is asked for, not at each start. None where the program is damaged, which
  /// is then told to whom asks for one.
  static let files: [String: [UInt8]] = (try? Gunzip.unpack(packed)).map(files(in:)) ?? [:]

  /// The files of a tar file (POSIX.1-1988, ustar), as far as it is one. What is in folders has their names before its own.
  static func files(in archive: [UInt8]) -> [String: [UInt8]] {
    var (files, at): ([String: [UInt8]], Int) = ([:], 0)
    while at + block <= archive.count, archive[at] != 0 {
      let head = archive[at..<(at + block)]
      let name = String(decoding: head.prefix(100).prefix { $0 != 0 }, as: UTF8.self)
      let digits = String(decoding: head.dropFirst(124).prefix(12).prefix { $0 != 0 && $0 != UInt8(ascii: " ") }, as: UTF8.self)
      let begin = at + block
      guard let count = Int(digits, radix: 8), count >= 0, count <= archive.count - begin else { break }
      files[name] = Array(archive[begin..<(begin + count)])
      at = begin + (count + block - 1) / block * block
    }
    return files
  }
}
