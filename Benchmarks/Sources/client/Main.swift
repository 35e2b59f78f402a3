import Doubloon
import Foundation
import Measuring

/// What the library for games costs a device: time, memory, and how soon it shows something.
@main
struct Main {
  static func main() async throws {
    var sizes = Sizes(writes: 20_000, listeners: 1000, children: 100_000, cacheBytes: 10 << 20)
    var server: URL?
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      switch argument {
      case "--small": sizes = Sizes(writes: 500, listeners: 50, children: 500, cacheBytes: 1 << 17)
      case "--server": server = arguments.popFirst().flatMap { URL(string: $0) }
      default:
        print("usage: client [--small] [--server URL]")
        print("  --small       a moment of each, to see that they work")
        print("  --server URL  also a large snapshot, and a start with data on disk; \"doubloon dev\" will do")
        exit(argument == "--help" ? 0 : 2)
      }
    }
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let device = Device(folder: folder.path, server: server ?? URL(fileURLWithPath: "/"))
    try await Offline(device: device, sizes: sizes).run()
    if server != nil { try await Online(device: device, sizes: sizes).run() }
  }
}

/// How much of everything.
struct Sizes {
  let writes: Int
  let listeners: Int
  let children: Int
  let cacheBytes: Int
}

/// Apps on one device, each a start of a game.
struct Device {
  let folder: String
  let server: URL

  /// An app of a name, with a folder of that name.
  func app(_ name: String, at offline: Bool = false) throws -> DoubloonApp {
    let address = offline ? URL(string: "http://127.0.0.1:9") ?? server : server
    let options = FirebaseOptions(server: address, apiKey: "any")
    options.storageFolder = "\(folder)/\(name)"
    options.callbackQueue = DispatchQueue(label: name)
    options.logHandler = { _ in }
    FirebaseApp.configure(name: name, options: options)
    guard let app = FirebaseApp.app(name: name) else { throw BenchmarkError("the app \(name) is not there") }
    return app
  }

  /// Bytes of memory that this process has, by Linux; nil elsewhere.
  static var memory: Int? {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 }
  }

  /// What memory grew by, in bytes, as text.
  static func growth(_ before: Int?, over count: Int = 1) -> String {
    guard let before, let memory else { return "unknown" }
    return "\(max(0, memory - before) / count) bytes"
  }
}

/// Runs a body and says how long it took, in milliseconds.
func measured(_ body: () async throws -> Void) async rethrows -> Double {
  let start = ContinuousClock.now
  try await body()
  let time = (ContinuousClock.now - start).components
  return Double(time.seconds) * 1000 + Double(time.attoseconds) / 1e15
}
