import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import ServerApp
@testable import ServerConfiguration

/// Development limits nothing (README, the table of the two modes).
struct LinkLimitTests {
  @Test("A development server lets an app create links as fast as it likes")
  func development() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    // Everything happens within one moment.
    configuration.clock = AdjustableClock(frozenAt: 1_700_000_000_000)
    let application = try Application(configuration: configuration) { _ in }
    let port = try await application.start()
    do {
      let address = "http://127.0.0.1:\(port)"
      let admin = try AdminClient(server: address, token: "owner")
      let settings: JSON = ["domains": ["https://go.acme.test/r"], "hosts": ["acme.test"], "apiKeys": ["web-key-1"]]
      _ = try await admin.put("/admin/v1/links/settings", settings)
      let app = try AdminClient(server: address, token: nil)
      for number in 0..<20 {
        let long = "https://go.acme.test/r/?link=https://acme.test/\(number)"
        let made = try await app.post(
          "/v1/shortLinks", ["longDynamicLink": .string(long)], query: [QueryItem("key", "web-key-1")])
        #expect(made["shortLink"]?.string?.hasPrefix("https://go.acme.test/r/") == true)
      }
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }
}
