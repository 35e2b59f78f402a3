import NIOHTTP1
import ServerTestSupport
import Testing
import TreeModel

@Suite struct OperationCommandTests {
  @Test("a server that is not ready says why, with exit code 1")
  func status() async throws {
    let isReady: [(Bool, Int32)] = [(true, 0), (false, 1)]
    for (isReady, code) in isReady {
      try await TinyServer.run({ request in
        guard request.path == "/readyz" else {
          return .json([
            "version": "1.2.3", "mode": "development", "startedAt": 0, "time": 0, "epoch": 1, "namespaces": 2,
            "defaultNamespace": "d", "writer": ["queueDepth": 0], "sockets": 0, "streams": 0, "listens": 0, "warnings": [],
            "problems": [], "pausedFunctions": [],
            "deadLetters": ["count": 0, "complete": true, "functions": []],
            "retries": ["count": 0, "complete": true, "functions": []],
          ])
        }
        return isReady ? .json(["status": "ready"]) : .json(["status": "not ready", "reasons": ["f is paused."]], status: 503)
      }) { server in
        let run = await CommandRun(["status", "--server", server.address])
        #expect(run.code == code)
        #expect(
          run.out.hasPrefix(
            isReady
              ? "The server is ready.\nVersion            1.2.3\nMode               development\n"
              : "The server is not ready:\n  f is paused.\n"))
        let asked = await CommandRun(["status", "--ready", "--server", server.address])
        #expect(asked.code == code && asked.err.isEmpty)
        #expect(asked.out == (isReady ? "The server is ready.\n" : "The server is not ready:\n  f is paused.\n"))
      }
    }
  }

  @Test("a drain that is not complete lists what runs, with exit code 1")
  func drain() async throws {
    try await TinyServer.run({ _ in
      .json(
        [
          "settled": false, "running": [["event": "1-2:/a", "function": "f", "state": "running", "error": .null]],
          "unfinished": [["event": "1-1:/a", "function": "g", "state": "dead", "error": "no coins"]],
        ],
        status: 504)
    }) { server in
      let run = await CommandRun(["drain", "--timeout", "1", "--server", server.address])
      #expect(run.code == 1)
      #expect(
        run.out == """
          Still running after the time:
            event 1-2:/a, function f, state running
          Settled, but not done:
            event 1-1:/a, function g, state dead, error no coins

          """)
      #expect(server.requests.map(\.uri) == ["/admin/v1/drain?timeout=1s"])
    }
  }

  @Test("functions are listed, paused, resumed and retried")
  func functions() async throws {
    try await TinyServer.run({ request in
      switch (request.method, request.path) {
      case (.GET, _):
        .json([
          "functions": [
            [
              "name": "f", "pattern": "/a/{b}", "kinds": "onUpdate", "paused": true, "pauseReason": "too much", "updatedAt": 0,
              "pace": ["inline": true, "inlineRuns": 3, "meanNanoseconds": 12_345],
            ]
          ]
        ])
      case (_, "/admin/v1/functions/f/retry"): .json(["status": "ok", "retried": 1])
      default: .json(["status": "ok"])
      }
    }) { server in
      let rows: [([String], String)] = [
        (
          ["list"],
          "FUNCTION  STATE   RUNS      DEAD  MEAN US  INLINE       PATTERN  PAUSED BECAUSE\n"
            + "f         paused  onUpdate     0       12  yes, 3 runs  /a/{b}   too much\n"
        ),
        (["pause", "f", "--reason", "x"], "f is paused; its events wait.\n"), (["resume", "f"], "f goes on.\n"),
        (["retry", "f"], "1 dead letter of f will be tried again.\n"),
      ]
      for (arguments, text) in rows {
        #expect(await CommandRun(["functions"] + arguments + ["--server", server.address]).out == text)
      }
      #expect(server.requests[1].json == ["reason": "x"])
    }
  }

  @Test("a backup's path is made absolute, for the server's folder is another")
  func backup() async throws {
    try await TinyServer.run({ .json(["status": "ok", "path": $0.json["path"] ?? .null]) }) { server in
      let run = await CommandRun(["backup", "b.db", "--server", server.address])
      #expect(run.code == 0)
      let path = server.requests.first?.json["path"]?.string ?? ""
      #expect(path.hasPrefix("/") && path.hasSuffix("/b.db"))
      #expect(run.out == "The backup is in \(path).\n")
    }
  }
}
