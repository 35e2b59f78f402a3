import ArgumentParser
import ServerTestSupport
import Testing

@testable import DoubloonCLI

@Suite struct RootCommandTests {
  @Test("the root's help names every command")
  func rootHelp() async {
    let run = await CommandRun(["--help"])
    #expect(run.code == 0)
    #expect(run.err.isEmpty)
    for command in DoubloonCommandLine.configuration.subcommands
      + DoubloonCommandLine.configuration.groupedSubcommands.flatMap(\.subcommands)
    {
      #expect(run.out.contains("\n  \(command.configuration.commandName ?? "?")"))
    }
    for text in ["DOUBLOON_SERVER", "DOUBLOON_KEY", "Exit codes: 0 done, 1 the thing asked for failed, 2 bad usage"] {
      #expect(run.out.contains(text))
    }
  }

  static let paths: [[String]] = [
    ["dev"], ["data"], ["data", "get"], ["data", "set"], ["data", "update"], ["data", "remove"], ["data", "import"],
    ["data", "export"], ["triggers"], ["triggers", "list"], ["triggers", "show"], ["triggers", "tail"], ["events", "list"],
    ["ledger"], ["ledger", "balance"], ["ledger", "statement"], ["ledger", "verify"], ["ledger", "reverse"],
    ["ledger", "transfer"], ["functions"], ["functions", "list"], ["functions", "show"], ["functions", "pause"],
    ["functions", "resume"],
    ["functions", "retry"], ["status"], ["namespaces"], ["drain"], ["backup"], ["backup-key"], ["restore"], ["recover"],
    ["verify"], ["why"],
    ["audit"],
    ["audit", "list"], ["upgrade"], ["new"], ["sessions"], ["sessions", "list"], ["sessions", "end"], ["accounts", "codes"],
    ["messages"], ["messages", "list"], ["messages", "show"], ["messages", "history"], ["messages", "check"],
    ["messages", "create"], ["messages", "publish"], ["messages", "stop"], ["messages", "duplicate"],
    ["messages", "delete"], ["messages", "apply"], ["messages", "export"], ["messages", "preview"], ["messages", "test"],
    ["messages", "explain"], ["messages", "stats"], ["messages", "devices"], ["messages", "events"],
    ["messages", "raise"], ["messages", "settings"],
    ["data", "diff"],
    ["data", "children"], ["find"],
    ["data", "log"], ["triggers", "count"], ["accounts"], ["accounts", "list"], ["accounts", "show"], ["accounts", "create"],
    ["accounts", "disable"], ["accounts", "enable"], ["accounts", "delete"], ["accounts", "import"], ["accounts", "export"],
  ]

  @Test("every command explains itself, with an example", arguments: paths)
  func help(_ path: [String]) async {
    let run = await CommandRun(path + ["--help"])
    #expect(run.code == 0)
    #expect(run.out.hasPrefix("OVERVIEW: "))
    #expect(run.out.contains("Examples:\n  "))
    #expect(run.out.contains("  doubloon "))
  }

