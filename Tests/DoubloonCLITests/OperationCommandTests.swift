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
              "recent": [
                "window": "24h", "since": 0, "runs": 12, "outcomes": ["done": 11, "failed": 1], "p95Nanoseconds": 99_000,
              ],
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
          "FUNCTION  STATE   RUNS      DEAD  LATELY        P95 US  MEAN US  INLINE       PATTERN  PAUSED BECAUSE\n"
            + "f         paused  onUpdate     0  12, 1 failed      99       12  yes, 3 runs  /a/{b}   too much\n"
        ),
        (["pause", "f", "--reason", "x"], "f is paused; its events wait.\n"), (["resume", "f"], "f goes on.\n"),
        (["retry", "f"], "1 dead letter of f will be tried again.\n"),
      ]
      for (arguments, text) in rows {
        #expect(await CommandRun(["functions"] + arguments + ["--server", server.address]).out == text)
      }
      #expect(server.requests[0].uri.contains("window=24h") && server.requests[1].json == ["reason": "x"])
    }
  }

  @Test("one function tells its runs lately, what waits for it, and its settings")
  func function() async throws {
    try await TinyServer.run({ _ in
      .json([
        "function": [
          "name": "f", "pattern": "/a/{b}", "kinds": "onUpdate", "paused": false, "updatedAt": 0,
          "recent": [
            "window": "1h", "since": 0, "runs": 12, "outcomes": ["done": 11, "failed": 1], "p50Nanoseconds": 41_000,
            "p95Nanoseconds": 99_000,
          ],
        ],
        "settings": [["name": "amount", "value": 60, "default": 50, "overridden": true]],
        "deliveries": [
          "waiting": 1, "paused": 0, "dead": 2, "complete": true,
          "lastError": ["namespace": "d", "event": "1-1:/a/x", "error": "no coins", "time": 0],
        ],
      ])
    }) { server in
      let run = await CommandRun(["functions", "show", "f", "--window", "1h", "--server", server.address])
      for words in [
        "12 runs since 1970-01-01T00:00:00.000Z: 11 done, 1 failed.", "Half of them took 41 us at most, 95 of 100 99 us.",
        "1 waiting, 0 paused, 2 dead.", "Last error: 1-1:/a/x: no coins", "Setting amount: 60, by the configuration",
      ] {
        #expect(run.out.contains(words), "\(run.out)\(run.err)")
      }
      #expect(server.requests.first?.uri.hasSuffix("/admin/v1/functions/f?window=1h") == true)
    }
  }

  @Test("the configuration in force is told, without secrets, and the files that it came from")
  func configuration() async throws {
    try await TinyServer.run({ _ in
      .json([
        "files": ["/etc/doubloon/doubloon.jsonc"],
        "settings": [
          ["name": "listen.port", "value": 9000, "source": "command-line"],
          ["name": "data", "value": .null, "source": "default"],
          ["name": "admins.ann.token", "value": "set", "secret": true, "source": "environment"],
        ],
      ])
    }) { server in
      let run = await CommandRun(["config", "show", "--server", server.address])
      for words in [
        "listen.port", "9000", "command line", "not set", "admins.ann.token  set", "environment",
        "Read from /etc/doubloon/doubloon.jsonc.",
      ] {
        #expect(run.out.contains(words), "\(run.out)\(run.err)")
      }
      #expect(server.requests.first?.path == "/admin/v1/config")
    }
  }

  @Test("the console's sessions are listed, and one is ended")
  func sessions() async throws {
    try await TinyServer.run({ request in
      guard request.method == .GET else { return .json(["status": "ok"]) }
      return .json([
        "sessions": [
          [
            "id": "s1", "actor": "admin:ann", "role": "support", "createdAt": 0, "lastActiveAt": 1000, "until": 2000,
            "address": "10.0.0.7", "current": false,
          ]
        ]
      ])
    }) { server in
      let list = await CommandRun(["sessions", "list", "--server", server.address])
      #expect(list.out.contains("s1") && list.out.contains("admin:ann  support  10.0.0.7"), "\(list.out)\(list.err)")
      let ended = await CommandRun(["sessions", "end", "s1", "--server", server.address])
      #expect(ended.out == "The session s1 has ended.\n", "\(ended.err)")
      #expect(server.requests.last?.method == .DELETE && server.requests.last?.path == "/admin/v1/sessions/s1")
    }
  }

  @Test("what the server did lately is a table of rates, with gaps as dashes")
  func series() async throws {
    @Sendable func point(_ time: Int64, _ covered: Int64, _ commits: Int64) -> JSON {
      [
        "time": .int(time), "coveredMs": .int(covered), "commits": .int(commits), "events": 0, "grants": 5, "deadLetters": 0,
        "listens": 0, "connections": 3, "queue": 0, "waiting": 2,
      ]
    }
    try await TinyServer.run({ _ in
      .json(["window": "1h", "stepMs": 60_000, "time": 120_000, "points": [point(0, 0, 0), point(60_000, 50_000, 1225)]])
    }) { server in
      let run = await CommandRun(["series", "--points", "2", "--server", server.address])
      #expect(run.code == 0)
      #expect(run.out.contains("1970-01-01T00:00:00.000Z          -"), "\(run.out)")
      #expect(run.out.contains("24.5") && run.out.contains("0.1"), "\(run.out)")
      #expect(server.requests.map(\.uri) == ["/admin/v1/series?window=1h&points=2"])
      #expect(await CommandRun(["series", "--window", "2h", "--server", server.address]).code != 0)
    }
  }

  @Test("the copies of the store are listed, with the schedule and what failed")
  func backups() async throws {
    try await TinyServer.run({ _ in
      .json([
        "schedule": "every 1d", "next": 0, "retention": ["last": 7, "daily": 2, "weekly": 4],
        "copies": [
          ["place": "/b/two", "time": 2, "scheduled": true, "failure": "the disk is full"],
          ["place": "/b/one", "time": 1, "scheduled": true, "bytes": 2_500_000, "verified": true],
        ],
      ])
    }) { server in
      let run = await CommandRun(["backups", "--server", server.address])
      for words in ["Scheduled: every 1d.", "the last 7", "FAILED: the disk is full", "2.5 MB", "read again, whole"] {
        #expect(run.out.contains(words), "\(run.out)")
      }
    }
  }

  @Test(
    "an audit in the background is begun, and asked for",
    arguments: [("running", 0), ("done", 0), ("failed", 1)] as [(String, Int32)])
  func audits(state: String, code: Int32) async throws {
    try await TinyServer.run({ _ in
      .json([
        "state": .string(state), "startedAt": 0, "commits": 500, "entries": 1, "executions": 0, "commitCount": 1200,
        "entryCount": 7, "failure": "the disk is broken",
      ])
    }) { server in
      let begun = await CommandRun(["log", "verify", "--background", "--server", server.address])
      #expect(begun.code == 0 && server.requests.last?.method == .POST)
      let asked = await CommandRun(["log", "verification", "--server", server.address])
      #expect(asked.code == code && (state != "running" || asked.out.contains("500 of 1,200 commits")), "\(asked.out)")
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
