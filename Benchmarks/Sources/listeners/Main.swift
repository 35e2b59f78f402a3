#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Deliveries a second from one writer to many listeners, in process.
@main
struct Main {
  static func main() async throws {
    var sizes = [(listeners: 1000, writes: 4000), (listeners: 10_000, writes: 400)]
    for argument in CommandLine.arguments.dropFirst() {
      guard argument == "--small" else {
        print("usage: listeners [--small]\n  --small  a moment of each, to see that they work")
        exit(argument == "--help" ? 0 : 2)
      }
      sizes = [(100, 200)]
    }
    for size in sizes {
      for shape in Shape.allCases {
        print(try await FanOutRun(shape: shape, listeners: size.listeners, writes: size.writes).run())
      }
    }
  }
}

/// What is listened to.
enum Shape: String, CaseIterable {
  case samePath = "same place"
  case sameWindow = "same window"
  case ownPaths = "own places"
}
