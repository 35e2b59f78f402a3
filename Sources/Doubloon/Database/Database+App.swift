import ClientRuntime
public import Dispatch
import Foundation
import TextFormats

/// The databases of an app.
extension Database {
  /// The database of the default app. Before it is configured every operation fails with ``DatabaseError/notConfigured``.
  public static func database() -> Database { database(app: .current) }

  /// The database of an app.
  public static func database(app: DoubloonApp) -> Database { database(app: app, address: nil) }

  /// A database of the default app by its URL: `https://play.example.com/?ns=game`.
  public static func database(url: String) -> Database { database(app: .current, address: url) }

  /// A database of an app by its URL.
  public static func database(app: DoubloonApp, url: String) -> Database { database(app: app, address: url) }

  /// The same object for the same app and URL.
  private static func database(app: DoubloonApp, address: String?) -> Database {
    app.services.withLock { services in
      let name = "database \(address ?? "")"
      if let made = services[name] as? Database { return made }
      let made = Database(app: app, address: address)
      services[name] = made
      return made
    }
  }

  private convenience init(app: DoubloonApp, address: String?) {
    let runtime = app.runtime
    let members = runtime.options.copy
    let url = address ?? members.databaseURL
    let named = address.flatMap { ServiceAddress($0) }
    let server = named ?? runtime.server
    let nowhere = ServiceAddress(host: "localhost", port: 9, isSecure: false)
    let environment = DatabaseEnvironment(
      server: server ?? nowhere, namespace: Self.namespace(of: url, isAtServer: server == url.flatMap { ServiceAddress($0) }),
      appID: members.googleAppID.isEmpty ? members.bundleID : members.googleAppID, clock: runtime.clock,
      sockets: runtime.sockets, callbacks: runtime.callbacks, log: runtime.log, storageFolder: runtime.options.storageFolder,
      tokens: AppTokens(auth: app.authentication))
    var problem: DatabaseError?
    if let address, named == nil {
      problem = .invalidPath("\(address.prefix(200)) is no address of a database; write it like https://play.example.com.")
    } else if server == nil {
      problem = .notConfigured
    }
    self.init(environment, problem: problem)
  }

  /// `ns` of the query. A URL of another host than the server's is one of Firebase's: its first label names the tree.
  private static func namespace(of url: String?, isAtServer: Bool) -> String {
    guard let url else { return "" }
    if let query = URLParts(url).query, let name = LinkForms.parameters(query)["ns"] { return name }
    return isAtServer ? "" : ServiceAddress(url)?.host.split(separator: ".").first.map(String.init) ?? ""
  }

  /// Asks another server, without TLS; for development, and before the first use.
  public func useEmulator(withHost host: String, port: Int) {
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    guard let server = ServiceAddress("http://\(name):\(port)") else {
      return environment.log(.error, "\(host):\(port) is no address; useEmulator is ignored.")
    }
    move("useEmulator") { $0.server = server }
  }

  /// Where operations run their closures.
  public var callbackQueue: DispatchQueue {
    get { environment.callbacks.queue }
    set {
      move("callbackQueue") { $0.callbacks = CallbackQueue(queue: newValue, clock: $0.clock, log: $0.log) }
    }
  }
}

/// The accounts of the app, as the socket's proof.
private struct AppTokens: DatabaseTokens {
  let auth: Auth

  func observe(_ changed: @escaping @Sendable (_ token: String?, _ uid: String?) -> Void) {
    _ = auth.observeSocketToken(changed)
  }

  func refresh() async {
    // What it fails with, the account's own listeners are told.
    _ = try? await auth.tokenForSocket(forcingRefresh: true)
  }
}
