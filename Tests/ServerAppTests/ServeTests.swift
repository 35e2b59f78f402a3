import NIOCore
import NIOHTTP1
import ServerTestSupport
import TestSupport
import Testing
import TreeModel

@testable import AdminClient
@testable import DoubloonCLI
@testable import HTTPServer
@testable import ServerApp
@testable import ServerConfiguration

@Suite struct ServeTests {
  static let token = "0123456789abcdef0123456789abcdef"

  /// A folder with a configuration, the files that it names, and the rules of a test.
  final class Deployment {
    let folder = TemporaryFolder()

    init(rules: String = "{\"rules\": {\".read\": false, \".write\": false}}", more: String = "") throws {
      try write(rules, "rules.json")
      try write(ServeTests.token + "\n", "ops.token")
      try write(
        """
        {"project": "game", "data": "data", "rules": "rules.json", \(more.isEmpty ? "" : more + ",")
         "namespaces": ["second"], "admins": [{"name": "ops", "token": {"file": "ops.token"}}]}
        """, "doubloon.jsonc")
    }

    func write(_ text: String, _ name: String) throws { try FileBytes.write(Array(text.utf8), to: folder.file(name)) }

    var configuration: ServerConfiguration {
      get throws {
        var configuration = try ServeConfiguration.load(folder.file("doubloon.jsonc")).serverConfiguration
        configuration.port = 0
        return configuration
      }
    }

    /// Runs a test against the server, which is stopped in any case.
    func serve<Result>(_ test: (Int) async throws -> Result) async throws -> Result {
      let application = try Application(configuration: try configuration) { _ in }
      let port = try await application.start()
      do {
        let result = try await test(port)
        await application.stop()
        return result
      } catch {
        await application.stop()
        throw error
      }
    }
  }

