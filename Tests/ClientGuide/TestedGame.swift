import Doubloon
import Foundation

/// The page TestingAnApp.
enum TestedGame {
  static func run(server: URL) async throws {
    guard let ann = player("ann", at: server), let bob = player("bob", at: server) else { return }
    try await Auth.auth(app: ann).signInAnonymously()
    try await Auth.auth(app: bob).signInAnonymously()
    try await Database.database(app: ann).reference(withPath: "chat/1").setValue("Hello")
    for try await line in Database.database(app: bob).reference(withPath: "chat/1").snapshots where line.exists() {
      print("Bob hears \(line.string ?? "")")
      break
    }
    await ann.delete()
    await bob.delete()
  }

  /// A player of a test: an app with a name and a folder of its own, that nothing else looks into.
  static func player(_ name: String, at server: URL) -> DoubloonApp? {
    let options = FirebaseOptions(server: server, apiKey: "game-key")
    options.storageFolder = NSTemporaryDirectory() + "game-\(name)-\(UUID().uuidString)"
    options.callbackQueue = DispatchQueue(label: name)
    options.logHandler = { line in print("\(name): \(line)") }
    FirebaseApp.configure(name: name, options: options)
    return FirebaseApp.app(name: name)
  }
}

/// Time that a test moves: put it into ``FirebaseOptions/clock``.
final class MovedClock: AppClock, @unchecked Sendable {
  private let lock = NSLock()
  private var time = Date(timeIntervalSince1970: 1_700_000_000)

  var now: Date { lock.withLock { time } }

  func move(seconds: Double) { lock.withLock { time += seconds } }

  func sleep(seconds: Double) async throws {
    let end = now.addingTimeInterval(seconds)
    while now < end {
      try Task.checkCancellation()
      await Task.yield()
    }
  }
}
