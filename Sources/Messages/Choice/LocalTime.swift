import TextFormats

/// A date with a time of day, of no time zone yet: `2026-12-01T09:00`.
package struct LocalTime: Sendable, Hashable, CustomStringConvertible {
  /// Seconds from 1970-01-01T00:00 by the same calendar, as if there were no time zones.
  let seconds: Int64

  init(seconds: Int64) {
    self.seconds = seconds
  }

  /// Reads `2026-12-01T09:00` or with seconds.
  package init?(_ text: String) {
    let length = text.utf8.count
    guard length == 16 || length == 19 else { return nil }
    guard let milliseconds = CalendarTime.milliseconds(rfc3339: text + (length == 16 ? ":00Z" : "Z")) else { return nil }
    // A day beyond its month's end would count on into the next month.
    let time = CalendarTime(milliseconds: milliseconds)
    guard text.utf8.starts(with: time.rfc3339.utf8.prefix(10)) else { return nil }
    seconds = milliseconds / 1000
  }

  package var description: String { String(CalendarTime(milliseconds: seconds * 1000).rfc3339.prefix(19)) }
}

/// Where time zones are found by their names.
package protocol ZoneReading: Sendable {
  /// The zone of an IANA name; nil if there is none.
  func zone(named name: String) -> ZoneRules?
}

/// What a time zone's clocks showed and will show (RFC 8536).
package struct ZoneRules: Sendable {
  /// The moments at which the difference to UTC changes, in seconds since 1970, and what it is from then on, in seconds.
  private let changes: [(at: Int64, offset: Int64)]
  /// The difference before the first change.
  private let first: Int64
  /// What holds after the last change.
  private let later: YearlyRule?

  /// A zone that never changes.
  init(offset: Int64) {
    changes = []
    first = offset
    later = nil
  }

  package static let utc = ZoneRules(offset: 0)

  /// The difference to UTC at a moment, in seconds.
  func offset(at moment: Int64) -> Int64 {
    guard let last = changes.last, moment >= last.at else {
      var (low, high) = (0, changes.count)
      while low < high {
        let middle = (low + high) / 2
        if changes[middle].at <= moment { low = middle + 1 } else { high = middle }
      }
      return low == 0 ? (changes.isEmpty ? later?.offset(at: moment) ?? first : first) : changes[low - 1].offset
    }
    return later?.offset(at: moment) ?? last.offset
  }

  /// The moment at which the clocks show a time, in milliseconds since 1970; of a time that they skip the first moment after, of
  /// one that they show twice the first.
  ///
  /// - Returns: the moment, and whether the clocks show the time exactly once.
  package func moment(of time: LocalTime) -> (milliseconds: Int64, isPlain: Bool) {
    let offsets = Set([-86_400, 0, 86_400].map { offset(at: time.seconds + $0) })
    let fitting = offsets.map { time.seconds - $0 }.filter { $0 + offset(at: $0) == time.seconds }.sorted()
    if let moment = fitting.first { return (moment * 1000, fitting.count == 1) }
    // Skipped: the clocks jump somewhere in between; the jump itself is the first moment after.
    var (low, high) = (time.seconds - (offsets.max() ?? 0) - 1, time.seconds - (offsets.min() ?? 0) + 1)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if middle + offset(at: middle) < time.seconds { low = middle } else { high = middle }
    }
    return (high * 1000, false)
  }
}

extension ZoneRules {
  /// Reads a file of the system's time zones; nil if it is none.
  package init?(file bytes: [UInt8]) {
    var reader = ZoneFileReader(bytes)
    guard let parts = reader.read() else { return nil }
    changes = parts.changes
    first = parts.first
    later = YearlyRule(parts.footer)
  }
}

