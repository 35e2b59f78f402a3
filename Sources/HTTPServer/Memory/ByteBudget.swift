import Synchronization

/// How many bytes the server holds for clients that have not done their part, all together: input that is not whole or not
/// answered, or output that nobody reads.
///
/// What is held is counted in ``ByteShare``s. When they are more than there may be, some are given up: those of
/// unauthenticated clients first, then those of users; of those the ones of the client network that holds most; of that
/// network the largest first. So no client displaces others by holding much, and signed-in users do not wait for those who
/// are not. Administrators are not counted.
///
/// What was given up is counted until it is let go, which its own event loop does when it comes to it. As long as that has not
/// happened nobody takes its place beyond ``strangersBytesMax``, or, of users, ``usersBytesMax``: who asks for more is refused. So
/// what is held has a bound however late the event loops are.
///
/// One lock and no allocation for a change; what gives way is looked for only when it is too much, and then an eighth is
/// made free at once, so that an attacker does not have everything looked through for every packet.
package final class ByteBudget: Sendable {
  /// What one share has.
  private struct Holding {
    let network: ClientAddress
    var standing: ClientStanding
    var bytes: Int
    /// Whether it can be given up: what is being worked on cannot.
    var isReleasable: Bool
    let giveUp: @Sendable () -> Void
  }

  private struct State {
    /// Bytes of `holdings`.
    var used = 0
    var holdings: [ObjectIdentifier: Holding] = [:]
    /// Bytes of `leaving`.
    var leavingBytes = 0
    /// What was given up and is not let go yet.
    var leaving: [ObjectIdentifier: Int] = [:]

    /// - Returns: what was given up; nil if that had happened before.
    mutating func giveUp(_ key: ObjectIdentifier) -> Holding? {
      guard let holding = holdings.removeValue(forKey: key) else { return nil }
      used -= holding.bytes
      if holding.bytes > 0 {
        leaving[key] = holding.bytes
        leavingBytes += holding.bytes
      }
      return holding
    }
  }

  /// Bytes that may be held at once, but for those that were given up and are not let go yet.
  package let bytesMax: Int
  /// Bytes that may be held at once, with those; one of these clients that asks for more is refused.
  package var strangersBytesMax: Int { bytesMax + bytesMax / 2 }
  /// The same for users, who do not wait until strangers have let go.
  package var usersBytesMax: Int { bytesMax * 2 }
  /// Shares that were given up, or refused.
  package let refusals = AtomicCount()
  private let state = Mutex(State())

  init(bytesMax: Int) {
    precondition(bytesMax > 0, "A budget of no bytes takes no request.")
    self.bytesMax = bytesMax
  }

  /// Bytes that are held, those that were given up and are not let go yet among them.
  package var used: Int { state.withLock { $0.used + $0.leavingBytes } }

  /// A share that holds nothing yet.
  ///
  /// - `giveUp`: called once, on any thread, when what it holds is to be let go for the sake of others, and the share with it:
  ///   until then it is counted, and cannot hold more.
  package func share(of client: ClientAddress, giveUp: @escaping @Sendable () -> Void) -> ByteShare {
    ByteShare(budget: self, network: client.clientNetwork, giveUp: giveUp)
  }

  /// - Returns: false if the share must be let go: now, or since it was given up.
  package func hold(_ bytes: Int, by share: ByteShare, as standing: ClientStanding, isReleasable: Bool, heldBefore: Bool)
    -> Bool
  {
    let key = ObjectIdentifier(share)
    let (isHeld, losers) = state.withLock { state -> (Bool, [@Sendable () -> Void]) in
      // Who has no entry any more though it held something was given up.
      if heldBefore, state.holdings[key] == nil { return (false, []) }
      let before = state.holdings[key]?.bytes ?? 0
      if bytes > before, isTooMuch(bytes - before, in: state, for: standing) {
        _ = state.giveUp(key)
        return (false, [])
      }
      state.holdings[key] = Holding(
        network: share.network, standing: standing, bytes: bytes, isReleasable: true, giveUp: share.giveUp)
      state.used += bytes - before
      var losers: [@Sendable () -> Void] = []
      if state.used > bytesMax, bytes > before {
        losers = Self.giveUpShares(in: &state, for: key, before: before, bytesMax: bytesMax)
      }
      guard state.holdings[key] != nil else { return (false, losers) }
      state.holdings[key]?.isReleasable = isReleasable
      return (true, losers)
    }
    if !isHeld { refusals.add() }
    for giveUp in losers {
      refusals.add()
      giveUp()
    }
    return isHeld
  }

  /// Whether so many bytes more must wait until what was given up is let go.
  private func isTooMuch(_ bytes: Int, in state: State, for standing: ClientStanding) -> Bool {
    guard state.leavingBytes > 0 else { return false }
    return state.used + state.leavingBytes + bytes > (standing == .user ? usersBytesMax : strangersBytesMax)
  }

  /// What a share had is let go.
  package func release(_ share: ObjectIdentifier) {
    state.withLock { state in
      if let holding = state.holdings.removeValue(forKey: share) { state.used -= holding.bytes }
      if let bytes = state.leaving.removeValue(forKey: share) { state.leavingBytes -= bytes }
    }
  }

  /// Gives holdings up until the rest fits.
  ///
  /// - Parameters:
  ///   - key: whose growth was too much. Alone it may have what it wants: refusing it would serve no other client.
  ///   - before: what it had; it does not get more if it is among those that are given up.
  /// - Returns: what to call for those that were given up, but for `key` itself, which is told by the caller.
  private static func giveUpShares(
    in state: inout State, for key: ObjectIdentifier, before: Int, bytesMax: Int
  ) -> [@Sendable () -> Void] {
    guard state.holdings.count > 1 else { return [] }
    func giveUp(_ loser: ObjectIdentifier) -> Holding? {
      if loser == key, let bytes = state.holdings[key]?.bytes {
        state.holdings[key]?.bytes = before
        state.used -= bytes - before
      }
      return state.giveUp(loser)
    }
    var losers: [@Sendable () -> Void] = []
    let target = bytesMax - bytesMax / 8
    for standing in [ClientStanding.unauthenticated, .user] where state.used > bytesMax {
      var networks: [ClientAddress: (bytes: Int, shares: [(key: ObjectIdentifier, bytes: Int)])] = [:]
      for (key, holding) in state.holdings where holding.standing == standing {
        networks[holding.network, default: (0, [])].bytes += holding.bytes
        if holding.isReleasable { networks[holding.network]?.shares.append((key, holding.bytes)) }
      }
      for network in networks.values.sorted(by: { $0.bytes > $1.bytes }) where state.used > bytesMax {
        for share in network.shares.sorted(by: { $0.bytes > $1.bytes }) where state.used > target {
          guard let holding = giveUp(share.key) else { continue }
          if share.key != key { losers.append(holding.giveUp) }
        }
      }
    }
    // Everything else is being worked on.
    if state.used > bytesMax { _ = giveUp(key) }
    return losers
  }
}