  /// Arguments, the exit code, and a part of what goes to the standard error.
  static let usage: [([String], Int32, String)] = [
    (["bogus"], 2, "Unexpected argument 'bogus'"), (["statsu"], 2, "Did you mean \"doubloon status\"?"),
    (["ledger", "ballance", "bob"], 2, "Did you mean \"doubloon ledger balance\"?"),
    (["ledger", "transfer", "bob", "alice", "-5"], 2, "The amount must be above zero"),
    (["ledger", "transfer", "bob", "alice", "five"], 2, "\"five\" is no integer."),
    (["triggers", "list", "--limit", "-3"], 2, "' -3' is invalid for '--limit"),
    (["replay", "--suppressed", "--reason", "x"], 2, "name --gaps, --all or --event, too"),
    (["dev", "--rules", "no-such-rules.json"], 1, "no-such-rules.json cannot be read"),
    (["dev", "--port", "70000"], 2, "--port must be between 0 and 65535."),
    (["dev", "--data", "x", "--in-memory"], 2, "exclude each other"),
    (["dev", "--project", "a.b"], 2, "letters, digits and hyphens"),
    (["dev", "--functions-config", "/nowhere.json"], 1, "/nowhere.json cannot be read: No such file or directory."),
    (["data", "get"], 2, "Missing expected argument '<path>'"),
    (["data", "get", "/a.b"], 2, "Invalid path"),
    (["data", "get", "/a", "--shallow", "--export-format"], 2, "exclude each other"),
    (["data", "get", "/a", "--server", "http://x", "--data", "y"], 2, "--server and --data exclude each other"),
    (["data", "get", "/a", "--ns", "a_b"], 2, "--ns must be 1 to 64 letters"),
    (["data", "get", "/a", "--at", "sometime"], 2, "write a revision, or a time"),
    (["data", "get", "/a", "--at", "5", "--shallow"], 2, "leave out --at"),
    (["data", "diff", "/a"], 2, "Missing expected argument '--from"),
    (["data", "log", "/a", "--before", "x"], 2, "is invalid"),
    (["why", "a.b"], 2, "is no player's id"), (["why", "bob", "--limit", "0"], 2, "--limit must be 1 to 200."),
    (["triggers", "list", "--path", "/a/{b"], 2, "{b"), (["audit", "list", "--result", "so"], 2, "'so' is invalid"),
    (["data", "remove", "/"], 2, "add --yes"),
    (["data", "set", "/a", "nonsense"], 2, "there is no file nonsense either"),
    (["data", "update", "/a", "5"], 2, "An update takes an object"),
    (["triggers", "list", "--since", "sometime"], 2, "write a time as 12h"),
    (["triggers", "list", "--outcome", "great"], 2, "'great' is invalid for '--outcome"),
    (["triggers", "list", "--limit", "0"], 2, "--limit must be 1 to 1000."),
    (["triggers", "show", "xx"], 2, "they look like 1-42:/users/bob/level."),
    (["triggers", "tail", "--data", "x"], 2, "use \"list\""),
    (["ledger", "transfer", "bob", "bob", "5"], 2, "must not be the same"),
    (["ledger", "transfer", "bob", "alice", "0"], 2, "above zero"),
    (["ledger", "transfer", "issuance:x", "twitter:123", "5"], 2, "For the player write user:twitter:123"),
    (["ledger", "reverse", "17"], 2, "--reason"),
    (["ledger", "reverse", "17", "--reason", ""], 2, "--reason must say why."),
    (["functions", "pause", "f"], 2, "--reason"),
    (["drain", "--timeout", "9999"], 2, "0 to 3600"),
    (["restore", "/nowhere.db", "--data", "x"], 1, "There is no backup /nowhere.db."),
    (["restore", "/nowhere.db"], 2, "--data, or say --verify-only"),
    (["restore", "/nowhere.db", "--data", "x", "--verify-only"], 2, "--data, or say --verify-only"),
    (["restore", "b", "--data", "x", "--key", "k", "--passphrase-file", "p"], 2, "exclude each other"),
    (["backup", "b", "--bare", "--keys"], 2, "--bare is the store's file as it is"),
    (["backup", "b", "--recipient", "nobody"], 1, "nobody is no public key for backups and no file"),
    (["backup-key"], 2, "Name a file for the private key"),
    (["status", "--server", "https://127.0.0.1:1"], 1, "No server answers at https://127.0.0.1:1"),
    (["status", "--server", "https://127.0.0.1:1", "--ca", "/nowhere"], 1, "/nowhere cannot be read as certificates"),
    (["status", "--server", "ftp://example.com"], 1, "is no server's address"),
    (["status", "--data", "/nowhere"], 1, "There is no store in /nowhere"),
    (
      ["ledger", "verify", "--server", "http://127.0.0.1:1"], 1,
      "Error: No server answers at http://127.0.0.1:1; start one with \"doubloon dev\", or name the data folder with --data.\n"
    ),
  ]

  @Test("what is wrong ends with a sentence and the right exit code", arguments: usage)
  func exitCodes(_ arguments: [String], _ code: Int32, _ text: String) async {
    let run = await CommandRun(arguments)
    #expect(run.code == code)
    #expect(run.err.contains(text), "\(run.err)")
    #expect(run.out.isEmpty)
  }

  @Test("the version is printed")
  func version() async {
    let run = await CommandRun(["--version"])
    #expect(run.code == 0)
    #expect(run.out.hasPrefix("doubloon \(ProgramVersion.number) ("))
    #expect(ProgramVersion.text(commit: "0123456789abcdef0123") == "doubloon \(ProgramVersion.number) (commit 0123456789ab)")
    #expect(ProgramVersion.text(commit: "").contains("of no commit"))
  }
}
