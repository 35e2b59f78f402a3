import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel

/// The tree in windows.
struct ChildrenRouteTests {
  private func get(_ server: APIServer, _ query: String, status: Int = 200) async throws -> JSON {
    let response = try await server.send("GET", "/admin/v1/data/children?\(query)", headers: APIServer.admin)
    #expect(response.status == status, "\(query): \(response.body.prefix(500))")
    #expect(response.body.utf8.count <= 66_000, "\(query): \(response.body.utf8.count) bytes")
    return response.json ?? .null
  }

  private func keys(_ answer: JSON) -> [String] { (answer["rows"]?.array ?? []).compactMap { $0["key"]?.string } }

  @Test("Rows come in the tree's order, forward, backward and from a key, and say whether there is more")
  func pages() async throws {
    try await APIServer.run { server in
      let body = #"{"b":1,"a":true,"10":2,"9":3,"-5":4,"é":5,"z\ud83d\ude00":6,"z\uff21":7,"02":8}"#
      try await server.expect(.init("PUT", "/t.json", body))
      let all = ["-5", "02", "9", "10", "a", "b", "z😀", "zＡ", "é"]
      let whole = try await get(server, "path=t")
      #expect(keys(whole) == all && whole["next"] == nil && whole["previous"] == nil && whole["exists"] == true)
      #expect(whole["revision"] == 1 && whole["path"] == "/t")
      let first = try await get(server, "path=t&limit=4")
      #expect(keys(first) == Array(all[..<4]) && first["next"] == "10" && first["previous"] == nil)
      let second = try await get(server, "path=t&limit=4&after=10")
      #expect(keys(second) == Array(all[4..<8]) && second["next"]?.string == all[7] && second["previous"] == "a")
      let third = try await get(server, "path=t&limit=4&after=z%EF%BC%A1")
      #expect(keys(third) == [all[8]] && third["next"] == nil && third["previous"]?.string == all[8])
      let back = try await get(server, "path=t&limit=3&before=a")
      #expect(keys(back) == Array(all[1..<4]) && back["next"] == "10" && back["previous"] == "02")
      let begin = try await get(server, "path=t&limit=3&before=9")
      #expect(keys(begin) == Array(all[..<2]) && begin["previous"] == nil && begin["next"] == "02")
      let jump = try await get(server, "path=t&limit=2&from=c")
      #expect(keys(jump) == Array(all[6..<8]) && jump["previous"]?.string == all[6])
      #expect(keys(try await get(server, "path=t&from=3&limit=2")) == ["9", "10"])
      let behind = try await get(server, "path=t&after=%F0%9F%98%80")
      #expect(keys(behind).isEmpty && behind["exists"] == true && behind["next"] == nil)
      let nothing = try await get(server, "path=nothing")
      #expect(keys(nothing).isEmpty && nothing["exists"] == false)
      #expect(try await get(server, "path=t&ns=other")["exists"] == false)
      #expect(try await get(server, "path=t&ns=no%20name", status: 404)["error"] != nil)
    }
  }

