import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import DoubloonCLI
@testable import ServerConfiguration

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
      #expect(throws: CommandFailure.self) { try token(["--key", bad]) }
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
    #expect(CommandOutput.failure(writing: [1, 2, 3], to: full) == ENOSPC)
    #expect(CommandOutput.failure(writing: [1, 2, 3], to: void) == nil)
    #expect(CommandOutput.failure(writing: [], to: full) == nil)
  }

  @Test(
    "accounts without a colon are users",
    arguments: [
      ("bob", "user:bob"), ("user:bob", "user:bob"), ("issuance:signup", "issuance:signup"), ("adjustment", "adjustment"),
      ("opening", "opening"),
    ])
  func accounts(_ argument: String, _ text: String) {
    #expect(AccountName(argument: argument)?.text == text)
    #expect(AccountName(argument: argument)?.doubt == nil)
  }

  @Test("a name with a colon may be a player's id, unless its kind is known")
  func doubt() {
    #expect(AccountName(argument: "twitter:123")?.doubt?.contains("user:twitter:123") == true)
    #expect(AccountName(argument: "user:twitter:123")?.doubt == nil)
  }
}
