import FunctionsKit
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// The commands against the whole server, as a person would use them.
@Suite struct ApplicationCommandTests {
  /// Pays ten coins to a player who reaches level 5.
  @Sendable private static func register(_ functions: Functions) {
    let level = TreePath<Int64, UserID>("/users/{uid}/level")
    let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
    functions.onUpdate(level, name: "payLevel", when: .rising(to: 5)) { event, context in
      try await context.credit(gold, event.params, amount: 10, code: "level5", once: "level5/\(event.params)")
      return .done
    }
  }

  /// Runs a test against a server on a folder; `call` runs a command against it, which must succeed, and gives its output.
  private func serving(_ folder: String, _ test: (_ call: ([String]) async -> String) async throws -> Void) async throws {
    var configuration = ServerConfiguration(storage: .directory(folder))
    configuration.port = 0
    let application = try Application(configuration: configuration, functions: Self.register)
    let port = try await application.start()
    do {
      try await test { arguments in
        let run = await CommandRun(arguments + ["--server", "http://127.0.0.1:\(port)"])
        #expect(run.code == 0, "\(arguments): \(run.err)")
        return run.out
      }
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  @Test("a reward from the write to the restored backup")
  func lifecycle() async throws {
    let folder = TemporaryFolder()
    let (data, backup, restored) = (folder.file("data"), folder.file("backup.db"), folder.file("restored"))
    try await serving(data) { call in
      _ = await call(["data", "set", "/users/bob/level", "4"])
      _ = await call(["data", "set", "/users/bob/level", "5"])
      #expect(await call(["drain"]) == "Everything is settled.\n")
      #expect(await call(["ledger", "balance", "bob"]) == "user:bob has 10 pieces_of_eight.\n")
      #expect(await call(["ledger", "statement", "bob"]).contains("payLevel, 1-2:/users/bob/level"))
      #expect(
        await call(["triggers", "list", "--function", "payLevel", "--outcome", "done", "--since", "1h"]).contains(
          "1-2:/users/bob/level"))
      #expect(await call(["triggers", "list", "--uid", "alice"]) == "No events match.\n")
      #expect(await call(["triggers", "show", "1-2:/users/bob/level"]).contains("payLevel: done"))
      let listed = await call(["functions", "list"]).split(separator: "\n").first { $0.hasPrefix("payLevel") } ?? ""
      #expect(listed.hasPrefix("payLevel  running  onUpdate     0 ") && listed.contains(" /users/{uid}/level"), "\(listed)")
      _ = await call(["functions", "pause", "payLevel", "--reason", "test"])
      _ = await call(["functions", "resume", "payLevel"])
      #expect(
        await call(["ledger", "reverse", "1", "--reason", "oops"]).contains(
          "10 pieces_of_eight from user:bob to issuance:level5"))
      #expect(await call(["ledger", "transfer", "issuance:support", "bob", "3", "--once", "s/1"]).contains("key s/1"))
      #expect(await call(["ledger", "verify"]).contains("demo-default-rtdb: sound (3 entries"))
      #expect(await call(["triggers", "count", "--function", "payLevel"]) == "1 event: done 1.\n")
      let why = await call(["why", "bob"])
      #expect(why.contains("level went from 4 to 5: paid 10 pieces_of_eight to user:bob (entry 1)."), "\(why)")
      #expect(why.contains("Taken back by entry 2: oops."))
      #expect(await call(["data", "get", "/users/bob/level", "--at", "1"]) == "4\n")
      #expect(await call(["data", "get", "/users/bob/level", "--at", "1h"]) == "null\n")
      #expect(await call(["data", "export", "/users/bob/level", "--at", "1"]) == "4\n")
      #expect(await call(["data", "diff", "/users/bob/level", "--from", "1"]).contains("/users/bob/level  4       5"))
      #expect(await call(["data", "log", "/users/bob/level"]).contains("admin:owner  /users/bob/level  4       5"))
      #expect(await call(["audit", "list", "--action", "functions"]).contains("functions.resume  ok"))
      #expect(await call(["status"]).hasPrefix("The server is ready.\n"))
      _ = await call(["backup", backup])
      _ = await call(["data", "set", "/late", "1"])
      let busy = await CommandRun(["status", "--data", data])
      #expect(busy.code == 1)
      #expect(busy.err.contains("cannot be opened"))
    }
    let restore = await CommandRun(["restore", backup, "--data", restored])
    #expect(restore.code == 0, "\(restore.err)")
    #expect(restore.out.contains("epoch 2.\nThe store: sound ("), "\(restore.out)")
    #expect(restore.out.contains("\ndemo-default-rtdb: sound ("))
    let verify = await CommandRun(["verify", "--data", restored])
    #expect(verify.code == 0 && verify.out.contains("3 ledger entries"), "\(verify.out) \(verify.err)")
    #expect(await CommandRun(["restore", backup, "--data", restored]).code == 1)
    #expect(await CommandRun(["data", "get", "/late", "--data", restored]).out == "null\n")
    #expect(await CommandRun(["data", "get", "/late", "--data", data]).out == "1\n")
    #expect(await CommandRun(["ledger", "balance", "bob", "--data", restored]).out == "user:bob has 3 pieces_of_eight.\n")
  }

