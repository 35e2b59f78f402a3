import ClientRuntime
import SyncModel
import TreeModel

/// The state of a connection, and what is asked of it.
struct LinkState: Sendable {
  enum Phase: Sendable, Equatable {
    /// No socket; opened when there is something to do, not before the time.
    case closed(notBefore: Int64)
    /// The socket is being opened, or the greeting is awaited.
    case connecting
    /// The greeting came; the token is not known yet.
    case greeted
    /// The token is on its way.
    case authenticating
    /// Requests are sent as they come.
    case ready
  }

  /// A request that waits for its answer.
  enum Request: Sendable {
    case auth(isFirst: Bool)
    case listen(WireListen)
    case unlisten(WireListen)
    case write(WriteID)
    case transaction(TransactionID)
    case read(ReadID)
    case disconnect(DisconnectID)
    case other
  }

  enum Credential: Sendable, Equatable {
    case unknown, none
    case token(String)
  }

  struct Read: Sendable {
    let id: ReadID
    let listened: ListenSpec
    /// When it is given up unless the connection is there.
    var deadline: Int64
    var isSent = false
  }

  struct DisconnectRequest: Sendable {
    let id: DisconnectID
    /// Nil: what was to be done at the place and below is not.
    let operation: WriteOperation?
    let path: Path
    var isSent = false
  }

  var phase = Phase.closed(notBefore: 0)
  /// The app wants no connection, or the server does not.
  var isInterrupted = false
  var credential = Credential.unknown
  var backoff = Backoff.reconnecting
  var random: SplitGenerator
  /// How often in a row the server has sent this client on, without a connection that was good for a while.
  var resets = 0
  /// Whether the next try need not wait.
  var isFirstTry = false
  var refusedTokens = 0
  /// The host that the server named.
  var host: String?
  /// The name of the last session.
  var session: String?
  /// What the log was last told of a server that cannot be reached.
  var lastTrouble: String?
  /// What the server's clock is ahead, in milliseconds.
  var offset: Int64 = 0
  var takesKeys = false

  var frames = MessageFrames()
  var lastRequest = 0
  var inflight = OpenRequests()
  /// Requests that are longer than the protocol lets them be; answered when the others are sent.
  var tooLong: [Request] = []
  var listens = WantedListens()
  var puts = PutQueue()
  var reads: [Read] = []
  var disconnects: [DisconnectRequest] = []
  var remembered = DisconnectTree()
  /// Answers to writes that wait until listens are answered: what they changed may not have been shown yet.
  var heldAnswers: [(WriteID, Refusal?)] = []
  var lastRead = 0
  var lastDisconnect = 0
  var lastPut = 0

  /// When the last frame was sent.
  var lastSent: Int64 = 0
  /// Since when the connection is good.
  var goodSince: Int64?
  /// Since when there is nothing to do.
  var idleSince: Int64?
  /// When the greeting, or the answer to the token before which nothing else is sent, must have come.
  var openingDeadline: Int64?

  /// A number of 128 bits that no other client has, in hex.
  let name: String

  /// How long a server may take for the greeting, and again for the first answer to a token, in milliseconds.
  static let openingPatience: Int64 = 30_000
  static let readPatience: Int64 = 3000
  static let keepAlive: Int64 = 45_000
  static let idleMax: Int64 = 60_000
  static let goodAfter: Int64 = 30_000
  static let refusedTokensMax = 3
  /// How often in a row a server may send a client on at once: two that send it to each other must not keep it busy.
  static let resetsMax = 5

  /// - `seed`: for waiting times; two random numbers for the client's name.
  init(seed: UInt64, name: (UInt64, UInt64)) {
    random = SplitGenerator(state: seed)
    self.name = Self.hex(name.0) + Self.hex(name.1)
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Whether the connection is used for anything.
  var hasWork: Bool {
    !listens.isEmpty || !puts.isEmpty || !reads.isEmpty || !disconnects.isEmpty || !remembered.isEmpty || !heldAnswers.isEmpty
  }
}

/// Numbers for waiting times: good enough to spread clients, and the same again for the same seed.
struct SplitGenerator: RandomNumberGenerator, Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
