import Credentials
import Glibc
import Logging
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

@Suite struct KeyRotatorTests {
  static let start: Int64 = 1_800_000_000_000

  static func rotator(_ folder: TemporaryFolder, _ clock: AdjustableClock) throws -> KeyRotator {
    try KeyRotator(
      storage: .directory(folder.path), clock: clock, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  @Test("the first key is made when it is needed, for its owner's eyes alone, and is there again after a restart")
  func first() throws {
    let (folder, clock) = (TemporaryFolder(), AdjustableClock(frozenAt: Self.start))
    let rotator = try Self.rotator(folder, clock)
    #expect(!FileBytes.exists(folder.file("keys")))
    let id = rotator.keys.ring.signingKey(at: Self.start).id
    let file = folder.file("keys/\(KeyFile.name(of: id))")
    #expect(FileMode.of(folder.file("keys")) == 0o700 && FileMode.of(file) == 0o600)
    let again = try Self.rotator(folder, clock)
    #expect(again.keys.areMade && again.keys.ring.entries.map(\.key.id) == [id])
    chmod(file, 0o640)
    #expect {
      try Self.rotator(folder, clock)
    } throws: { "\($0)".contains("chmod 600") }
    chmod(file, 0o600)
    chmod(folder.file("keys"), 0o755)
    #expect {
      try Self.rotator(folder, clock)
    } throws: { "\($0)".contains("chmod 700") }
    chmod(folder.file("keys"), 0o700)
    #expect(truncate(file, 100) == 0)
    #expect {
      try Self.rotator(folder, clock)
    } throws: { "\($0)".contains("no key file") }
  }

  @Test("keys follow one another: published before they sign, removed when nothing valid is left")
  func rotation() throws {
    let (folder, clock) = (TemporaryFolder(), AdjustableClock(frozenAt: Self.start))
    // A ring with a key that is fixed: making one takes long.
    let key = KeyRing.Entry(key: try SigningKey(pem: TestKeys.first), signsFrom: Self.start)
    try KeyFolder(path: folder.file("keys")).save(key)
    let rotator = try Self.rotator(folder, clock)
    rotator.rotate()
    #expect(rotator.keys.ring.entries.count == 1)
    clock.advance(by: KeyRing.period - KeyRing.lead)
    rotator.rotate()
    rotator.rotate()
    let next = try #require(rotator.keys.ring.entries.last)
    #expect(rotator.keys.ring.entries.count == 2 && next.signsFrom == Self.start + KeyRing.period)
    #expect(rotator.keys.ring.signingKey(at: clock.now()).id == key.key.id)
    #expect(try Self.rotator(folder, clock).keys.ring.entries.map(\.key.id) == [key.key.id, next.key.id])
    clock.advance(by: KeyRing.lead + KeyRing.retention + 1)
    rotator.rotate()
    #expect(rotator.keys.ring.entries.first?.key.id == next.key.id)
    #expect(try Self.rotator(folder, clock).keys.ring.entries.map(\.key.id) == rotator.keys.ring.entries.map(\.key.id))
  }
}
