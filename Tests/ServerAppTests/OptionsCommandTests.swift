import ArgumentParser
import TestSupport
import Testing

@testable import ServerApp

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
    #expect(!FileBytes.exists(folder.file("a.partial")))
    #expect(throws: CommandFailure.self) { try FileBytes.write([1], to: folder.file("missing/a")) }
    #expect(throws: CommandFailure.self) { try FileBytes.read(folder.path) }
    #expect(FileBytes.absolute("/x") == "/x")
    #expect(FileBytes.absolute("x").hasSuffix("/x"))
  }

  @Test(
    "accounts without a colon are users",
    arguments: [
      ("bob", "user:bob"), ("user:bob", "user:bob"), ("issuance:signup", "issuance:signup"), ("adjustment", "adjustment"),
      ("opening", "opening"),
    ])
  func accounts(_ argument: String, _ text: String) {
    #expect(AccountName(argument: argument)?.text == text)
  }
}
