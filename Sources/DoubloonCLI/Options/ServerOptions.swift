import AdminClient
import AdminModel
import ArgumentParser
import Credentials
import Glibc
import Logging
import ServerApp
import ServerConfiguration
import StorageCore
import TextFormats
import TreeModel

/// Which server a command talks to, as whom, about which namespace.
struct ServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server's address. (environment: DOUBLOON_SERVER; default: http://127.0.0.1:9000)", valueName: "url"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "The admin key, or a file: with the key, or of a service account. (environment: DOUBLOON_KEY; default: owner)",
      valueName: "file|token"))
  var key: String?

  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "Certificates that vouch for an https server's. (environment: DOUBLOON_CA; default: the system's)", valueName: "file"))
  var authority: String?

  @Option(
    help: ArgumentHelp("Open this data folder instead of asking a server; no server may have it open.", valueName: "dir"))
  var data: String?

  @Option(
    name: .customLong("ns"),
    help: ArgumentHelp("The namespace. (default: the server's own, PROJECT-default-rtdb)", valueName: "name"))
  var namespace: String?

  mutating func validate() throws {
    if server != nil, data != nil {
      throw ValidationError("--server and --data exclude each other: ask a running server, or open a folder.")
    }
    if let namespace, !NamespaceName.isLegal(namespace) {
      throw ValidationError("--ns must be 1 to \(NamespaceName.lengthMax) letters, digits and hyphens.")
    }
  }

  /// The parameter that names the namespace, if one was named.
  var query: [QueryItem] { [QueryItem("ns", namespace)].compactMap(\.self) }

  /// The address to talk to.
  ///
  /// - Parameter environment: looks up a variable.
  func address(environment: (String) -> String? = Self.variable) -> String {
    server ?? environment("DOUBLOON_SERVER") ?? ServerAddress.local.description
  }

  /// Whether an address was named, by option or variable.
  func namesAddress(environment: (String) -> String? = Self.variable) -> Bool {
    server != nil || environment("DOUBLOON_SERVER") != nil
  }

  /// What to sign in with.
  ///
  /// - Parameter environment: looks up a variable.
  func credential(environment: (String) -> String? = Self.variable) throws -> AdminCredential {
    guard let text = key ?? environment("DOUBLOON_KEY") else { return .token("owner") }
    guard FileBytes.exists(text), !FileBytes.isFolder(text) else {
      if text.contains("/") { throw CommandError("There is no key file \(text); check --key and DOUBLOON_KEY.") }
      return .token(text)
    }
    let content = String(decoding: try FileBytes.read(text), as: UTF8.self)
    guard let line = content.split(whereSeparator: \.isNewline).first?.trimmingSpaces, !line.isEmpty else {
      throw CommandError("The key file \(text) is empty; it must hold the token in its first line.")
    }
    guard line.hasPrefix("{") else { return .token(line) }
    guard let file = try? JSONParser.parse(content), let account = ServiceAccountKey(file: file) else {
      throw CommandError("\(text) is no key file of a service account of Doubloon.")
    }
    return .serviceAccount(account)
  }

  /// A variable of the process's environment; nil if it is empty.
  static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}

extension Substring {
  /// Without blanks at both ends.
  fileprivate var trimmingSpaces: String {
    var text = self
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}

extension ServerOptions {
  /// Connects, runs `body`, and closes what was opened: with `--data`, a server of this process's own that runs no
  /// functions, so that looking changes nothing.
  ///
  /// - `spansNamespaces`: whether `body` is not about one namespace.
  func withClient<Result>(spansNamespaces: Bool = false, body: (AdminClient) async throws -> Result) async throws -> Result {
    if let data {
      // Who looks changes nothing: "doubloon upgrade" does.
      return try await Self.withApplication(on: data, upgrades: .refused) { client in
        if !spansNamespaces, namespace == nil { try await Self.checkNamespace(client, folder: data) }
        return try await body(client)
      }
    }
    func explained(_ client: AdminClient) async throws -> Result {
      do {
        if !spansNamespaces, namespace == nil, client.address.namesTree {
          client.mean(tree: try await client.call(AdminSystem.status).value.defaultNamespace)
        }
        return try await body(client)
      } catch let error as AdminClientError where error.status == 404 {
        try await explainNamespace(client)
        throw error
      }
    }
    let authority = authority ?? Self.variable("DOUBLOON_CA")
    switch try credential() {
    case .token(let token):
      return try await Self.explaining(try AdminClient(server: address(), token: token, authority: authority), body: explained)
    case .serviceAccount(let account):
      // A key file says itself where its server is.
      let server = namesAddress() ? address() : account.server
      let client = try AdminClient(server: server, token: nil, authority: authority)
      let token = try await Self.explaining(client) { client in
        try await client.accessToken(for: account, at: SystemClock().now())
      }
      return try await Self.explaining(try AdminClient(server: server, token: token, authority: authority), body: explained)
    }
  }

