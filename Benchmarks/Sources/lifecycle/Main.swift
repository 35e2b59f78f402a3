#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// Referral lifecycles against a server that runs: seven durable writes, two rewards, two reads, each player after the other.
@main
struct Main {
  static let usage = """
    usage: lifecycle KIND --port PORT [--port PORT...] [--clients N] [--seconds S] [--warm-up S] [--random] [--seed]
      KIND       rest, socket (Doubloon), postgres, pocketbase
      --seed     make those who are referred to first
      --random   players' names are spread instead of ascending
      --base N   the number of the first player
    """

  static func main() {
    var plan = Plan()
    var kind: String?
    var seeds = false
    var words = Array(CommandLine.arguments.dropFirst())
    while !words.isEmpty {
      let word = words.removeFirst()
      switch word {
      case "--seed": seeds = true
      case "--random": plan.isRandom = true
      case "--port", "--clients", "--seconds", "--warm-up", "--base":
        guard let value = words.first.flatMap({ Double($0) }), value >= 0 else { leave("\(word) needs a number", code: 2) }
        words.removeFirst()
        set(word, value, in: &plan)
      case "rest", "socket", "postgres", "pocketbase": kind = word
      default: leave(usage, code: word == "--help" ? 0 : 2)
      }
    }
    guard let kind, let port = plan.ports.first, plan.clients > 0 else { leave(usage, code: 2) }
    do {
      switch kind {
      case "rest": try play(plan, seeds: seeds) { RESTPeer(port: port) }
      case "socket": try play(plan, seeds: seeds) { SocketPeer(port: port) }
      case "postgres": try play(plan, seeds: seeds) { PostgresPeer() }
      default: try play(plan, seeds: seeds) { PocketBasePeer(port: port) }
      }
    } catch {
      leave("\(error)", code: 1)
    }
  }

  private static func set(_ word: String, _ value: Double, in plan: inout Plan) {
    switch word {
    case "--port": plan.ports.append(Int(value))
    case "--clients": plan.clients = Int(value)
    case "--seconds": plan.seconds = value
    case "--warm-up": plan.warmUp = value
    default: plan.base = Int(value)
    }
  }

  private static func play(_ plan: Plan, seeds: Bool, peer: () -> some Peer) throws {
    var load = try Load(plan: plan, peer: peer)
    if seeds { try load.seed() }
    let before = try load.coinsOfReferrers()
    try load.run()
    // A reward may come after its acknowledgement; who waits two seconds in vain has lost it.
    let latest = seconds() + plan.patience
    var paid = try load.coinsOfReferrers() - before
    while paid < 50 * load.result.crossings, seconds() < latest { paid = try load.coinsOfReferrers() - before }
    print(load.result.line(paid: paid))
    let isRight = load.result.wrong == 0 && paid == 50 * load.result.crossings
    exit(isRight ? 0 : 1)
  }

  private static func leave(_ text: String, code: Int32) -> Never {
    print(text)
    exit(code)
  }
}
