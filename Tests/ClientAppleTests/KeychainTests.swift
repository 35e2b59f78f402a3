#if canImport(Darwin)
  import ClientApple
  import Foundation
  import Testing

  /// The keychain of the machine that runs this, with an entry of its own that is taken away again.
  @Suite struct KeychainTests {
    @Test("a session is kept, replaced and removed; another account has none")
    func session() throws {
      let service = "doubloon-tests-\(UUID().uuidString)"
      let session = KeychainSession(service: service, account: "one")
      #expect(session.read() == nil)
      try session.write([1, 2, 3])
      #expect(KeychainSession(service: service, account: "one").read() == [1, 2, 3])
      #expect(KeychainSession(service: service, account: "two").read() == nil)
      try session.write([4])
      #expect(session.read() == [4])
      try session.write(nil)
      try session.write(nil)
      #expect(session.read() == nil)
    }
  }
#endif
