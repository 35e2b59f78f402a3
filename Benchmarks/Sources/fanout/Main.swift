#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring

/// One writer and many listeners over real sockets, against a server that runs.
@main
struct Main {
  static let usage = """
    usage: fanout KIND --port PORT [--listeners N] [--seconds S] [--warm-up S] [--window N]
      KIND        socket, stream (Doubloon), redis
      --window N  publications under way at a time (4)
    """

  static func main() {
    var plan = FanOut.Plan()
    var feed: (any Feed)?
    var words = Array(CommandLine.arguments.dropFirst())
    while !words.isEmpty {
      let word = words.removeFirst()
      switch word {
      case "socket": feed = SocketFeed()
      case "stream": feed = StreamFeed()
      case "redis": feed = RedisFeed()
      default:
        guard let value = words.first.flatMap({ Double($0) }), value > 0 else { leave(usage, code: word == "--help" ? 0 : 2) }
        words.removeFirst()
        switch word {
        case "--port": plan.port = Int(value)
        case "--listeners": plan.listeners = Int(value)
        case "--seconds": plan.seconds = value
        case "--warm-up": plan.warmUp = value
        case "--window": plan.window = Int(value)
        default: leave(usage, code: 2)
        }
      }
    }
    guard let feed, plan.port > 0 else { leave(usage, code: 2) }
    do {
      var run = try FanOut(plan: plan, feed: feed)
      try run.run()
      print(run.result.line)
    } catch {
      leave("\(error)", code: 1)
    }
  }

  private static func leave(_ text: String, code: Int32) -> Never {
    print(text)
    exit(code)
  }
}
