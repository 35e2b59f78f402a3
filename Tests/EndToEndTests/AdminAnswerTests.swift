import NIOHTTP1
import TestSupport
import Testing
import TreeModel

@testable import AdminClient

/// What programs that were written against the administrators' surface rely on: members, their order, and that what says
/// nothing is missing and not null.
struct AdminAnswerTests {
  @Test("A preview, a dry run, a replay and its items, a rebuild and a run by hand have their members in their order")
  func replays() async throws {
    try await RunningServer.run { server in
      let client = server.client
      let waiting: HTTPHeaders = ["X-Doubloon-Wait": "effects"]
      _ = try await client.put("/users/alice.json", ["inventory": ["pieces_of_eight": "many"]], headers: waiting)
      _ = try await client.put("/users/bob.json", ["referred_by": "alice", "level": 4], headers: waiting)
      _ = try await client.put("/users/bob/level.json", 5, headers: waiting)
      let entry = "{debit:' credit:' amount:# unit:' code:' key:' event:' function:'}"
      let survey = "{run:# alreadyDone:# scanned:# functions:[{name:' run:# alreadyDone:# resting:#}]}"
      let plan = "{order:{mode:' reason:' actor:'} through:# survey:\(survey) tried:# outcomes:"
      let order: JSON = ["mode": "all", "reason": "ticket 1"]
      let failing = try await client.post("/admin/v1/replays/preview", order)
      #expect(failing.outline == plan + "{failed:#} coins:{}}", "\(failing.compact)")
      _ = try await client.put("/users/alice/inventory/pieces_of_eight.json", 10, headers: waiting)
      let trial = try await client.post("/admin/v1/replays/dry-run", order)
      #expect(
        trial.outline == plan + "{done:#} coins:{pieces_of_eight:#} runs:[{event:' function:' outcome:' recorded:'}]"
          + " tree:[{path:' before:# after:#}] entries:[\(entry)] compared:# divergences:[]}", "\(trial.compact)")
      let bounds: JSON = [
        "mode": "failed", "reason": "ticket 2", "function": "rewardReferrals", "since": 1, "until": 4_102_444_800_000,
        "uid": "bob", "allowHandled": true, "suppressed": true, "rate": 1000,
      ]
      let replay = try await RepairTests.ended(try await client.post("/admin/v1/replays", bounds), client)
      #expect(
        replay.outline == "{id:# state:'"
          + " order:{mode:' function:' since:# until:# uid:' allowHandled:? suppressed:? rate:# reason:' actor:'}"
          + " progress:{through:# scanned:# given:# alreadyDone:# resting:# outcomes:{done:#} coins:{pieces_of_eight:#}}"
          + " createdAt:# updatedAt:#}", "\(replay.compact)")
      let items = try await client.get("/admin/v1/replays/1/items", query: [QueryItem("limit", "1")])
      #expect(items.outline == "{items:[{event:' function:' outcome:' effect:#}] next:'}")
      #expect(try await client.get("/admin/v1/replays").outline == "{replays:[\(replay.outline)]}")
      let rebuild = try await client.post("/admin/v1/replays/rebuild", ["rerun": true])
      #expect(
        rebuild.outline == "{equal:? through:# commits:# entries:# executions:# recorded:' rebuilt:' faultCount:# faults:[]"
          + " rerun:{compared:# divergent:# divergences:[]}}", "\(rebuild.compact)")
      let byHand = try await client.post(
        "/admin/v1/functions/rewardReferrals/invoke",
        ["path": "/users/bob/level", "before": 4, "after": 5, "reason": "ticket 3"])
      #expect(byHand.outline == "{event:' function:' outcome:' reason:'}", "\(byHand.compact)")
    }
  }

  @Test("Accounts are those of the Identity Toolkit, with their number and where the next page begins")
  func accounts() async throws {
    try await RunningServer.run { server in
      let client = server.client
      let anonymous = try await client.post("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", [:])
      let uid = try #require(anonymous["localId"]?.string)
      let account = "{localId:' createdAt:' disabled:?}"
      let shown = try await client.get("/admin/v1/accounts/\(uid)")
      #expect(shown.outline == account, "\(shown.compact)")
      #expect(try await client.post("/admin/v1/accounts/\(uid)/disable", [:])["disabled"] == true)
      let page = try await client.get("/admin/v1/accounts", query: [QueryItem("limit", "1")])
      #expect(page.outline.hasSuffix("count:# next:'}") && page["count"] == 1, "\(page.compact)")
      let all = try await client.get("/admin/v1/accounts", query: [QueryItem("limit", "2")])
      #expect(all["next"] == nil && all["accounts"]?.array?.count == 1, "\(all.compact)")
    }
  }

  @Test("Links, their settings and counts, claims and what rules say have their members in their order")
  func linksAndRules() async throws {
    try await RunningServer.run { server in
      let client = server.client
      let prefix = "https://go.acme.test/r"
      let settings = try await client.put(
        "/admin/v1/links/settings", ["domains": [.string(prefix)], "hosts": ["acme.test"], "warnings": ["ignored"]])
      #expect(
        settings.outline == "{domains:['] apps:{ios:[] android:[]} hosts:['] allowPatterns:[] apiKeys:[]"
          + " referral:{path:' signedInPath:' inviterParameters:['] claimWithinHours:#} heuristics:{enabled:? windowHours:#}"
          + " limits:{createPerSecond:# createPerDay:# codesPerMinute:#} clickDays:# warnings:[]}", "\(settings.compact)")
      _ = try await client.post(
        "/v1/shortLinks",
        [
          "longDynamicLink": .string(prefix + "/?link=https://acme.test/"),
          "suffix": ["option": "CUSTOM", "customSuffix": "poster"],
        ])
      let query = [QueryItem("link", prefix + "/poster")]
      let link = "{shortLink:' longLink:' option:' createdAt:# info:{domainUriPrefix:' link:'}}"
      #expect(try await client.get("/admin/v1/links/link", query: query).outline == link)
      #expect(try await client.get("/admin/v1/links").outline == "{links:[\(link)] scanned:#}")
      #expect(try await client.get("/admin/v1/links/stats", query: query).outline == "{link:' totals:[] days:[]}")
      let claim = try await client.get("/admin/v1/links/claims", query: [QueryItem("uid", "bob")])
      #expect(claim == ["uid": "bob", "claim": .null])
      let invites = try await client.get("/admin/v1/invites/settings")
      #expect(
        invites.outline.hasPrefix("{appName:' campaigns:{default:{channels:['] templates:{}}} perSenderPerDay:#"),
        "\(invites.compact)")
      _ = try await client.put("/.settings/rules.json", ["rules": [".read": "auth != null"]])
      let rule = "{kind:' pattern:' path:' line:# column:# text:' value:? because:[{text:' line:# column:# outcome:' values:["
      for (operation, value) in [("read", nil), ("set", JSON.int(1))] {
        let order = JSON(fields: [("operation", .string(operation)), ("path", "/a"), ("value", value)])
        let answer = try await client.post("/admin/v1/rules/explain", order)
        #expect(answer.outline.hasPrefix("{operation:' allowed:? hasRules:? text:' rules:["), "\(answer.compact)")
        #expect(answer["allowed"] == false && (value != nil || answer.outline.contains(rule)), "\(answer.compact)")
      }
    }
  }
}

extension JSON {
  /// The members in their order, each with a sign for what it holds; of a list the first element.
  fileprivate var outline: String {
    switch self {
    case .null: "null"
    case .bool: "?"
    case .int: "#"
    case .double: "~"
    case .string: "'"
    case .array(let elements): "[\(elements.first?.outline ?? "")]"
    case .object(let members): "{" + members.map { "\($0.key):\($0.value.outline)" }.joined(separator: " ") + "}"
    }
  }
}