  @Test("a write is tried first, made on a condition and with a reason, and what it left is found and listed in windows")
  func explained() async throws {
    let folder = TemporaryFolder()
    try await serving(folder.file("data")) { call in
      _ = await call(["data", "set", "/users/bob", #"{"level":4,"it's":1}"#])
      let trial = await call(["data", "set", "/users/bob/level", "5", "--dry-run"])
      #expect(
        trial == "/users/bob/level would have 1 value, and has 1.\n1 event:\n  updated /users/bob/level: payLevel\n", "\(trial)"
      )
      #expect(await call(["data", "get", "/users/bob/level"]) == "4\n")
      let made = await call(["data", "set", "/users/bob/level", "5", "--if-revision", "1", "--no-triggers"])
      #expect(made == "Wrote /users/bob/level: revision 2, 0 events.\n", "\(made)")
      let same = await call(["data", "update", "/users/bob", #"{"level":5}"#, "--reason", "again"])
      #expect(same == "Nothing changed at /users/bob: that was there already.\n", "\(same)")
      #expect(await call(["data", "remove", "/users/bob/it's", "--dry-run"]).contains("Removed: 1."))
      #expect(await call(["audit", "list", "--action", "data.update"]).contains("data.update"))
      let window = await call(["data", "children", "/users/bob", "--from", "j"])
      #expect(window.hasPrefix("KEY    VALUE  PRIORITY  REVISION") && window.contains("level  5"), "\(window)")
      #expect(await call(["data", "children", "/users/bob", "--at", "1", "--limit", "1"]).contains("add --after 'it's'."))
      #expect(await call(["data", "children", "/users/bob/level"]) == "/users/bob/level is a value: 5\n")
      #expect(await call(["data", "children", "/none"]) == "Nothing is at /none.\n")
      let found = await call(["find", "bob"])
      #expect(found.contains("player") && found.contains("bob"), "\(found)")
      #expect(await call(["find", "nobody-of-this-name"]) == "Nothing is called nobody-of-this-name.\n")
    }
  }

  @Test("an import makes opening entries, starts no function, and comes out as it went in")
  func transfer() async throws {
    let folder = TemporaryFolder()
    let (first, second) = (folder.file("in.json"), folder.file("out.json"))
    let tree: TreeNode = [
      "users": ["bob": ["level": 5, "inventory": ["pieces_of_eight": 120]], "eve": .leaf("x", priority: 1)]
    ]
    try FileBytes.write(tree.json(.export), to: first)
    try await serving(folder.file("data")) { call in
      _ = await call(["data", "set", "/users/bob/level", "4", "--no-triggers"])
      let trial = await call(["data", "import", "/", first, "--dry-run"])
      #expect(trial == "Would import 3 values at /: 2 added, 1 changed, 0 removed.\n")
      #expect(await call(["data", "get", "/users/eve"]) == "null\n")
      #expect(await call(["data", "import", "/", first]) == "Imported 3 values at /: 2 added, 1 changed, 0 removed.\n")
      _ = await call(["drain"])
      #expect(await call(["triggers", "list"]) == "No events match.\n")
      #expect(await call(["ledger", "statement", "bob"]).contains("opening"))
      #expect(await call(["ledger", "balance", "bob"]) == "user:bob has 120 pieces_of_eight.\n")
      _ = await call(["data", "export", "/", second])
      let exported = try TreeNode(json: JSONParser.parse(FileBytes.read(second)))
      #expect(exported == tree)
      _ = await call(["data", "remove", "/", "--yes"])
      #expect(await call(["ledger", "balance", "bob"]) == "user:bob has 0 pieces_of_eight.\n")
      #expect(await call(["ledger", "verify"]).contains("sound"))
    }
  }

  @Test("a backup whose log was changed long before its end is told to be unsound")
  func tamperedLog() async throws {
    let folder = TemporaryFolder()
    let backup = folder.file("backup.db")
    try await serving(folder.file("data")) { call in
      for text in ["first marker", "second", "third", "fourth"] { _ = await call(["data", "set", "/a", "\"\(text)\""]) }
      _ = await call(["backup", backup, "--bare"])
    }
    var bytes = try FileBytes.read(backup)
    let marker = Array("first marker".utf8)
    for start in bytes.indices where bytes[start] == marker[0] && bytes[start...].starts(with: marker) {
      bytes[start] = UInt8(ascii: "F")
    }
    try FileBytes.write(bytes, to: backup)
    let restore = await CommandRun(["restore", backup, "--data", folder.file("restored")])
    #expect(restore.code == 1, "\(restore.err)")
    #expect(restore.out.contains("demo-default-rtdb: NOT SOUND, "), "\(restore.out)")
    #expect(restore.out.contains("The changes of commit 1 are not what was written"), "\(restore.out)")
  }

  @Test("a backup does not replace the live store")
  func backupOntoStore() async throws {
    let folder = TemporaryFolder()
    let data = folder.file("data")
    try await serving(data) { call in _ = await call(["data", "set", "/a", "1"]) }
    let run = await CommandRun(["backup", "\(data)/doubloon.db", "--data", data])
    #expect(run.code == 1)
    #expect(run.err.contains("is in the data folder"), "\(run.err)")
    #expect(await CommandRun(["data", "get", "/a", "--data", data]).out == "1\n")
  }

  @Test("a folder whose namespace is another must be told which")
  func namespaces() async throws {
    let folder = TemporaryFolder()
    try await serving(folder.file("data")) { call in _ = await call(["data", "set", "/a", "1", "--ns", "other"]) }
    let run = await CommandRun(["data", "get", "/a", "--data", folder.file("data")])
    #expect(run.code == 1)
    #expect(run.err.contains("has no namespace demo-default-rtdb; name one with --ns: other."))
    #expect(await CommandRun(["data", "get", "/a", "--data", folder.file("data"), "--ns", "other"]).out == "1\n")
  }
}
