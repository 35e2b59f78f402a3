import ClientRuntime
import Foundation

/// An app of a server: its options, and the services that use them.
///
/// ```swift
/// FirebaseApp.configure(options: FirebaseOptions(server: url, apiKey: "web-key-1"))
/// let player = try await Auth.auth().signInAnonymously().user
/// ```
public final class DoubloonApp: Sendable {
  private static let defaultName = "__FIRAPP_DEFAULT"
  private static let apps = Locked<[String: DoubloonApp]>([:])
  /// Stands where no app was configured: every call to its services fails with a sentence that says so.
  static let unconfigured = DoubloonApp(name: "", options: FirebaseOptions(FirebaseOptions.Members()), runtime: nil)

  /// The name by which ``app(name:)`` finds it.
  public let name: String
  private let taken: FirebaseOptions
  let runtime: AppRuntime
  let authentication: Auth
  let links: DynamicLinks
  let messages: InAppMessaging
  /// Services of this app that are made when they are first asked for, by their names.
  let services = Locked<[String: any Sendable]>([:])

  init(name: String, options: FirebaseOptions, runtime: AppRuntime?) {
    self.name = name
    taken = FirebaseOptions(options.copy)
    let runtime = runtime ?? AppRuntime(taken)
    self.runtime = runtime
    authentication = Auth(runtime, name: name)
    links = DynamicLinks(runtime, auth: authentication)
    messages = InAppMessaging(runtime, auth: authentication)
  }

  /// The options, as they were when the app was configured. Changing them does nothing.
  public var options: FirebaseOptions { FirebaseOptions(taken.copy) }

  /// The default app with ``FirebaseOptions/defaultOptions()``. Without a configuration file nothing is configured, and the
  /// log says so.
  public static func configure() {
    guard let options = FirebaseOptions.defaultOptions() else {
      ClientLog.standardError(
        .error,
        "configure() found no configuration: name a file in DOUBLOON_CONFIG, put Doubloon.json beside the program, or call "
          + "configure(options:).")
      return
    }
    configure(options: options)
  }

  /// The default app. A second call is ignored, with a line in the log.
  public static func configure(options: FirebaseOptions) { configure(name: defaultName, options: options) }

  /// An app beside the default one, for a second server.
  public static func configure(name: String, options: FirebaseOptions) {
    guard apps.withLock({ $0[name] == nil }) else {
      AppRuntime(options).log(.warning, "The app \(name) is configured already; the second configure is ignored.")
      return
    }
    let app = DoubloonApp(name: name, options: options, runtime: nil)
    apps.withLock { $0[name] = $0[name] ?? app }
  }

  /// The default app; nil before ``configure()``.
  public static func app() -> DoubloonApp? { app(name: defaultName) }

  /// The app of the name; nil if there is none.
  public static func app(name: String) -> DoubloonApp? { apps.withLock { $0[name] } }

  /// The default app, or the one whose calls all fail.
  static var current: DoubloonApp { app() ?? unconfigured }

  /// Forgets the app, and ends what its services wait for: connections are closed, files are let go of. Its session stays on disk,
  /// and so does what its databases keep there.
  public func delete() async {
    Self.apps.withLock { apps in if apps[name] === self { apps[name] = nil } }
    messages.shutDown()
    authentication.shutDown()
    let databases = services.withLock { services in
      defer { services = [:] }
      return services.values.compactMap { $0 as? Database }
    }
    for database in databases { await database.shutDown() }
  }
}

/// The name in Firebase's SDKs.
public typealias FirebaseApp = DoubloonApp
