#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// What a write-ahead log holds, read frame by frame before SQLite plays it back.
///
/// SQLite takes a log up to the first frame that does not follow on the one before it, and forgets the rest without a word:
/// right for a transaction that a power cut tore, and a silent loss where a bit was flipped in the midst of what was
/// acknowledged. The two can be told apart. A frame carries the salts of its log's generation and a checksum that continues
/// the one in the frame before it, so each can be checked by its neighbour alone, also behind a broken one. And a transaction
/// is only written when all before it are durable (``LogFile``, ``HistoryCompactor``): so a sound frame of a *later*
/// transaction proves that the broken one was whole once. Only the last transaction may be torn.
struct LogInspection {
  /// The salts in the header: they differ for each generation of the log. Nil where no header can be read.
  private(set) var salts: UInt64?
  /// Where the last whole transaction of the unbroken part ends, in bytes; 0 without a readable header.
  private(set) var soundBytes: Int64 = 0
  /// Where the first frame stands that is not what was written; nil: there is none.
  private(set) var breakOffset: Int64?
  /// Transactions that end behind the break.
  private(set) var laterTransactions = 0
  /// Whether frames of this generation stand behind the last whole transaction: a power cut, or a process that died, left them.
  private(set) var hasRest = false
  /// Whether a sound frame of a later transaction proves that what is broken was durable.
  private(set) var isBrokenInTheMiddle = false
  /// The size of the file; 0 if there is none.
  private(set) var fileBytes: Int64 = 0

  static let headerBytes = 32
  private static let frameHeaderBytes = 24
  /// How much is read in one go, about.
  private static let chunkBytes = 1 << 20

  /// Reads the log at a path; one that is not there is empty.
  init(path: String) throws(StorageError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      throw FileCalls.failed("opening", path)
    }
    defer { _ = close(descriptor) }
    fileBytes = Int64(lseek(descriptor, 0, SEEK_END))
    let header = try Self.read(descriptor, Self.headerBytes, at: 0, path)
    guard header.count == Self.headerBytes else { return }
    let words = header.withUnsafeBytes { bytes in
      (0..<8).map { UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)) }
    }
    // The last bit of the magic number says in which order the words of the checksums are.
    let isBigEndian = words[0] & 1 == 1
    var sum = Checksum(isBigEndian: isBigEndian)
    header.withUnsafeBytes { sum.add(UnsafeRawBufferPointer(rebasing: $0[..<24])) }
    let pageBytes = Int(words[2])
    let isSize = (512...65536).contains(pageBytes) && pageBytes & (pageBytes - 1) == 0
    guard words[0] & ~1 == 0x377F_0682, isSize, sum.first == words[6], sum.second == words[7] else {
      // The header is synced before any frame follows it: a log that goes on behind a broken one is damaged.
      breakOffset = 0
      isBrokenInTheMiddle = fileBytes > Int64(Self.headerBytes)
      return
    }
    salts = UInt64(words[4]) << 32 | UInt64(words[5])
    soundBytes = Int64(Self.headerBytes)
    try readFrames(descriptor, pageBytes: pageBytes, after: sum, at: path)
  }

  private mutating func readFrames(_ descriptor: Int32, pageBytes: Int, after header: Checksum, at path: String)
    throws(StorageError)
  {
    let frameBytes = Self.frameHeaderBytes + pageBytes
    let perChunk = max(1, Self.chunkBytes / frameBytes)
    var offset = Int64(Self.headerBytes)
    var before = header
    /// Where the last frame of this generation ends, sound or not.
    var last = offset
    /// Whether the end of the broken transaction was passed.
    var isLater = false
    while true {
      let chunk = try Self.read(descriptor, perChunk * frameBytes, at: offset, path)
      let count = chunk.count / frameBytes
      chunk.withUnsafeBytes { bytes in
        for index in 0..<count {
          let frame = Frame(UnsafeRawBufferPointer(rebasing: bytes[index * frameBytes..<(index + 1) * frameBytes]))
          let isOurs = frame.salts == salts
          let isSound = isOurs && frame.page != 0 && frame.follows(before)
          before = frame.checksum(isBigEndian: before.isBigEndian)
          let end = offset + Int64((index + 1) * frameBytes)
          if isOurs { last = end }
          if breakOffset == nil, isSound {
            if frame.endsTransaction { soundBytes = end }
            continue
          }
          breakOffset = breakOffset ?? end - Int64(frameBytes)
          if isLater, isSound { isBrokenInTheMiddle = true }
          guard isOurs, frame.endsTransaction else { continue }
          if isLater { laterTransactions += 1 }
          isLater = true
        }
      }
      offset += Int64(count * frameBytes)
      guard count == perChunk else {
        // Half a frame at the end of the file.
        let piece = chunk[(count * frameBytes)...]
        if piece.count >= Self.frameHeaderBytes, piece.withUnsafeBytes({ Frame($0).salts == salts }) { last = fileBytes }
        break
      }
    }
    hasRest = last > soundBytes
  }

  private static func read(_ descriptor: Int32, _ count: Int, at offset: Int64, _ path: String) throws(StorageError) -> [UInt8]
  {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let found = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + done, count - done, off_t(offset) + done) }
      guard found >= 0 else { throw FileCalls.failed("reading", path) }
      if found == 0 { break }
      done += found
    }
    return done == count ? bytes : Array(bytes[..<done])
  }
}

extension LogInspection {
  /// SQLite's checksum of the log: two sums over words of 32 bits.
  struct Checksum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
      var (first, second) = (first, second)
      let isBigEndian = isBigEndian
      for offset in stride(from: 0, to: bytes.count, by: 8) {
        let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let two = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        first &+= (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
        second &+= (isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ first
      }
      (self.first, self.second) = (first, second)
    }
  }

  /// A page of the log, with the header before it.
  struct Frame {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
      self.bytes = bytes
    }

    private func word(_ index: Int) -> UInt32 {
      UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
    }

    var page: UInt32 { word(0) }
    /// The frame that ends a transaction holds the size of the store after it.
    var endsTransaction: Bool { word(1) != 0 }
    var salts: UInt64 { UInt64(word(2)) << 32 | UInt64(word(3)) }

    /// What the frame says its checksum is.
    func checksum(isBigEndian: Bool) -> Checksum {
      Checksum(isBigEndian: isBigEndian, first: word(4), second: word(5))
    }

    /// Whether its checksum continues the one before.
    func follows(_ before: Checksum) -> Bool {
      var sum = before
      sum.add(UnsafeRawBufferPointer(rebasing: bytes[..<8]))
      sum.add(UnsafeRawBufferPointer(rebasing: bytes[24...]))
      return sum.first == word(4) && sum.second == word(5)
    }
  }
}
