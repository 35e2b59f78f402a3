import HTTPServer
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

@testable import RealtimeAPI

/// What the store keeps of `onDisconnect` writes, and what becomes of it after a server that ended before its sessions.
@Suite("The ends of sessions that the store keeps")
struct KeptEndTests {
  private static let done = #"{"r":1,"b":{"s":"ok","d":""}}"#

  /// Key and value of all that is kept, without the names of run and session.
  private func kept(_ server: APIServer) throws -> [String: String] {
    var found: [String: String] = [:]
    for record in try records(server) {
      let name = try #require(SessionEndErasing.session(ofKey: record.key))
      found[String(Substring(record.key.utf8.dropFirst(name.utf8.count)))] = record.value
    }
    return found
  }

  private func records(_ server: APIServer) throws -> [KeyedRecord] {
    guard let namespace = server.database.namespace(named: "game") else { return [] }
    return try server.database.engine.read { (snapshot) throws(StorageError) in
      try snapshot.records(in: namespace, kind: KeptEnd.kind, after: nil, isDescending: false, limit: 100)
    }
  }

  /// Makes what is kept now that of a server that has ended.
  private func abandon(_ server: APIServer, as caller: String? = nil) async throws {
    let namespace = try #require(server.database.namespace(named: "game"))
    var commit = CommitRequest(namespace: namespace, actor: .system("test"))
    for record in try records(server) {
      let name = try #require(SessionEndErasing.session(ofKey: record.key))
      let isCaller = record.key == name
      commit.rows.records.append(
        KeyedRecordChange(
          kind: KeptEnd.kind, key: "ended/session" + String(Substring(record.key.utf8.dropFirst(name.utf8.count))),
          value: isCaller ? caller ?? record.value : record.value))
    }
    _ = try await server.database.commit(commit)
  }

