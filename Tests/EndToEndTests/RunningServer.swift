import Functions
import FunctionsKit
import TestSupport
import TreeModel

@testable import AdminClient
@testable import ServerApp
@testable import ServerConfiguration

/// The whole application on a real socket, in a folder of its own, and a client that talks to it like anyone.
struct RunningServer {
  let folder: TemporaryFolder
  let application: Application
  let client: AdminClient
  /// A client that says nothing of who it is, as players' first requests.
  let player: AdminClient
  /// Where other clients find it.
  let address: String

  init(
    folder: TemporaryFolder = TemporaryFolder(), functions: @escaping @Sendable (Functions) -> Void = registerFunctions,
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) async throws {
    self.folder = folder
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    configure(&configuration)
    application = try Application(configuration: configuration, functions: functions)
    let port = try await application.start()
    address = "http://127.0.0.1:\(port)"
    client = try AdminClient(server: address, token: "owner")
    player = try AdminClient(server: address, token: nil)
  }

  func stop() async {
    await application.stop()
  }

  /// Starts a server, runs a test against it, and stops it whatever happens.
  static func run(
    configure: (inout ServerConfiguration) -> Void = { _ in }, _ test: (RunningServer) async throws -> Void
  ) async throws {
    let server = try await RunningServer(configure: configure)
    do {
      try await test(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }
}