  /// Opens a data folder in this process, on a free port of the loopback address and with a token that nobody else knows.
  ///
  /// - `upgrades`: what is to be done with a store of an older version.
  static func withApplication<Result>(
    on folder: String, upgrades: UpgradePolicy.Mode = .uncopied, body: (AdminClient) async throws -> Result
  ) async throws -> Result {
    guard FileBytes.exists("\(folder)/doubloon.db") else {
      throw CommandError("There is no store in \(folder); name the folder that \"doubloon dev\" printed at its start.")
    }
    var configuration = ServerConfiguration(storage: .directory(folder))
    configuration.port = 0
    configuration.adminToken = RandomToken.make()
    configuration.dispatchesFunctions = false
    configuration.upgrades = upgrades
    configuration.schema = DoubloonCommandLine.schema
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
      throw CommandError(opening: folder, error: error)
    }
    do {
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: token)
      let result = try await explaining(client, body: body)
      await application.stop()
      return result
    } catch {
      await application.stop()
      throw error
    }
  }

  /// Adds what a person at a command line can do about a failure.
  private static func explaining<Result>(_ client: AdminClient, body: (AdminClient) async throws -> Result) async throws
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
        throw CommandError(
          "No server answers at \(client.address); start one with \"doubloon dev\", or name the data folder with --data.")
      case .refused(status: 401):
        throw CommandError(
          "\(client.address) did not accept the key (\(error.message)); name the right one with --key or DOUBLOON_KEY.")
      default: throw error
      }
    }
  }

  /// Says which namespaces there are, if what was not found is the namespace itself.
  private func explainNamespace(_ client: AdminClient) async throws {
    let names = try? await client.call(AdminSystem.namespaces).value.namespaces.map(\.name)
    let fallback = try? await client.call(AdminSystem.status).value.defaultNamespace
    guard let names, let name = namespace ?? fallback, !names.contains(name) else { return }
    throw CommandError(Self.missing(name, names: names, at: client.address.description))
  }

  /// What to do about a namespace that is not there.
  static func missing(_ name: String, names: [String], at server: String) -> String {
    guard !names.isEmpty else { return "\(server) has no namespace \(name), and no other; one appears with the first write." }
    return "\(server) has no namespace \(name); name one with --ns: \(names.sorted().joined(separator: ", "))."
  }

  /// A folder does not say which project it was served as; what has another name than the default's must be named.
  private static func checkNamespace(_ client: AdminClient, folder: String) async throws {
    let names = try await client.call(AdminSystem.namespaces).value.namespaces.map(\.name)
    let fallback = try await client.call(AdminSystem.status).value.defaultNamespace
    guard !names.isEmpty, !names.contains(fallback) else { return }
    throw CommandError(missing(fallback, names: names, at: folder))
  }
}

/// What a command signs in with.
enum AdminCredential: Sendable {
  /// A secret that is sent as it is.
  case token(String)
  /// A key that buys an access token first.
  case serviceAccount(ServiceAccountKey)
}

/// Secrets that are made up on the spot.
enum RandomToken {
  /// 128 bits of the system's generator, as 32 hexadecimal digits.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return Hex.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }
}
