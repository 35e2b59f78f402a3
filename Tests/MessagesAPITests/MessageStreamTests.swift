import Messages
import ServerTestSupport
import StorageCore
import Testing
import TreeModel

/// What an open app hears: that it should fetch, whenever there is a reason.
@Suite struct MessageStreamTests {
  @Test("an open app is told to fetch when a campaign is published, stopped, or ordered for it as a test; a draft tells nobody")
  func refreshes() async throws {
    try await APIServer.run { (api) async throws in
      let (mine, other) = (Phone(api: api), Phone(api: api, fid: "cBBBBBBBBBBBBBBBBBBBBB"))
      for phone in [mine, other] { #expect(try await phone.ids() == []) }
      let (near, far) = (try await mine.listen(), try await other.listen())
      try await api.draft("hello")
      try await api.message("POST", "/hello/publish", [:])
      #expect(try await near.event() == "refresh null")
      #expect(try await far.event() == "refresh null")
      try await api.message("POST", "/hello/test", ["devices": [.string(mine.fid)]])
      #expect(try await near.event() == "refresh null")
      let test = try #require(try await mine.fetch().json["messages"]?.array?.first)
      #expect(test["isTestCampaign"] == true)
      #expect(try await mine.fetch().json["messages"]?.array?.first?["isTestCampaign"] == false, "once for each order")
      try await api.message("POST", "/hello/stop", [:])
      #expect(try await near.event() == "refresh null")
      #expect(try await far.event() == "refresh null", "the test was none of its business, so this is the end of the campaign")
      // A later stream of the installation ends it, and nothing has come in between.
      let next = try await other.listen()
      #expect(try await far.event() == "replaced null")
      #expect(try await far.event() == nil)
      try await api.message("PUT", "/settings", ["fetchInterval": "5min"])
      for stream in [near, next] {
        #expect(try await stream.event() == "refresh null", "what is set concerns everybody")
        try await stream.close()
      }
    }
  }

  @Test("an app that is closed finds the test that was ordered at its next fetch, once; the devices of a campaign at each")
  func tests() async throws {
    try await APIServer.run { (api) async throws in
      let (mine, other) = (Phone(api: api), Phone(api: api, fid: "cBBBBBBBBBBBBBBBBBBBBB"))
      for phone in [mine, other] { #expect(try await phone.ids() == []) }
      try await api.draft("ordered")
      try await api.message("POST", "/ordered/test", ["devices": [.string(mine.fid)]])
      try await api.draft("named", ["testDevices": [.string(other.fid)]])
      #expect(try await mine.ids() == ["ordered"])
      #expect(try await mine.ids() == [])
      for _ in 0..<2 {
        let messages = try await other.fetch().json["messages"]?.array ?? []
        #expect(messages.map { $0["isTestCampaign"] } == [true])
        #expect(messages.map { $0["vanillaPayload"]?["campaignId"] } == ["named"])
      }
      api.clock.advance(by: 1000)
      try await api.message("POST", "/ordered/test", ["devices": [.string(mine.fid)]])
      api.clock.advance(by: 86_400_000)
      #expect(try await mine.ids() == [], "a day later the order is over")
    }
  }

  @Test("where streams are switched off there are none, and without the installation's token there is none")
  func refusals() async throws {
    try await APIServer.run { (api) async throws in
      let phone = Phone(api: api)
      try await api.message("PUT", "/settings", ["streams": false])
      let path = "/v1/messages/events?key=k&instance=\(phone.fid)"
      #expect(try await api.send("GET", path).status == 404)
      try await api.message("PUT", "/settings", [:])
      let body = #"{"fid":"\#(phone.fid)","appId":"1:77:ios:ab"}"#
      let made = try await api.send("POST", "/v1/projects/77/installations?key=k", body)
      let token = try #require(try JSONParser.parse(made.body)["authToken"]?["token"]?.string)
      #expect(try await api.send("GET", path).status == 401)
      let stream = try await EventClient.open("\(path)&token=\(token)", port: api.port)
      #expect(try await stream.next()?.hasPrefix("HTTP/1.1 200") == true)
      try await stream.close()
    }
  }
}
