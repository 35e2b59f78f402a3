import AdminClient
import ArgumentParser
import Credentials
import Glibc
import ServerConfiguration
import StorageCore
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
      if text.contains("/") { throw CommandFailure("There is no key file \(text); check --key and DOUBLOON_KEY.") }
      return .token(text)
    }
    let content = String(decoding: try FileBytes.read(text), as: UTF8.self)
    guard let line = content.split(whereSeparator: \.isNewline).first?.trimmingSpaces, !line.isEmpty else {
      throw CommandFailure("The key file \(text) is empty; it must hold the token in its first line.")
    }
    guard line.hasPrefix("{") else { return .token(line) }
    guard let file = try? JSONParser.parse(content), let account = ServiceAccountKey(file: file) else {
      throw CommandFailure("\(text) is no key file of a service account of Doubloon.")
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
