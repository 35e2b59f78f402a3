import AdminModel
import ArgumentParser
@testable import DoubloonCLI
import Glibc
@testable import ServerApp
@testable import ServerConfiguration
import TestSupport
import Testing
import TreeModel

@Suite struct OptionsCommandTests {
  @Test("the option counts, then the environment, then the default")
  func address() throws {
    let plain = try ServerOptions.parse([])
    #expect(plain.address(environment: { _ in nil }) == "http://127.0.0.1:9000")
    #expect(plain.address(environment: { $0 == "DOUBLOON_SERVER" ? "http://h:1" : nil }) == "http://h:1")
    #expect(try ServerOptions.parse(["--server", "http://o:2"]).address(environment: { _ in "http://h:1" }) == "http://o:2")
  }

  @Test("a key is a token, or a file that holds one")
  func key() throws {
    let folder = TemporaryFolder()
    let (file, empty, account) = (folder.file("key"), folder.file("empty"), folder.file("account.json"))
    try FileBytes.write(Array("  s3cret \nmore\n".utf8), to: file)
    try FileBytes.write([], to: empty)
    try FileBytes.write(Array("{\"type\":\"service_account\"}".utf8), to: account)
    func token(_ arguments: [String], _ environment: (String) -> String? = { _ in nil }) throws -> String? {
      if case .token(let text) = try ServerOptions.parse(arguments).credential(environment: environment) { text } else { nil }
    }
    #expect(try token([]) == "owner")
    #expect(try token(["--key", "abc"]) == "abc")
    #expect(try token([]) { $0 == "DOUBLOON_KEY" ? file : nil } == "s3cret")
    for bad in [empty, account, folder.file("missing")] {
      #expect(throws: CommandError.self) { try token(["--key", bad]) }
    }
  }

  @Test("files are written whole or not at all")
  func files() throws {
    let folder = TemporaryFolder()
    try FileBytes.write([1, 2, 3], to: folder.file("a"))
    #expect(try FileBytes.read(folder.file("a")) == [1, 2, 3])
    #expect(!FileBytes.exists(folder.file("a.\(getpid()).partial")))
    #expect(throws: FileError.self) { try FileBytes.write([1], to: folder.file("missing/a")) }
    #expect(throws: FileError.self) { try FileBytes.read(folder.path) }
    #expect(FileBytes.absolute("/x") == "/x")
    #expect(FileBytes.absolute("x").hasSuffix("/x"))
  }

  @Test("a file that is replaced stays what it was: a link a link, a device a device")
  func specialFiles() throws {
    let folder = TemporaryFolder()
    func kind(_ path: String) -> mode_t {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }
    try FileBytes.write([1], to: folder.file("real"))
    for (name, target) in [("link", "real"), ("loose", "later")] {
      #expect(symlink(target, folder.file(name)) == 0)
      try FileBytes.write([2, 3], to: folder.file(name))
      #expect(kind(folder.file(name)) == S_IFLNK)
      #expect(kind(folder.file(target)) == S_IFREG)
      #expect(try FileBytes.read(folder.file(target)) == [2, 3])
    }
    try FileBytes.write([4], to: "/dev/null")
    #expect(kind("/dev/null") == S_IFCHR)
    #expect(throws: FileError.self) { try FileBytes.write([5], to: folder.path) }
    #expect(throws: FileError.self) { try FileBytes.write([5], to: "/dev/full") }
  }

  @Test("a private file is one whatever stood there before")
  func privateFiles() throws {
    let folder = TemporaryFolder()
    let file = folder.file("a")
    try FileBytes.write([1], to: file)
    chmod(file, 0o666)
    try FileBytes.write([2], to: file, isPrivate: true)
    #expect(FileMode.of(file) == 0o600)
    #expect(try FileBytes.read(file) == [2])
  }

  @Test("a stream that takes nothing is told from one that took all")
  func fullStream() {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    let void = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer {
      close(full)
      close(void)
    }
    #expect(CommandOutput.errorCode(writing: [1, 2, 3], to: full) == ENOSPC)
    #expect(CommandOutput.errorCode(writing: [1, 2, 3], to: void) == nil)
    #expect(CommandOutput.errorCode(writing: [], to: full) == nil)
  }

  @Test(
    "accounts without a colon are users",
    arguments: [
      ("bob", "user:bob"), ("user:bob", "user:bob"), ("issuance:signup", "issuance:signup"), ("adjustment", "adjustment"),
      ("opening", "opening"),
    ])
  func accounts(_ argument: String, _ text: String) {
    #expect(LedgerAccountArgument(argument: argument)?.text == text)
    #expect(LedgerAccountArgument(argument: argument)?.doubt == nil)
  }

  @Test("a name with a colon may be a player's id, unless its kind is known")
  func doubt() {
    #expect(LedgerAccountArgument(argument: "twitter:123")?.doubt?.contains("user:twitter:123") == true)
    #expect(LedgerAccountArgument(argument: "user:twitter:123")?.doubt == nil)
  }
}

@Suite struct TableCommandTests {
  @Test("columns are as wide as their widest cell")
  func layout() {
    var table = TextTable([.text("NAME"), .number("COINS"), .text("WHY")])
    table.add(["bob", "1,050", "level5"])
    table.add(["alexandra", "5", ""])
    #expect(
      table.render() == """
        NAME       COINS  WHY
        bob        1,050  level5
        alexandra      5
        """)
    #expect(table.lines(showsTitles: false).count == 2)
  }

  @Test("a cell cannot move the terminal's cursor, nor break its line")
  func control() {
    var table = TextTable([.text("KEY")])
    table.add(["\u{1B}[31mred\u{7}\nnext\u{202E}"])
    #expect(table.lines(showsTitles: false) == ["\\u{1B}[31mred\\u{7} next\\u{202E}"])
    #expect("plain ünïcode 🏴‍☠️".printable == "plain ünïcode 🏴‍☠️")
  }

  @Test(
    "numbers come in groups",
    arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (Int.min, "-9,223,372,036,854,775,808")])
  func grouped(_ number: Int, _ text: String) {
    #expect(number.grouped == text)
  }

  @Test("nouns follow their number")
  func counted() {
    #expect(1.counted("entry", many: "entries") == "1 entry")
    #expect(2000.counted("entry", many: "entries") == "2,000 entries")
  }

  @Test("values on one line")
  func plain() {
    let value: JSON = ["event": "1-2:/a", "list": [1, "x", nil], "n": 1.5]
    #expect(value.plainText == "event 1-2:/a, list 1, x, -, n 1.5")
    #expect(Timestamp(0).text == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp?.none.text == "-")
  }
}
