import FunctionsKit
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerApp
@testable import ServerConfiguration

/// What somebody meets who uses the commands for the first time, with a game of their own.
@Suite struct FirstUseTests {
  private static func register(_ functions: Functions) {
    let gems = TreePath<Int64, UserID>("/pirates/{uid}/gems")
    functions.currency("gems", at: gems)
    functions.onWrite(TreePath<Int64, UserID>("/pirates/{uid}/rank"), name: "pay") { event, context in
      if event.after == 13 { throw PermanentError("thirteen is unlucky") }
      try await context.credit(gems, event.params, amount: 3, code: "rank")
      return .done
    }
  }

  /// Runs a test against a server of a game, whose commands are given the address.
  private func serving(
    _ test: (_ call: ([String]) async -> CommandRun) async throws -> Void
  ) async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.file("data")))
    configuration.port = 0
    let application = try Application(configuration: configuration, functions: Self.register)
    let port = try await application.start()
    do {
      try await test { await CommandRun($0 + ["--server", "http://127.0.0.1:\(port)"]) }
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  @Test("Commands are about the game's only currency; a number below zero is a value, not an option")
  func ownCurrency() async throws {
    try await serving { call in
      #expect(await call(["data", "set", "/pirates/anne/rank", "2"]).code == 0)
      #expect(await call(["drain"]).code == 0)
      #expect(await call(["ledger", "balance", "anne"]).out == "user:anne has 3 gems.\n")
      let moved = await call(["ledger", "transfer", "issuance:support", "anne", "4", "--once", "s/1"])
      #expect(moved.out.contains("4 gems from issuance:support to user:anne"), "\(moved)")
      #expect(await call(["data", "set", "/pirates/anne/depth", "-7"]).code == 0)
      #expect(await call(["data", "get", "/pirates/anne/depth"]).out == "-7\n")
    }
  }

  @Test("A function that gave up is in status and in the list of functions, with event and reason")
  func deadLetters() async throws {
    try await serving { call in
      _ = await call(["data", "set", "/pirates/anne/rank", "13"])
      _ = await call(["drain"])
      let status = await call(["status"])
      #expect(status.code == 0 && status.out.contains("Dead letters       1\n"), "\(status)")
      #expect(status.out.contains("pay: 1, the last on 1-1:/pirates/anne/rank: thirteen is unlucky\n"), "\(status)")
      #expect(status.out.contains(" free at "), "\(status)")
      let functions = await call(["functions", "list"]).out
      #expect(
        functions.contains("pay gave up on 1 event, the last 1-1:/pirates/anne/rank: thirteen is unlucky"), "\(functions)")
    }
  }

  @Test("An empty tree and an unknown namespace lead to those that there are")
  func namespaces() async throws {
    try await serving { call in
      _ = await call(["data", "set", "/a", "1", "--ns", "other"])
      let root = await call(["data", "get", "/"])
      #expect((root.out + root.err).contains("other"), "\(root)")
      let list = await call(["namespaces"])
      #expect(list.code == 0 && list.out.contains("NAMESPACE") && list.out.contains("\nother "), "\(list)")
      let missing = await call(["ledger", "balance", "bob", "--ns", "nowhere"])
      #expect(missing.code == 1 && missing.err.contains(" has no namespace nowhere; name one with --ns: "), "\(missing)")
      #expect(missing.err.contains("other"), "\(missing)")
    }
  }

  @Test("A player is found by e-mail address; of one whom nobody knows it is said")
  func addresses() async throws {
    try await serving { call in
      let made = await call(["accounts", "create", "--email", "anne@acme.test"])
      #expect(made.code == 0, "\(made)")
      let shown = await call(["accounts", "show", "Anne@acme.test"])
      #expect(shown.out.contains("anne@acme.test"), "\(shown)")
      #expect(await call(["accounts", "list", "--email", "anne@acme.test"]).out.contains("anne@acme.test"))
      #expect(await call(["accounts", "list", "--email", "eve@acme.test"]).out == "There are no accounts.\n")
      let why = await call(["why", "anne@acme.test"])
      #expect(why.code == 0 && why.out.contains("pay runs on any change at /pirates/"), "\(why)")
      let stranger = await call(["why", "eve@acme.test"])
      #expect(stranger.code == 1 && stranger.err.contains("No account has the e-mail address eve@acme.test"), "\(stranger)")
      #expect(await call(["why", "nobody"]).out.hasPrefix("There is no player nobody: no account"))
      _ = await call(["accounts", "disable", "anne@acme.test"])
      #expect(await call(["accounts", "list"]).out.contains("disabled"))
    }
  }

  @Test("A port that is taken, an address that is another's, and a name that nobody knows each have their sentence")
  func binding() async throws {
    try await TinyServer.run({ _ in .json([:]) }) { server in
      let port = String(server.address.split(separator: ":").last ?? "")
      let rows: [([String], String)] = [
        (["--port", port], "another program listens there. Stop it, or choose another port (--port"),
        (["--port", "0", "--host", "192.0.2.7"], "this machine has no such address."),
      ]
      for (options, sentence) in rows {
        let run = await CommandRun(["dev", "--in-memory"] + options)
        #expect(run.code == 1 && run.err.contains(sentence) && !run.err.contains("errno"), "\(run)")
      }
    }
  }

  @Test("An audit row tells what a body was, not the whole of it")
  func audit() {
    let detail: JSON = [
      "name": "pay",
      "body": [
        "rules": ["users": ["a": 1], "games": 2], "reason": "a reason that is much too long for a cell of a table, really",
      ],
    ]
    #expect(
      AuditDetail.text(detail)
        == "name pay, rules {2 members}, reason a reason that is much too long for a cell of ...")
    #expect(AuditDetail.text(["bodyBytes": 20_480]) == "body of 20.4 kB")
    var table = TextTable([.number("ID"), .text("DETAIL")])
    table.add(["7", "one two three four five"])
    #expect(table.render(within: 12) == "ID  DETAIL\n 7  one t...")
    #expect(Int64(512).byteText == "512 bytes" && Int64(3_400_000_000).byteText == "3.4 GB")
  }
}