  @Test("A row tells what a child is: its value, cut at a character, its children up to 100, its priority, its last change")
  func rows() async throws {
    try await APIServer.run { server in
      let text = "a" + String(repeating: "é", count: 600)
      let many = "{" + (0..<130).map { #""k\#($0)":{"a":1,"b":2,"c":3,"d":4}"# }.joined(separator: ",") + "}"
      try await server.expect(
        .init("PUT", "/t/big.json", many), .init("PUT", "/t/long.json", "\"\(text)\""),
        .init("PUT", "/t/exact.json", "9007199254740993"))
      server.clock.advance(by: 1000)
      try await server.expect(
        .init("PUT", "/t/pair.json", #"{"x":1,"y":{"z":2},".priority":"p"}"#),
        .init("PUT", "/t/flag.json", #"{".value":false,".priority":3}"#))
      server.clock.advance(by: 1000)
      try await server.expect(.init("DELETE", "/t/pair/x.json"))
      let answer = try await get(server, "path=t")
      let cut = "a" + String(repeating: "é", count: 511)
      #expect(
        answer["rows"] == [
          ["key": "big", "kind": "node", "children": 100, "revision": 1, "time": .int(APIServer.start)],
          ["key": "exact", "kind": "leaf", "value": 9_007_199_254_740_993, "revision": 3, "time": .int(APIServer.start)],
          [
            "key": "flag", "kind": "leaf", "value": false, "priority": 3, "revision": 5, "time": .int(APIServer.start + 1000),
          ],
          [
            "key": "long", "kind": "leaf", "value": .string(cut), "cut": true, "bytes": 1201, "revision": 2,
            "time": .int(APIServer.start),
          ],
          [
            "key": "pair", "kind": "node", "children": 1, "priority": "p", "revision": 6,
            "time": .int(APIServer.start + 2000),
          ],
        ])
      let leaf = try await get(server, "path=t/long")
      #expect(leaf["value"]?.string == cut && leaf["cut"] == true && leaf["bytes"] == 1201 && leaf["exists"] == true)
      let flag = try await get(server, "path=t/flag")
      #expect(flag["value"] == false && flag["priority"] == 3 && flag["rows"] == [])
      #expect(try await get(server, "path=t/pair")["priority"] == "p")
      // As it was: before the removal, and before the pair.
      let before = try await get(server, "path=t&revision=5&from=pair")
      #expect(before["rows"]?.array?.first?["children"] == 2 && before["rows"]?.array?.first?["revision"] == 4)
      #expect(before["revision"] == 5 && before["previous"] == "pair")
      #expect(keys(try await get(server, "path=t&revision=3")) == ["big", "exact", "long"])
      #expect(keys(try await get(server, "path=t&time=\(APIServer.start)&before=long&limit=1")) == ["exact"])
      #expect(try await get(server, "path=t&revision=3")["rows"]?.array?.first?["children"] == 100)
      #expect(try await get(server, "path=t&revision=0")["exists"] == false)
    }
  }

  @Test("Other orders have pages, too; what does not go together is refused")
  func orders() async throws {
    try await APIServer.run { server in
      let body = #"{"a":{"level":3,".priority":2},"b":{"level":1,".priority":3},"c":{"level":2,".priority":1},"d":"x"}"#
      try await server.expect(.init("PUT", "/t.json", body), .init("PUT", "/t/e.json", "1"))
      for (query, expected) in [
        ("order=level", ["d", "e", "b", "c", "a"]), ("order=level&limit=3", ["d", "e", "b"]),
        ("order=$priority", ["d", "e", "c", "a", "b"]), ("order=$value", ["e", "d", "a", "b", "c"]),
        ("order=$key&limit=1", ["a"]), ("order=level&revision=1", ["d", "b", "c", "a"]),
        ("order=$value&revision=1&limit=1", ["d"]), ("order=level&eq=2", ["c"]), ("order=level&ge=2", ["c", "a"]),
        ("order=level&le=2", ["d", "e", "b", "c"]), ("order=level&ge=1&le=2&limit=1", ["b"]),
        ("order=level&eq=null", ["d", "e"]),
        ("order=$value&eq=%22x%22", ["d"]), ("order=$value&eq=%22y%22", []), ("order=$priority&ge=2", ["a", "b"]),
        ("order=level&ge=2&revision=1", ["c", "a"]),
      ] {
        let answer = try await get(server, "path=t&\(query)")
        #expect(keys(answer) == expected, "\(query)")
      }
      for (query, expected, previous, next) in [
        ("order=level&limit=3", ["d", "e", "b"], nil, "b"), ("order=level&after=b&limit=1", ["c"], "c", "c"),
        ("order=level&after=c", ["a"], "a", nil), ("order=level&before=c&limit=2", ["e", "b"], "e", "b"),
        ("order=level&before=b", ["d", "e"], nil, "e"), ("order=level&ge=2&after=c&revision=1", ["a"], "a", nil),
        // Children that are maps are equal in this order, and no bound can name one.
        ("order=$value&after=a&limit=1", ["b"], "b", "b"), ("order=$value&before=b&limit=2", ["d", "a"], "d", "a"),
      ] as [(String, [String], JSON?, JSON?)] {
        let answer = try await get(server, "path=t&\(query)")
        #expect(keys(answer) == expected && answer["previous"] == previous && answer["next"] == next, "\(query): \(answer)")
      }
      for query in [
        "path=t&order=level&from=a", "path=t&order=level&after=z", "path=t&order=level&ge=2&after=d", "path=t&after=a&before=b",
        "path=t&from=a.b", "path=t&limit=201", "path=a.b",
        "path=t&order=a.b", "path=t&revision=1&time=2", "", "path=t&order=/",
        "path=t&eq=1", "path=t&order=level&eq=1&ge=1", "path=t&order=level&eq=gold", "path=t&order=level&ge=%7B%7D",
        "path=t&order=level&le=",
      ] {
        _ = try await get(server, query, status: 400)
      }
      _ = try await get(server, "path=t&revision=9", status: 404)
    }
  }

  @Test("An answer stays small whatever the data are: long texts end a window early, and the next goes on")
  func bounded() async throws {
    try await APIServer.run { server in
      let control = String(repeating: #"\u0001"#, count: 2000)
      var members = (0..<100).map { #""k\#(100 + $0)":"\#(control)""# }
      members.append(#""zlong":"\#(String(repeating: "x", count: 2 << 20))""#)
      try await server.expect(.init("PUT", "/t.json", "{" + members.joined(separator: ",") + "}"))
      var (found, next, windows) = ([String](), String?.none, 0)
      repeat {
        let answer = try await get(server, "path=t&limit=200" + (next.map { "&after=\($0)" } ?? ""))
        found += keys(answer)
        next = answer["next"]?.string
        windows += 1
      } while next != nil && windows < 50
      #expect(found == (0..<100).map { "k\(100 + $0)" } + ["zlong"] && windows > 5)
      let back = try await get(server, "path=t&limit=200&before=zlong")
      #expect(keys(back).last == "k199" && back["previous"]?.string == keys(back).first && keys(back).count < 20)
      #expect(try await get(server, "path=t/zlong")["bytes"]?.int == 2 << 20)
    }
  }

  @Test("What was removed since is found in the past, forward and backward; what came since is passed over")
  func past() async throws {
    try await APIServer.run { server in
      let namespace = try await server.database.openNamespace(named: "game")
      func fill(_ name: String, _ count: Int) async throws {
        let map = TreeMap(
          try (0..<count).map {
            TreeMap.Entry(key: try Key("\(name)\(10_000 + $0)"), node: ["x": 1, "y": .leaf(.int(Int64($0)))])
          })
        for start in stride(from: 0, to: count, by: 500) {
          let part = TreeMap(Array(map)[start..<min(start + 500, count)].map { $0 })
          let assignments = part.map { entry in
            WriteOperation.Assignment(path: Path(keys: [Key(unchecked: "t"), entry.key]), value: .node(WriteNode(entry.node)))
          }
          _ = try await server.database.commit(
            CommitRequest(namespace: namespace, actor: .anonymous, operations: [try .update("/t", assignments)]))
        }
      }
      try await fill("a", 2000)
      let then = try server.revision()
      try await server.expect(.init("DELETE", "/t.json"))
      try await fill("b", 700)
      let first = try await get(server, "path=t&revision=\(then)&limit=3")
      #expect(keys(first) == ["a10000", "a10001", "a10002"] && first["next"] == "a10002")
      let last = try await get(server, "path=t&revision=\(then)&limit=3&before=zzz")
      #expect(keys(last) == ["a11997", "a11998", "a11999"] && last["next"] == nil && last["previous"] == "a11997")
      #expect(last["rows"]?.array?.first?["children"] == 2)
      #expect(keys(try await get(server, "path=t&revision=\(then)&from=a10500&limit=2")) == ["a10500", "a10501"])
      let now = try await get(server, "path=t&limit=2&before=b10002")
      #expect(keys(now) == ["b10000", "b10001"] && now["previous"] == nil && now["next"] == "b10001")
      #expect(keys(try await get(server, "path=t&revision=\(then + 1)")).isEmpty)
    }
  }

  @Test("A window of a large node, at its beginning, in its middle and at its end, is read without the rest")
  func large() async throws {
    try await APIServer.run { server in
      let namespace = try await server.database.openNamespace(named: "game")
      for part in 0..<10 as Range<Int64> {
        let entries = try (0..<500 as Range<Int64>).map { number in
          TreeMap.Entry(
            key: try Key("p\(10_000 + part * 500 + number)"), node: ["level": .leaf(.int(number)), "name": "somebody"])
        }
        let assignments = entries.map {
          WriteOperation.Assignment(path: Path(keys: [Key(unchecked: "users"), $0.key]), value: .node(WriteNode($0.node)))
        }
        _ = try await server.database.commit(
          CommitRequest(namespace: namespace, actor: .anonymous, operations: [try .update("/users", assignments)]))
      }
      for (query, first, count) in [
        ("", "p10000", 100), ("&from=p12345&limit=200", "p12345", 200), ("&before=q", "p14900", 100),
        ("&after=p14989", "p14990", 10),
        ("&revision=10&from=p10100", "p10100", 100), ("&revision=8&before=q", "p13900", 100),
      ] {
        let answer = try await get(server, "path=users\(query)")
        #expect(keys(answer).first == first && keys(answer).count == count, "\(query)")
        #expect(answer["rows"]?.array?.allSatisfy { $0["children"] == 2 && $0["revision"] != nil } == true, "\(query)")
      }
      let order = try await get(server, "path=users&order=level&limit=2")
      #expect(keys(order) == ["p10000", "p10500"])
    }
  }
}
