import AdminModel
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerConfiguration

@Suite struct RulesCommandTests {
  private static let rules = """
    {"rules": {"users": {"$uid": {
      ".read": "auth.uid === $uid",
      "level": {".write": "auth.uid === $uid && newData.val() === data.val() + 1"}
    }}}}
    """

  private static func folder(_ files: [String: String]) throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    for (name, text) in files { try FileBytes.write(Array(text.utf8), to: folder.file(name)) }
    return folder
  }

  @Test("check counts what is there, and tells every fault as compilers do")
  func check() async throws {
    let folder = try Self.folder([
      "rules.json": Self.rules, "bad.json": "{\"rules\": {\n  \".read\": \"a\",\n  \".write\": \"1\"}}",
    ])
    let sound = await CommandRun(["rules", "check", folder.file("rules.json")])
    #expect(sound.code == 0 && sound.out == "The rules are sound: 2 rules at 4 places, 0 indexes.\n", "\(sound)")
    let bad = await CommandRun(["rules", "check", folder.file("bad.json")])
    #expect(bad.code == 1)
    #expect(bad.err.contains("\(folder.file("bad.json")):2:13: Unknown name a"), "\(bad.err)")
    #expect(bad.err.contains("\(folder.file("bad.json")):3:14: A rule must be a boolean"), "\(bad.err)")
  }

  @Test("test runs the cases, says what failed and why, and what they do not prove")
  func test() async throws {
    let cases = """
      {"rules": "rules.json", "users": {"bob": {"uid": "bob"}}, "data": {"users": {"bob": {"level": 4}}}, "cases": [
        {"name": "up", "as": "bob", "set": "/users/bob/level", "value": 5, "expect": "allowed"},
        {"name": "jump", "as": "bob", "set": "/users/bob/level", "value": 7, "expect": "EXPECTED"}]}
      """
    let folder = try Self.folder([
      "rules.json": Self.rules, "good.json": cases.replacing("EXPECTED", with: "denied"),
      "bad.json": cases.replacing("EXPECTED", with: "allowed"),
    ])
    let good = await CommandRun(["rules", "test", folder.file("good.json")])
    #expect(good.code == 0, "\(good.err)")
    #expect(good.out.hasPrefix("2 cases, all as expected.\n0 of 2 rules are proved both ways"), "\(good.out)")
    #expect(good.out.contains(":2:13: never judged: auth.uid === $uid"), "\(good.out)")
    #expect(good.out.contains(":3:24: never false: auth.uid === $uid\n"), "\(good.out)")
    #expect(!good.out.contains("newData.val()"), "\(good.out)")
    #expect(await CommandRun(["rules", "test", folder.file("good.json"), "--strict"]).code == 1)
    let bad = await CommandRun(["rules", "test", folder.file("bad.json")])
    #expect(bad.code == 1)
    #expect(bad.out.contains("FAILED  jump: must be allowed, but is denied"), "\(bad.out)")
    #expect(bad.out.contains("newData.val() = 7") && bad.out.contains("data.val() = 4"), "\(bad.out)")
    let json = await CommandRun(["rules", "test", folder.file("good.json"), "--json"])
    #expect(try JSONParser.parse(json.out)["cases"]?.array?.count == 2)
    #expect(await CommandRun(["rules", "test", folder.file("rules.json")]).code == 1)
  }

  @Test("history lists the versions; get prints one of them; rollback puts one once more, with a reason")
  func history() async throws {
    let version: JSON = [
      "version": 2, "time": 1_700_000_000_000, "actor": "admin:owner", "way": "rollback", "reason": "too strict",
      "hash": "abcdef0123456789", "bytes": 20, "restores": 1, "current": true,
    ]
    try await TinyServer.run({ request in
      switch request.path {
      case "/admin/v1/rules/history": .json(["versions": [version]])
      case "/admin/v1/rules/history/2": .json(["version": version, "source": "{\"rules\": {}}\n"])
      case "/admin/v1/rules/rollback": .json(["version": 3, "hash": "ab", "changed": true])
      default: .json(["status": "ok"])
      }
    }) { server in
      let at = ["--server", server.address]
      let listed = await CommandRun(["rules", "history"] + at)
      #expect(listed.code == 0 && listed.out.contains("rollback of 1") && listed.out.contains("too strict"), "\(listed)")
      #expect(listed.out.contains("2*") && listed.out.contains("abcdef012345 "), "\(listed)")
      #expect(await CommandRun(["rules", "get", "2"] + at).out == "{\"rules\": {}}\n")
      let back = await CommandRun(["rules", "rollback", "1", "--reason", "oh no", "--if-hash", "ab"] + at)
      #expect(back.out == "The rules of version 1 hold now, as version 3.\n", "\(back)")
      #expect(server.requests.last?.json == ["version": "1", "ifHash": "ab", "reason": "oh no"])
      #expect(await CommandRun(["rules", "rollback", "1"] + at).code == 2)
      let folder = try Self.folder(["rules.json": Self.rules])
      #expect(await CommandRun(["rules", "put", folder.file("rules.json"), "--reason", "a b"] + at).code == 0)
      #expect(server.requests.last?.uri == "/.settings/rules.json?reason=a%20b")
    }
  }

  @Test("put sends the file as it is, once it is sound; get prints what holds; explain asks and prints")
  func server() async throws {
    let folder = try Self.folder(["rules.json": Self.rules, "bad.json": "{}"])
    try await TinyServer.run({ request in
      if request.path == AdminAccess.explainRules.template {
        return .json([
          "operation": "set", "allowed": false, "hasRules": true, "text": "Denied: set /x\n  because", "rules": [],
          "auth": .null,
        ])
      }
      return request.method == .GET ? TinyServer.Answer(body: Array("{\"rules\": {}}\n".utf8)) : .json(["status": "ok"])
    }) { server in
      let at = ["--server", server.address]
      #expect(await CommandRun(["rules", "put", folder.file("rules.json")] + at).out == "The rules hold now.\n")
      #expect(await CommandRun(["rules", "put", folder.file("rules.json"), "--dry-run", "--ns", "n"] + at).code == 0)
      #expect(await CommandRun(["rules", "put", folder.file("bad.json")] + at).code == 1)
      #expect(await CommandRun(["rules", "get"] + at).out == "{\"rules\": {}}\n")
      let denied = await CommandRun(["rules", "explain", "set", "/x", "5", "--as", "bob"] + at)
      #expect(denied.code == 1 && denied.out == "Denied: set /x\n  because\n", "\(denied)")
      #expect(
        server.requests.map(\.uri) == [
          "/.settings/rules.json", "/.settings/rules.json?ns=n&dryRun=true", "/.settings/rules.json", "/admin/v1/rules/explain",
        ])
      #expect(server.requests[0].body == Array(Self.rules.utf8))
      #expect(server.requests[3].json == ["operation": "set", "path": "/x", "value": 5, "auth": ["uid": "bob"]])
      for arguments in [["read", "/x", "5"], ["set", "/x"], ["set", "/x", "5", "--as", "a", "--auth", "{}"]] {
        #expect(await CommandRun(["rules", "explain"] + arguments + at).code == 2)
      }
    }
  }
}