/// The bytes of a time zone's file (RFC 8536 section 3).
private struct ZoneFileReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private struct Header {
    let version: UInt8
    let counts: [Int]
  }

  /// What follows `TZif`; the block of version 1 is skipped, because its times have 32 bits.
  mutating func read() -> (changes: [(at: Int64, offset: Int64)], first: Int64, footer: String)? {
    guard let old = header(), old.version >= UInt8(ascii: "2") else { return nil }
    let counts = old.counts
    at += counts[3] * 5 + counts[4] * 6 + counts[5] + counts[2] * 8 + counts[1] + counts[0]
    guard let header = header() else { return nil }
    let (timeCount, typeCount) = (header.counts[3], header.counts[4])
    var times: [Int64] = []
    for _ in 0..<timeCount {
      guard let time = integer(8) else { return nil }
      times.append(time)
    }
    guard at + timeCount + typeCount * 6 <= bytes.count, typeCount > 0 else { return nil }
    let kinds = bytes[at..<(at + timeCount)].map(Int.init)
    at += timeCount
    var offsets: [Int64] = []
    for _ in 0..<typeCount {
      guard let offset = integer(4) else { return nil }
      offsets.append(offset)
      at += 2
    }
    guard kinds.allSatisfy({ $0 < typeCount }) else { return nil }
    at += header.counts[5] + header.counts[2] * 12 + header.counts[1] + header.counts[0]
    guard at < bytes.count else { return nil }
    let footer = bytes[at...].split(separator: UInt8(ascii: "\n")).first ?? []
    return (
      zip(times, kinds).map { ($0, offsets[$1]) }, offsets[0], String(decoding: footer, as: UTF8.self)
    )
  }

  private mutating func header() -> Header? {
    guard at + 44 <= bytes.count, bytes[at..<(at + 4)].elementsEqual("TZif".utf8) else { return nil }
    let version = bytes[at + 4]
    at += 20
    var counts: [Int] = []
    for _ in 0..<6 {
      guard let count = integer(4), (0...100_000).contains(count) else { return nil }
      counts.append(Int(count))
    }
    return Header(version: version, counts: counts)
  }

  /// A signed number, the highest byte first.
  private mutating func integer(_ size: Int) -> Int64? {
    guard at + size <= bytes.count else { return nil }
    var value: UInt64 = 0
    for byte in bytes[at..<(at + size)] { value = value << 8 | UInt64(byte) }
    at += size
    return size == 8 ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
  }
}

/// The rule of a zone's coming years: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX).
private struct YearlyRule: Sendable {
  /// A day of each year with its time.
  private struct Turn: Sendable {
    let month: Int
    /// 1 to 5; 5 is the last.
    let week: Int
    let weekday: Int
    /// Seconds after midnight of the clock that holds until then.
    let time: Int64

    /// The local time of the turn, in seconds from 1970.
    func seconds(in year: Int) -> Int64 {
      let first = CalendarTime.daysSince1970(year: year, month: month, day: 1)
      let firstWeekday = CalendarTime(milliseconds: Int64(first) * 86_400_000).weekday
      var day = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
      let next = CalendarTime.daysSince1970(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
      while day >= next { day -= 7 }
      return Int64(day) * 86_400 + time
    }
  }

  private let standard: Int64
  private let summer: (offset: Int64, start: Turn, end: Turn)?

  init?(_ text: String) {
    let pieces = text.split(separator: ",", omittingEmptySubsequences: false)
    guard let names = pieces.first, !names.isEmpty else { return nil }
    var rest = Array(names.utf8)[...]
    guard Self.skipName(&rest), let west = Self.offset(&rest) else { return nil }
    standard = -west
    guard !rest.isEmpty, Self.skipName(&rest), pieces.count == 3, let start = Self.turn(pieces[1]),
      let end = Self.turn(pieces[2])
    else {
      summer = nil
      return
    }
    let own = rest.isEmpty ? nil : Self.offset(&rest)
    summer = (own.map { -$0 } ?? standard + 3600, start, end)
  }

  func offset(at moment: Int64) -> Int64 {
    guard let summer else { return standard }
    let year = CalendarTime(milliseconds: (moment + standard) * 1000).year
    let start = summer.start.seconds(in: year) - standard
    let end = summer.end.seconds(in: year) - summer.offset
    let isSummer = start < end ? moment >= start && moment < end : moment >= start || moment < end
    return isSummer ? summer.offset : standard
  }

  private static func skipName(_ rest: inout ArraySlice<UInt8>) -> Bool {
    if rest.first == UInt8(ascii: "<") {
      guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
      rest = rest[(end + 1)...]
      return true
    }
    let name = rest.prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
    rest = rest.dropFirst(name.count)
    return !name.isEmpty
  }

  /// Hours, with minutes and seconds, in seconds.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
    let text = rest.prefix { (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x3A].contains($0) }
    rest = rest.dropFirst(text.count)
    return seconds(String(decoding: text, as: UTF8.self))
  }

  private static func seconds(_ text: String) -> Int64? {
    let isNegative = text.hasPrefix("-")
    let parts = text.drop { $0 == "-" || $0 == "+" }.split(separator: ":").map { Int64($0) }
    guard (1...3).contains(parts.count), !parts.contains(nil) else { return nil }
    let total = zip(parts, [3600, 60, 1]).reduce(Int64(0)) { $0 + ($1.0 ?? 0) * $1.1 }
    return isNegative ? -total : total
  }

  private static func turn(_ text: Substring) -> Turn? {
    let halves = text.split(separator: "/")
    guard let day = halves.first, day.hasPrefix("M"), let time = halves.count > 1 ? seconds(String(halves[1])) : 7200 else {
      return nil
    }
    let numbers = day.dropFirst().split(separator: ".").map { Int($0) ?? -1 }
    guard numbers.count == 3, (1...12).contains(numbers[0]), (1...5).contains(numbers[1]), (0...6).contains(numbers[2]) else {
      return nil
    }
    return Turn(month: numbers[0], week: numbers[1], weekday: numbers[2], time: time)
  }
}
