import Synchronization

/// The time zones of a machine, read when they are first asked for.
package final class ZoneFiles: ZoneReading {
  /// The content of a file by its name, such as `Europe/Warsaw`; nil if there is none.
  private let read: @Sendable (String) -> [UInt8]?
  private let known = Mutex<[String: ZoneRules?]>([:])

  /// Names that are remembered, those that mean nothing among them: clients choose them.
  private static let countMax = 1000

  package init(read: @escaping @Sendable (String) -> [UInt8]?) {
    self.read = read
  }

  package func zone(named name: String) -> ZoneRules? {
    if name == "UTC" || name == "Etc/UTC" { return .utc }
    guard Self.isName(name) else { return nil }
    if let zone = known.withLock({ $0[name] }) { return zone }
    let zone = read(name).flatMap { ZoneRules(file: $0) }
    known.withLock { if $0.count < Self.countMax { $0[name] = .some(zone) } }
    return zone
  }

  /// Whether a text can name a zone, and no other file.
  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
        part.utf8.first.map { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A } == true
          && part.utf8.allSatisfy {
            (($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A) || (0x30...0x39).contains($0) || [0x5F, 0x2D, 0x2B].contains($0)
          }
      }
  }
}
