#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import Measuring
import StorageCore
import StorageSQLite
import TreeDatabase
import TreeModel

/// Looks into the past: a point read as of any revision, and what keeping the past costs each write.
@main
struct Main {
  static func main() async throws {
    var revisions = 1_000_000
    var players = 100_000
    for argument in CommandLine.arguments.dropFirst() {
      switch argument {
      case "--small": (revisions, players) = (20_000, 1_000)
      case let text where Int(text) ?? 0 > 0: revisions = Int(text) ?? revisions
      default:
        print("usage: past [REVISIONS] [--small]\n  --small  20,000 revisions, to see that it works")
        exit(argument == "--help" ? 0 : 2)
      }
    }
    print("\(revisions) revisions of one leaf each, among \(players) players")
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    // Written twice, into stores of their own: with the history merged behind the writer, and with it left as it is.
    for merges in [true, false] {
      let run = PastRun(revisions: revisions, players: players, folder: "\(folder.path)/\(merges)", merges: merges)
      for line in try await run.run() { print(line) }
    }
  }
}