/// What one connection, session or request holds of a ``ByteBudget``. Gives it back with its last reference.
///
/// Used by one event loop; the last reference may go on any thread.
package final class ByteShare: Sendable {
  /// Less than this is not counted, and more is counted in steps of it: small requests never take the budget's lock. How many
  /// connections may hold so little is bounded by the number of connections.
  package static let step = 16 << 10

  let network: ClientAddress
  package let giveUp: @Sendable () -> Void
  private let budget: ByteBudget
  /// Steps that are held; 0 also where nothing is counted.
  private let steps = Atomic<Int>(0)

  init(budget: ByteBudget, network: ClientAddress, giveUp: @escaping @Sendable () -> Void) {
    self.budget = budget
    self.network = network
    self.giveUp = giveUp
  }

  deinit {
    if steps.load(ordering: .relaxed) > 0 { budget.release(ObjectIdentifier(self)) }
  }

  /// Holds so many bytes from now on, in the place of what it held.
  ///
  /// - `isReleasable`: false for what is being worked on, and cannot be let go.
  /// - Returns: false if that is too much, or the share was given up: then whatever was held must be let go, the share too, and
  ///   the client told.
  package func hold(_ bytes: Int, as standing: ClientStanding, isReleasable: Bool = true) -> Bool {
    let before = steps.load(ordering: .relaxed)
    let after = standing == .administrator ? 0 : bytes / Self.step
    guard before != after || (before > 0 && !isReleasable) else { return true }
    if after == 0 {
      steps.store(0, ordering: .relaxed)
      budget.release(ObjectIdentifier(self))
      return true
    }
    let isHeld = budget.hold(
      after * Self.step, by: self, as: standing, isReleasable: isReleasable, heldBefore: before > 0)
    // Who is refused still has what it had, until it is let go.
    if isHeld { steps.store(after, ordering: .relaxed) }
    return isHeld
  }
}

/// How much memory clients may take by what they leave unfinished, all together.
package struct MemoryBudgets: Sendable {
  /// What of both there may be, unless said otherwise.
  package static let usualBytesMax = 64 << 20

  /// Input: bodies, frames and segments that are not whole, and what was read and is not answered.
  package let input: ByteBudget
  /// Output that clients do not read.
  package let output: ByteBudget

  /// - Parameters:
  ///   - inputBytesMax: bytes of input.
  ///   - outputBytesMax: bytes of output.
  package init(inputBytesMax: Int = usualBytesMax, outputBytesMax: Int = usualBytesMax) {
    input = ByteBudget(bytesMax: inputBytesMax)
    output = ByteBudget(bytesMax: outputBytesMax)
  }
}

/// About how many bytes a JSON text takes while it is parsed, judged and written.
///
/// A value of one digit becomes a node of the tree, a change and a row: it weighs a hundred times what it measures. What
/// stands between values is counted instead of the values, without parsing; in a text that holds commas it is too many.
package enum InputWeight {
  /// What a value takes beyond its text.
  private static let valueBytes = 128
  /// Values that are counted: no commit has more, and what is parsed beyond them is refused.
  private static let valuesMax = 100_000
  /// Texts up to here weigh what they measure: hundreds of them are nothing.
  private static let lightBytesMax = 1024

  package static func of(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard bytes.count > lightBytesMax else { return bytes.count }
    var values = 0
    for byte in bytes where byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") { values &+= 1 }
    return bytes.count + min(values, valuesMax) * valueBytes
  }
}
