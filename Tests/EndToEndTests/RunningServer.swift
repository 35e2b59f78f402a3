import Functions
import FunctionsKit
import ServerApp
import TestSupport
import TreeModel

/// The whole application on a real socket, in a folder of its own, and a client that talks to it like anyone.
struct RunningServer {
  let folder: TemporaryFolder
  let application: Application
  let client: AdminClient
  /// A client that says nothing of who it is, as players' first requests.
  let player: AdminClient

  init(
    folder: TemporaryFolder = TemporaryFolder(), functions: @escaping @Sendable (Functions) -> Void = registerFunctions
  ) async throws {
    self.folder = folder
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    application = try Application(configuration: configuration, functions: functions)
    let port = try await application.start()
    client = try AdminClient(server: "http://127.0.0.1:\(port)", token: "owner")
    player = try AdminClient(server: "http://127.0.0.1:\(port)", token: nil)
  }

  func stop() async {
    await application.stop()
  }

  /// Starts a server, runs a test against it, and stops it whatever happens.
  static func run(_ test: (RunningServer) async throws -> Void) async throws {
    let server = try await RunningServer()
    do {
      try await test(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }
}
