import Measuring

/// One request of a referral lifecycle, in the order in which a client makes them.
enum Step: Int, CaseIterable {
  case create, signIn, level1, level2, level3, level4, level5, ownBalance, referrerBalance

  var isWrite: Bool { rawValue <= Step.level5.rawValue }

  /// Whether somebody is paid for this write.
  var pays: Bool { self == .signIn || self == .level5 }

  /// The level that is written, 1 to 5.
  var level: Int? { (Step.level1.rawValue...Step.level5.rawValue).contains(rawValue) ? rawValue - 1 : nil }
}

/// A request as a peer needs it: who does what.
struct Turn {
  var step: Step
  var player: String
  /// Nobody for those who are only referred to.
  var referrer: String?
  /// Milliseconds since 1970.
  var time: Int64

  /// Whose balance is read.
  var reads: String { step == .referrerBalance ? referrer ?? player : player }
}

/// What a peer answered.
enum Reply {
  /// The connection can be used.
  case opened
  /// The request is done; of a read, the balance, if there is one.
  case done(balance: Int?)
  case failed(String)
  /// Something that nobody asked for.
  case other
}

/// How one kind of server is spoken to over one connection, one request after the other.
protocol Peer {
  /// What is sent first; empty where a connection can be used at once.
  mutating func opening() -> [UInt8]
  mutating func request(_ turn: Turn) -> [UInt8]
  /// Takes one answer off what was read, or nothing while it is not whole.
  mutating func reply(from input: inout Input) -> Reply?
}
