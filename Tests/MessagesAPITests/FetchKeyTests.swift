import Messages
import ServerTestSupport
import Testing
import TreeModel

/// The key that apps fetch with: one of the links' settings, where there are any.
@Suite struct FetchKeyTests {
  @Test(
    "without a key a fetch is refused, with a wrong one too, and a key of one app is no other app's",
    arguments: [
      ("", [:], 403), ("?key=", [:], 403), ("?key=wrong", [:], 400), ("?key=web-key-1", [:], 200),
      ("", ["X-Goog-Api-Key": "web-key-1"], 200), ("", ["X-Goog-Api-Key": "wrong"], 400), ("?key=narrow", [:], 403),
      ("?key=narrow", ["X-Ios-Bundle-Identifier": "test.acme.other"], 403),
      ("?key=narrow", ["X-Ios-Bundle-Identifier": "test.acme.ios"], 200),
    ] as [(String, [String: String], Int)])
  func keys(_ key: String, headers: [String: String], status: Int) async throws {
    try await LinkServer.run { server in
      try await server.api.publish("hello")
      let answer = try await Phone(api: server.api, key: key, headers: headers).fetch()
      #expect(answer.status == status, "\(answer.json)")
      if status == 200 {
        #expect(answer.json["messages"]?.array?.count == 1)
      } else {
        #expect(answer.json["error"]?["code"] == .int(Int64(status)), "in the envelope of Google's services")
        #expect(answer.json["error"]?["status"] == (status == 403 ? "PERMISSION_DENIED" : "INVALID_ARGUMENT"))
        #expect(try server.api.messages.devices(of: nil, limit: 10).isEmpty, "who is refused is not noted")
      }
      // The same key opens the installations.
      let body = #"{"appId":"1:77:ios:ab"}"#
      let made = try await server.api.send("POST", "/v1/projects/77/installations\(key)", body, headers: headers)
      #expect(made.status == status, "\(made.body)")
    }
  }
}
