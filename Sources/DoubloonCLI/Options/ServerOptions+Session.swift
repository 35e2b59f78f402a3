import AdminClient
import Credentials
import Logging
import ServerApp
import ServerConfiguration
import StorageCore
import TreeModel

extension ServerOptions {
  /// Connects, runs `body`, and closes what was opened: with `--data`, a server of this process's own that runs no
  /// functions, so that looking changes nothing.
  ///
  /// - Parameter spansNamespaces: whether `body` is not about one namespace.
  func withClient<Result>(spansNamespaces: Bool = false, _ body: (AdminClient) async throws -> Result) async throws -> Result {
    if let data {
      return try await Self.withApplication(on: data) { client in
        if !spansNamespaces, namespace == nil { try await Self.checkNamespace(client, data) }
        return try await body(client)
      }
    }
    func explained(_ client: AdminClient) async throws -> Result {
      do {
        return try await body(client)
      } catch let error as AdminClientError where error.status == 404 {
        try await explainNamespace(client)
        throw error
      }
    }
    let authority = authority ?? Self.variable("DOUBLOON_CA")
    switch try credential() {
    case .token(let token):
      return try await Self.explaining(try AdminClient(server: address(), token: token, authority: authority), explained)
    case .serviceAccount(let account):
      // A key file says itself where its server is.
      let server = namesAddress() ? address() : account.server
      let client = try AdminClient(server: server, token: nil, authority: authority)
      let token = try await Self.explaining(client) { client in
        try await client.accessToken(for: account, at: SystemClock().now())
      }
      return try await Self.explaining(try AdminClient(server: server, token: token, authority: authority), explained)
    }
  }

  /// Opens a data folder in this process, on a free port of the loopback address and with a token that nobody else knows.
  static func withApplication<Result>(on folder: String, _ body: (AdminClient) async throws -> Result) async throws -> Result {
    guard FileBytes.exists("\(folder)/doubloon.db") else {
      throw CommandFailure("There is no store in \(folder); name the folder that \"doubloon dev\" printed at its start.")
    }
    var configuration = ServerConfiguration(storage: .directory(folder))
    configuration.port = 0
    configuration.adminToken = RandomToken.make()
    configuration.dispatchesFunctions = false
    let token = configuration.adminToken
    var logger = Logger(label: "doubloon", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = .warning
    let application: Application
    let port: Int
    do {
      application = try Application(
        configuration: configuration, logger: logger, functions: DoubloonCommandLine.functions.register)
      port = try await application.start()
    } catch {
      throw CommandFailure("\(folder) cannot be opened: \(error)")
    }
    do {
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: token)
      let result = try await explaining(client, body)
      await application.stop()
      return result
    } catch {
      await application.stop()
      throw error
    }
  }

  /// Adds what a person at a command line can do about a failure.
  private static func explaining<Result>(_ client: AdminClient, _ body: (AdminClient) async throws -> Result) async throws
    -> Result
  {
    do {
      let result = try await body(client)
      await client.close()
      return result
    } catch let error as AdminClientError {
      await client.close()
      switch error.code {
      case .unreachable:
        throw CommandFailure(
          "No server answers at \(client.address); start one with \"doubloon dev\", or name the data folder with --data.")
      case .refused(status: 401):
        throw CommandFailure(
          "\(client.address) did not accept the key (\(error.message)); name the right one with --key or DOUBLOON_KEY.")
      default: throw error
      }
    }
  }

  /// Says which namespaces there are, if what was not found is the namespace itself.
  private func explainNamespace(_ client: AdminClient) async throws {
    let names = try? await client.get(AdminPath.namespaces).listed("namespaces").compactMap { $0["name"]?.string }
    let fallback = try? await client.get(AdminPath.status)["defaultNamespace"]?.string
    guard let names, let name = namespace ?? fallback, !names.contains(name) else { return }
    throw CommandFailure(Self.missing(name, names, at: client.address.description))
  }

  /// What to do about a namespace that is not there.
  static func missing(_ name: String, _ names: [String], at place: String) -> String {
    guard !names.isEmpty else { return "\(place) has no namespace \(name), and no other; one appears with the first write." }
    return "\(place) has no namespace \(name); name one with --ns: \(names.sorted().joined(separator: ", "))."
  }

  /// A folder does not say which project it was served as; what has another name than the default's must be named.
  private static func checkNamespace(_ client: AdminClient, _ folder: String) async throws {
    let names = try await client.get(AdminPath.namespaces).listed("namespaces").compactMap { $0["name"]?.string }
    let fallback = try await client.get(AdminPath.status)["defaultNamespace"]?.string ?? ""
    guard !names.isEmpty, !names.contains(fallback) else { return }
    throw CommandFailure(missing(fallback, names, at: folder))
  }
}
