#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// What is asked of a server, and how long.
struct Plan {
  /// Where the clients connect to, in turns: several nodes have one each.
  var ports: [Int] = []
  var clients = 16
  var seconds = 10.0
  var warmUp = 2.0
  var referrers = 1000
  /// The number of the first player; a run of its own numbers on the same data meets nobody twice.
  var base = 1_000_000
  /// Whether players' names are spread over all there could be, instead of ascending.
  var isRandom = false
  /// How long a reader asks again for a grant that comes after the acknowledgement, in seconds.
  var patience = 2.0
}

/// Clients in a closed loop on one thread: each makes its next request when it has the answer to the last.
struct Load<P: Peer> {
  private struct Client {
    var connection: Connection
    var peer: P
    var turn = Turn(step: .create, player: "", referrer: nil, time: 0)
    var referrer = 0
    var isBusy = false
    var sentAt = 0.0
    var readingSince = 0.0
    var begunAt = 0.0

    /// The next answer that is whole.
    mutating func reply() -> Reply? { peer.reply(from: &connection.input) }
  }

  private let plan: Plan
  private var clients: [Client] = []
  private var draw: Draw
  private let weights: [Double]
  private var next: Int
  private var ending = Double.infinity
  private var measuresFrom = 0.0
  private(set) var result = Result()

  init(plan: Plan, peer: () -> P) throws {
    self.plan = plan
    draw = Draw(seed: UInt64(plan.base))
    next = plan.base
    var sum = 0.0
    let steps = (0..<plan.referrers).map { rank in
      sum += 1 / pow(Double(rank + 1), 0.99)
      return sum
    }
    weights = steps.map { $0 / sum }
    for number in 0..<plan.clients {
      var client = Client(connection: try Connection(port: plan.ports[number % plan.ports.count]), peer: peer())
      try Self.open(&client)
      clients.append(client)
    }
  }

  private static func open(_ client: inout Client) throws {
    let opening = client.peer.opening()
    guard !opening.isEmpty else { return }
    try client.connection.send(opening)
    while true {
      while let reply = client.reply() {
        if case .opened = reply { return }
        if case .failed(let said) = reply { throw BenchmarkError("a connection was refused: \(said)") }
      }
      try client.connection.receive()
    }
  }

  /// Makes those who are referred to.
  mutating func seed() throws {
    for number in 0..<plan.referrers {
      _ = try ask(Turn(step: .create, player: referrer(number), referrer: nil, time: milliseconds()))
    }
  }

  /// What all who are referred to have together.
  mutating func coinsOfReferrers() throws -> Int {
    var sum = 0
    for number in 0..<plan.referrers {
      let name = referrer(number)
      sum += try ask(Turn(step: .ownBalance, player: name, referrer: nil, time: 0)) ?? 0
    }
    return sum
  }

  /// One request of the first client, and its answer.
  private mutating func ask(_ turn: Turn) throws -> Int? {
    try clients[0].connection.send(clients[0].peer.request(turn))
    while true {
      while let reply = clients[0].reply() {
        switch reply {
        case .done(let balance): return balance
        case .failed(let said): throw BenchmarkError("the server refused \(turn.step) of \(turn.player): \(said)")
        case .opened, .other: break
        }
      }
      try clients[0].connection.receive()
    }
  }

  /// Plays lifecycles for the plan's time; those that are under way then are played to their end.
  mutating func run() throws {
    measuresFrom = seconds() + plan.warmUp
    ending = measuresFrom + plan.seconds
    for index in clients.indices { try begin(index) }
    var polls = clients.map { pollfd(fd: $0.connection.descriptor, events: Int16(POLLIN), revents: 0) }
    while clients.contains(where: \.isBusy) {
      guard poll(&polls, nfds_t(polls.count), 30_000) > 0 else {
        throw BenchmarkError("the server answered nothing for 30 seconds")
      }
      for index in clients.indices where polls[index].revents != 0 {
        try clients[index].connection.receive()
        while let reply = clients[index].reply() { try take(reply, index) }
      }
    }
    result.seconds = plan.seconds
  }

  private mutating func begin(_ index: Int) throws {
    guard seconds() < ending else {
      clients[index].isBusy = false
      return
    }
    let number = next
    next += 1
    clients[index].referrer = someReferrer()
    clients[index].turn = Turn(
      step: .create, player: player(number), referrer: referrer(clients[index].referrer), time: milliseconds())
    clients[index].isBusy = true
    try send(index)
    clients[index].begunAt = clients[index].sentAt
  }

  private mutating func send(_ index: Int) throws {
    clients[index].sentAt = seconds()
    try clients[index].connection.send(clients[index].peer.request(clients[index].turn))
  }

  private mutating func take(_ reply: Reply, _ index: Int) throws {
    let balance: Int?
    switch reply {
    case .opened, .other: return
    case .failed(let said):
      throw BenchmarkError("the server refused \(clients[index].turn.step) of \(clients[index].turn.player): \(said)")
    case .done(let found): balance = found
    }
    let now = seconds()
    let client = clients[index]
    let step = client.turn.step
    let counts = now >= measuresFrom && now <= ending
    if step.isWrite {
      if counts { result.note(write: now - client.sentAt, pays: step.pays) }
      if step == .level5 { result.crossings += 1 }
    } else if !isRight(balance, step) {
      if now - client.readingSince < plan.patience {
        result.asksAgain += 1
        return try send(index)
      }
      result.wrong += 1
    }
    guard let following = Step(rawValue: step.rawValue + 1) else {
      if counts { result.note(lifecycle: now - client.begunAt) }
      return try begin(index)
    }
    clients[index].turn.step = following
    clients[index].readingSince = now
    try send(index)
  }

  /// A player has exactly its reward; who is referred to has some number of them.
  private func isRight(_ balance: Int?, _ step: Step) -> Bool {
    guard let balance else { return false }
    return step == .ownBalance ? balance == 50 : balance >= 50 && balance % 50 == 0
  }

  private func referrer(_ number: Int) -> String { padded("r", number) }

  private func player(_ number: Int) -> String {
    // A multiplication by an odd number meets every number of 46 bits once.
    let spread = Int(truncatingIfNeeded: UInt64(number) &* 0x9E37_79B9_7F4A_7C15) & 0x3FFF_FFFF_FFFF
    return padded("p", plan.isRandom ? spread : number)
  }

  private func padded(_ letter: String, _ number: Int) -> String {
    let digits = String(number)
    return letter + String(repeating: "0", count: max(0, 14 - digits.count)) + digits
  }

  /// By Zipf's law: some are referred to far more often than others.
  private mutating func someReferrer() -> Int {
    let place = Double(draw.next(below: 1 << 30)) / Double(1 << 30)
    var (low, high) = (0, weights.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if weights[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
