public import FunctionsKit
import Ledger
public import ServerApp
import ServerConfiguration
public import StorageCore
import Synchronization
import TreeDatabase
public import TreeModel
public import Triggers

/// A whole Doubloon in a temporary folder, with a clock that does not advance by itself: for the tests of function authors, and our own.
///
/// Nothing in it is a replacement but the clock: the same store, pipeline, ledger and dispatcher that a player meets. Every
/// write waits until its effects, and theirs, are settled, so a test never sleeps. When the test is over the ledger is
/// verified: coins that do not add up fail it.
///
/// ```swift
/// try await TestServer.run(registerFunctions, tree: ["users": ["bob": ["level": 4, "referred_by": "alice"]]]) { server in
///   let write = try await server.set("/users/bob/level", 5, as: .user("bob"))
///   #expect(write.outcomes == ["rewardReferrals": .done])
///   #expect(try await server.balance("/users/alice/inventory/pieces_of_eight") == 50)
/// }
/// ```
public final class TestServer: Sendable {
  /// Who writes.
  public enum Writer: Sendable {
    case admin
    case user(String)
    case anonymous

    var actor: Actor {
      switch self {
      case .admin: .admin("test")
      case .user(let uid): .user(uid: uid)
      case .anonymous: .anonymous
      }
    }
  }

  /// Move it instead of waiting: retries, deadlines and commit times follow it.
  public let clock: AdjustableClock
  let trigger = CrashTrigger()
  let functions: @Sendable (Functions) -> Void
  let settings: TreeNode
  let limits: WriteLimits
  private let state: Mutex<State>

  private struct State {
    var application: Application
    var namespace: NamespaceID
    var folder: TestFolder
  }

  /// Runs a test against a server of its own.
  ///
  /// - `functions`: registers the functions, as the deployment's `main` does.
  /// - `tree`: what the namespace holds before; written without triggers, with opening entries for balances.
  /// - `settings`: overrides of functions' settings, by function and setting.
  public static func run(
    _ functions: @escaping @Sendable (Functions) -> Void, tree: TreeNode = .absent, settings: TreeNode = .absent,
    limits: WriteLimits = WriteLimits(), _ test: (TestServer) async throws -> Void
  ) async throws {
    let server = try await TestServer(functions: functions, tree: tree, settings: settings, limits: limits)
    do {
      try await test(server)
      try await server.verify()
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  init(
    functions: @escaping @Sendable (Functions) -> Void, tree: TreeNode, settings: TreeNode, limits: WriteLimits
  ) async throws {
    clock = AdjustableClock(frozenAt: 1_700_000_000_000)
    let folder = try TestFolder()
    self.functions = functions
    self.settings = settings
    self.limits = limits
    state = Mutex(
      try await Self.start(in: folder, clock: clock, settings: settings, limits: limits, trigger: trigger, functions: functions)
    )
    if tree.exists { try await load(tree) }
  }

  /// The application, for what the conveniences do not cover.
  public var application: Application { state.withLock(\.application) }
  var namespace: NamespaceID { state.withLock(\.namespace) }
  var folder: TestFolder { state.withLock(\.folder) }

  /// Stops the server in an orderly way and starts it again on the same data.
  public func restart() async throws {
    try await restart(in: folder)
  }

  func restart(in folder: TestFolder) async throws {
    await application.stop()
    let next = try await Self.start(
      in: folder, clock: clock, settings: settings, limits: limits, trigger: trigger, functions: functions)
    state.withLock { $0 = next }
  }

  func stop() async {
    await application.stop()
  }

  private func load(_ tree: TreeNode) async throws {
    var request = CommitRequest(namespace: namespace, actor: .system("import"), operations: [.set(.root, tree)])
    request.triggers.areSuppressed = true
    request.ledger.isImport = true
    _ = try await application.database.commit(request)
  }

  private static func start(
    in folder: TestFolder, clock: AdjustableClock, settings: TreeNode, limits: WriteLimits, trigger: CrashTrigger,
    functions: @Sendable (Functions) -> Void
  ) async throws -> State {
    var configuration = ServerConfiguration(storage: .directory(folder.path))
    configuration.project = "test"
    configuration.functionSettings = settings
    configuration.limits = limits
    configuration.clock = clock
    // A mistake in a registration stops a program; of a run of tests it is to fail this one.
    let registry = Functions(checking: settings)
    functions(registry)
    let mistakes = registry.mistakes + registry.settingErrors.map(\.message)
    guard mistakes.isEmpty else { throw TestServerError(mistakes.joined(separator: "\n")) }
    let application = try Application(
      configuration: configuration, failpoint: Failpoint { trigger.reach($0) }, functions: functions)
    try await application.startServices()
    let namespace = try await application.database.openNamespace(named: configuration.defaultNamespace)
    return State(application: application, namespace: namespace, folder: folder)
  }
}

extension TestServer {
  /// Stops giving events to a function; they wait.
  public func pause(_ function: String) async throws {
    try await application.dispatcher.pause(function, because: "the test paused it")
  }

  /// Lets a function go on, and waits until what waited for it is settled.
  public func resume(_ function: String) async throws {
    try await application.dispatcher.resume(function)
    try await application.settle()
  }

  /// Moves the clock, and waits until what became due is settled: retries, above all.
  public func advance(by duration: Duration) async throws {
    let (seconds, attoseconds) = duration.components
    clock.advance(by: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    try await application.settle()
  }
}

extension TestServer {
  /// Lets the process die at a named place while `body` runs, and starts again from what it left on the disk.
  ///
  /// The disk is copied at the moment the place is reached, and the rest of the test goes on from that copy: whatever the
  /// first life did afterwards has never happened. What was committed before the place is there, in the file or its log.
  ///
  /// - Throws: ``TestServerError`` if `body` never comes by the place.
  public func crash(at point: Failpoint.Point, during body: () async throws -> Void) async throws {
    trigger.arm(point, copying: folder)
    try await body()
    guard let result = trigger.disarm() else {
      throw TestServerError("The crash at \(point) never happened: nothing came by. Check that the write makes a function run.")
    }
    try await restart(in: try result.get())
    try await application.settle()
  }
}

/// A test asked for something that cannot be right: it fails with a sentence, never quietly.
public struct TestServerError: Error, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
