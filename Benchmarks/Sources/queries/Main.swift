#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif
import AccessRules
import StorageCore
import StorageSQLite
import TreeDatabase
import TreeModel

/// Windows of 100 children out of a node of very many: by an index, by key, and by a search.
@main
struct Main {
  static func main() async throws {
    var children = 100_000
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      switch argument {
      case "--small": children = 5_000
      case "--children":
        guard let count = arguments.popFirst().flatMap({ Int($0) }), count >= 1_000 else { usage(2) }
        children = count
      default: usage(argument == "--help" ? 0 : 2)
      }
    }
    let folder = ".build/queries-\(getpid())"
    mkdir(".build", 0o755)
    let engine = try SQLiteEngine(directory: folder)
    let benchmark = QueryBenchmark(engine: engine, children: children)
    do {
      try await benchmark.run()
    } catch {
      print("queries: \(error)")
      exit(1)
    }
    engine.close()
    for name in ["doubloon.db", "doubloon.db-wal", "doubloon.db-shm", "doubloon.lock"] { unlink("\(folder)/\(name)") }
    rmdir(folder)
  }

  private static func usage(_ code: Int32) -> Never {
    print("usage: queries [--small] [--children N]\n  --children  of the node that is queried (100000; at least 1000)")
    exit(code)
  }
}