  @Test("What is registered is kept until it is written or cancelled, and nothing is left of it")
  func kept() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      func ask(_ action: String, _ path: String, _ data: String) async throws {
        try await client.request(#"{"r":1,"a":"\#(action)","b":{"p":"\#(path)","d":\#(data)}}"#)
        #expect(try await client.answer() == Self.done)
      }
      let nobody = #"{"actor":"anonymous","admin":false,"auth":null,"until":null}"#
      try await ask("oc", "/p", "null")
      #expect(try kept(server).isEmpty)
      try await ask("o", "/p/a", #"{"at":{".sv":"timestamp"},"n":{".sv":{"increment":-2}},"x":{".value":1,".priority":"z"}}"#)
      try await ask("om", "/p", #"{"b":2,"c/d":null}"#)
      try await ask("o", "/q/.priority", #"{".sv":"timestamp"}"#)
      #expect(
        try kept(server) == [
          "": nobody,
          "/p/a": #"{"at":{".sv":"timestamp"},"n":{".sv":{"increment":-2}},"x":{".value":1,".priority":"z"}}"#, "/p/b": "2",
          "/p/c/d": "null", "/q/.priority": #"{".sv":"timestamp"}"#,
        ])
      try await ask("oc", "/p/a/n", "null")
      try await ask("oc", "/q", "null")
      try await ask("o", "/p/b", "3")
      #expect(
        try kept(server) == [
          "": nobody, "/p/a/at": #"{".sv":"timestamp"}"#, "/p/a/x": #"{".value":1,".priority":"z"}"#, "/p/b": "3",
          "/p/c/d": "null",
        ])
      try await ask("oc", "/", "null")
      #expect(try kept(server).isEmpty)
      try await ask("o", "/p", #""off""#)
      #expect(try kept(server) == ["": nobody, "/p": #""off""#])
      let (watcher, _) = try await SocketClient.connect(to: server.port)
      try await watcher.request(#"{"r":1,"a":"q","b":{"p":"/p","h":""}}"#)
      _ = try await watcher.answer()
      try await client.close()
      #expect(try await watcher.answer() == #"{"a":"d","b":{"p":"p","d":"off"}}"#)
      #expect(try kept(server).isEmpty)
      try await watcher.close()
    }
  }

  @Test("After a server that ended, its sessions' writes are made, once; names are told apart by their bytes")
  func left() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      let places = [
        ("/a/state", #""off""#), ("/a/at", #"{".sv":"timestamp"}"#), ("/a/n", #"{".sv":{"increment":-2}}"#), ("/\u{E9}", "1"),
        ("/e\u{301}", "1"), ("/\u{301}x/y", "2"),
      ]
      for (path, data) in places {
        try await client.request(#"{"r":1,"a":"o","b":{"p":"\#(path)","d":\#(data)}}"#)
        #expect(try await client.answer() == Self.done)
      }
      try await abandon(server)
      let mine = try records(server).filter { !$0.key.hasPrefix("ended/") }
      #expect(try await LeftEnds(server.sockets.services).run() == 1)
      let written = try #require(try await server.send("GET", "/.json").json)
      #expect(written["a"]?["at"]?.int == APIServer.start && written["a"]?["state"] == "off" && written["a"]?["n"] == -2)
      #expect(written["\u{E9}"] == 1 && written["e\u{301}"] == 1 && written["\u{301}x"]?["y"] == 2)
      #expect(try records(server) == mine && mine.count == 7, "the session that is open keeps its own")
      #expect(try await LeftEnds(server.sockets.services).run() == 0)
      try await client.request(#"{"r":1,"a":"oc","b":{"p":"/e\#u{301}"}}"#)
      #expect(try await client.answer() == Self.done)
      #expect(try records(server).count == 6)
      try await client.close()
    }
  }

  @Test(
    "They are made with the rights of who registered them, if those hold still",
    arguments: [
      (#"{"actor":"user:ann","admin":false,"auth":{"uid":"ann"},"until":1700000001000}"#, "off"),
      (#"{"actor":"user:ann","admin":false,"auth":{"uid":"ann"},"until":1700000000000}"#, "on"),
      (#"{"actor":"user:bob","admin":false,"auth":{"uid":"bob"},"until":null}"#, "on"),
      (#"{"actor":"admin:eve","admin":true,"auth":null,"until":null}"#, "off"),
      (#"{"actor":"admin:eve","admin":false,"auth":null,"until":null}"#, "on"), ("nonsense", "on"),
    ])
  func rights(_ caller: String, expected: String) async throws {
    try await APIServer.run { server in
      #expect(try await server.send("PUT", "/ann/state.json", #""on""#).status == 200)
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/ann/state","d":"off"}}"#)
      #expect(try await client.answer() == Self.done)
      try await abandon(server, as: caller)
      let rules = #"{"rules":{"$uid":{".read":true,".write":"auth != null && auth.uid == $uid"}}}"#
      #expect(try await server.send("PUT", "/.settings/rules.json", rules, headers: APIServer.admin).status == 200)
      try await LeftEnds(server.sockets.services).run()
      #expect(try await server.send("GET", "/ann/state.json").body == "\"\(expected)\"")
      #expect(try records(server).allSatisfy { !$0.key.hasPrefix("ended/") })
      try await client.close()
    }
  }

  @Test("What is kept as a player's goes with the player, and nobody else's")
  func erasure() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/p","d":1}}"#)
      #expect(try await client.answer() == Self.done)
      try await abandon(
        server, as: #"{"actor":"user:ann","admin":false,"auth":{"uid":"ann","token":{"email":"a@b.c"}},"until":null}"#)
      let namespace = try #require(server.database.namespace(named: "game"))
      func erased(_ uid: String) throws -> [String] {
        try server.database.engine.read { (snapshot) throws(StorageError) in
          try SessionEndErasing().erasure(of: uid, addresses: [], in: namespace, snapshot: snapshot).records.map(\.key)
        }
      }
      #expect(try erased("ann") == ["ended/session", "ended/session/p"])
      #expect(try erased("bob").isEmpty && erased("an").isEmpty)
      try await client.close()
    }
  }

  @Test("Who signs in or out is noted")
  func callers() async throws {
    try await APIServer.run { server in
      let (client, _) = try await SocketClient.connect(to: server.port)
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/p","d":1}}"#)
      #expect(try await client.answer() == Self.done)
      try await client.request(#"{"r":2,"a":"gauth","b":{"cred":"owner"}}"#)
      _ = try await client.answer()
      try await client.request(#"{"r":1,"a":"o","b":{"p":"/q","d":1}}"#)
      #expect(try await client.answer() == Self.done)
      #expect(try kept(server)[""]?.contains(#""admin":true"#) == true)
      try await client.request(#"{"r":2,"a":"unauth","b":{}}"#)
      _ = try await client.answer()
      try await client.request(#"{"r":1,"a":"oc","b":{"p":"/q"}}"#)
      #expect(try await client.answer() == Self.done)
      #expect(try kept(server)[""]?.contains(#""admin":false"#) == true)
      try await client.close()
    }
  }
}
