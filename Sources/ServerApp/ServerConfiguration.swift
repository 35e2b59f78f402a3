public import Links
public import StorageCore
public import TreeModel

/// Everything that can be set about a server, with the defaults of `doubloon dev`.
public struct ServerConfiguration: Sendable {
  /// Where the data are.
  public enum Storage: Sendable, Hashable {
    /// In this folder.
    case directory(String)
    /// In a private temporary folder, removed at the end: the same engine, for tests and trials.
    case memory
  }

  /// The address to listen on; anything but a loopback address makes a random admin token necessary.
  public var host: String
  /// 0 takes any free port.
  public var port: Int
  /// Which data it serves. One process at a time has them open.
  public var storage: Storage
  /// Requests that name no namespace mean `PROJECT-default-rtdb`.
  public var project: String
  /// What a client must present to be an admin.
  public var adminToken: String
  /// The kinds of coin, and where balances stand in the tree. A table that would mix balances up stops the start.
  public var currencies: [Currency]
  /// Overrides of functions' settings, by function and setting.
  public var functionSettings: TreeNode
  /// The settings of links, if the configuration holds them; nil: they are set over the administrators' surface.
  public var linkSettings: LinkSettings?
  /// Whether functions run. Commands that open the data themselves look without touching.
  public var dispatchesFunctions: Bool
  /// How much one commit may do, and how many may wait.
  public var limits: WriteLimits
  /// Threads that answer requests; nil for one for each core.
  public var eventLoops: Int?
  /// Threads that run functions.
  public var runners: Int
  /// Where the time comes from; tests and `doubloon dev` move it.
  public var clock: any WallClock

  /// The defaults of `doubloon dev`: port 9000 on this machine only, and the token that emulators know, `owner`.
  public init(storage: Storage) {
    host = "127.0.0.1"
    port = 9000
    self.storage = storage
    project = "demo"
    adminToken = "owner"
    currencies = [.piecesOfEight]
    functionSettings = .absent
    linkSettings = nil
    dispatchesFunctions = true
    limits = WriteLimits()
    eventLoops = nil
    runners = 4
    clock = SystemClock()
  }

  /// The namespace of requests that name none.
  public var defaultNamespace: String { "\(project)-default-rtdb" }

  /// Whether only this machine can reach the server.
  public var isLoopback: Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}