  private func status(_ port: Int, _ token: String?, _ path: String) async throws -> Int {
    let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: token)
    let status = try await client.send(.GET, path).status
    await client.close()
    return status
  }

  @Test("production lets nobody in but whom the file names")
  func closed() async throws {
    try await Deployment().serve { port in
      for token in [nil, "owner", "wrong", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJib2IifQ."] {
        #expect(try await status(port, token, "/admin/v1/status") == 401)
        #expect(try await status(port, token, "/users.json") == 401)
      }
      #expect(try await status(port, nil, "/users.json?auth=eyJhbGciOiJub25lIn0.eyJzdWIiOiJib2IifQ.") == 401)
      #expect(try await status(port, Self.token, "/users.json") == 200)
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: Self.token)
      #expect(try await client.get("/admin/v1/status")["mode"]?.string == "production")
      await client.close()
    }
  }

  @Test("metrics take a viewer's key, or the port of this machine's monitoring; health takes none")
  func metrics() async throws {
    let deployment = try Deployment(more: "\"metrics\": {\"port\": 0}")
    let application = try Application(configuration: try deployment.configuration) { _ in }
    let port = try await application.start()
    do {
      let own = try #require(application.metricsServer?.address?.port)
      #expect(own != port)
      #expect(try await status(port, nil, "/metrics") == 401)
      #expect(try await status(port, "wrong", "/metrics") == 401)
      #expect(try await status(port, Self.token, "/metrics") == 200)
      for path in ["/healthz", "/readyz"] { #expect(try await status(port, nil, path) == 200) }
      for path in ["/healthz", "/readyz", "/metrics"] { #expect(try await status(own, nil, path) == 200) }
      for path in ["/users.json", "/admin/v1/status", "/.settings/rules.json"] {
        #expect(try await status(own, Self.token, path) == 404, "\(path)")
      }
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  @Test("nobody else's machine is given the metrics without a key")
  func openMetrics() throws {
    let deployment = try Deployment(more: "\"metrics\": {\"host\": \"0.0.0.0\"}")
    let failure = #expect(throws: FileError.self) { try deployment.configuration }
    #expect(failure?.message.contains("Everybody who reaches 0.0.0.0 would read the metrics without a key") == true)
  }

  @Test("namespaces are those of the file, each with the file's rules")
  func namespaces() async throws {
    let deployment = try Deployment(rules: "{\"rules\": {\"a\": {\".indexOn\": \"b\"}}}")
    try await deployment.serve { port in
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: Self.token)
      let names = try await client.get("/admin/v1/namespaces").listed("namespaces").compactMap { $0["name"]?.string }
      #expect(Set(names) == ["game-default-rtdb", "second"])
      for name in names {
        let rules = try await client.send(.GET, "/.settings/rules.json", query: [QueryItem("ns", name)].compactMap(\.self))
        #expect(String(decoding: rules.body, as: UTF8.self).contains("indexOn"))
      }
      await #expect { _ = try await client.put("/x.json", 1, query: [QueryItem("ns", "third")].compactMap(\.self)) } throws: {
        ($0 as? AdminClientError)?.status == 404
      }
      await client.close()
    }
    // The file counts: at the next start its words are in force.
    try deployment.write("{\"rules\": {\"c\": {\".indexOn\": \"d\"}}}", "rules.json")
    try await deployment.serve { port in
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: Self.token)
      let rules = try await client.send(.GET, "/.settings/rules.json")
      #expect(String(decoding: rules.body, as: UTF8.self).contains("\"d\""))
      let versions = try await client.get("/admin/v1/rules/history").listed("versions")
      #expect(versions.map { $0["way"] } == ["configuration", "configuration"])
      #expect(versions.allSatisfy { $0["actor"] == "system:configuration" })
      await client.close()
    }
  }

  @Test("the tools of development are not there, and who tries them is on record")
  func noTools() async throws {
    try await Deployment().serve { port in
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: Self.token)
      let stranger = try AdminClient(server: "http://127.0.0.1:\(port)", token: "wrong")
      for (client, status) in [(client, 403), (stranger, 401)] {
        await #expect { _ = try await client.post("/admin/v1/clock", ["advance": 1]) } throws: {
          ($0 as? AdminClientError)?.status == status
        }
        await #expect { _ = try await client.delete("/admin/v1/namespaces/second") } throws: {
          ($0 as? AdminClientError)?.status == status
        }
      }
      await #expect { _ = try await client.get("/admin/v1/mail") } throws: { ($0 as? AdminClientError)?.status == 403 }
      _ = try await client.post("/admin/v1/namespaces", ["name": "fourth"])
      let audit = try await client.get("/admin/v1/audit").listed("actions")
      let rows = audit.map { "\($0["actor"]?.string ?? "") \($0["action"]?.string ?? "") \($0["result"]?.string == "ok")" }
      #expect(
        Set(rows) == [
          "admin:ops namespaces.create true", "admin:ops clock.advance false", "admin:ops namespaces.delete false",
          "anonymous clock.advance false", "anonymous namespaces.delete false", "admin:ops /admin/v1/mail false",
        ], "\(rows)")
      await client.close()
      await stranger.close()
    }
  }

  @Test("who asks too often is sent away for a while; others are not, and administrators later")
  func rates() async throws {
    let rules = "{\"rules\": {\"a\": {\".read\": true}}}"
    let more =
      "\"rateLimits\": {\"reads\": \"1/h burst 3\", \"administrators\": \"1/h burst 3\"}, "
      + "\"listen\": {\"trustedProxies\": [\"127.0.0.1\"]}"
    try await Deployment(rules: rules, more: more).serve { port in
      let player = try AdminClient(server: "http://127.0.0.1:\(port)", token: nil)
      for expected in [200, 200, 200, 429] {
        let answer = try await player.send(.GET, "/a.json")
        #expect(answer.status == expected)
        // The clock is the machine's: on a slow one a part of the hour is over.
        if expected == 429 {
          let seconds = try #require(answer.headers["Retry-After"].first.flatMap { Int($0) })
          #expect((3500...3600).contains(seconds))
        }
      }
      #expect(try await player.send(.GET, "/a.json", headers: ["X-Forwarded-For": "6.6.6.6, 192.0.2.1"]).status == 200)
      let admin = try AdminClient(server: "http://127.0.0.1:\(port)", token: Self.token)
      // A wrong token takes one of the three, for it was looked at; the player's refused request, which had none, took none.
      #expect(try await player.send(.GET, "/a.json", headers: ["Authorization": "Bearer guessed"]).status == 429)
      for expected in [200, 200, 429] { #expect(try await admin.send(.GET, "/a.json").status == expected) }
      #expect(try await admin.put("/a.json", 1) == 1)
      #expect(try await admin.get("/admin/v1/status")["mode"]?.string == "production")
      let metrics = try await admin.send(.GET, "/metrics")
      #expect(String(decoding: metrics.body, as: UTF8.self).contains("doubloon_rate_limited_total 3\n"))
      await player.close()
      await admin.close()
    }
  }

  @Test("a large body costs more than one request; an administrator's costs one")
  func sizeCosts() async throws {
    let more = "\"rateLimits\": {\"writes\": \"1/h burst 5\", \"administrators\": \"1/h burst 1\"}"
    try await Deployment(more: more).serve { port in
      let body = Array(("\"" + String(repeating: "x", count: 40_000) + "\"").utf8)
      let player = try AdminClient(server: "http://127.0.0.1:\(port)", token: nil)
      // Three, and then two are left.
      for (expected, body) in [
        (401, body), (429, body), (401, Array("1".utf8)), (401, Array("1".utf8)), (429, Array("1".utf8)),
      ] {
        #expect(try await player.send(.PUT, "/a.json", body: body).status == expected)
      }
      await player.close()
    }
    try await Deployment(more: more).serve { port in
      let admin = try AdminClient(server: "http://127.0.0.1:\(port)", token: Self.token)
      let body = Array(("\"" + String(repeating: "x", count: 200_000) + "\"").utf8)
      for expected in [200, 200, 200, 200, 200, 200, 429] {
        #expect(try await admin.send(.PUT, "/a.json", body: body).status == expected)
      }
      await admin.close()
    }
  }

  @Test("a configuration that is faulty ends with 2, a server that cannot run with 1")
  func exitCodes() async throws {
    let deployment = try Deployment()
    try deployment.write("{\"prot\": 1}", "bad.jsonc")
    for (arguments, code, text) in [
      (["serve", "--config", deployment.folder.file("bad.jsonc")], 2, "bad.jsonc:1:2: There is no setting \"prot\""),
      (["serve", "--config", deployment.folder.file("none.jsonc")], 2, "none.jsonc cannot be read"),
      (["serve"], 2, "Missing expected argument '--config"),
      (["config", "check", deployment.folder.file("bad.jsonc")], 2, "\"project\" is missing"),
    ] {
      let run = await CommandRun(arguments)
      #expect(run.code == Int32(code) && run.err.contains(text), "\(run.err)")
    }
    let well = await CommandRun(["config", "check", deployment.folder.file("doubloon.jsonc")])
    #expect(well.code == 0 && well.out.contains("is well.") && well.out.contains("Administrators' tokens: ops."))
    #expect(!well.out.contains(Self.token))
    // The folder is open already: the second server says so.
    try await deployment.serve { _ in
      let run = await CommandRun(["serve", "--config", deployment.folder.file("doubloon.jsonc")])
      #expect(run.code == 1 && run.err.contains("The server cannot run"), "\(run.err)")
    }
  }
}
