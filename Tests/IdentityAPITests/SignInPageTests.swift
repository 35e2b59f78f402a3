import ServerTestSupport
import Testing
import TreeModel

@testable import APISupport

/// The pages of `signInWithPopup` and `signInWithRedirect`, in development.
struct SignInPageTests {
  private static let page = "/emulator/auth/handler?apiKey=k&appName=%5BDEFAULT%5D&authType=signInViaPopup&eventId=1"

  @Test("the page offers who has signed in by the provider, and nothing of it runs")
  func offers() async throws {
    try await APIServer.run(accounts: .development) { server in
      let client = IdentityClient(server: server)
      let hostile = "</button><script>alert(\"1\")</script>'&"
      _ = try await client.provider(["sub": "g\"1", "email": "ann@x.io", "name": .string(hostile)])
      _ = try await client.provider(["sub": "o1", "email": "olga@x.io"], "oidc.guild")
      let answer = try await server.send("GET", Self.page + "&providerId=google.com")
      #expect(answer.status == 200 && answer["content-type"]?.hasPrefix("text/html") == true)
      #expect(answer.body.contains("ann@x.io") && !answer.body.contains("olga@x.io") && !answer.body.contains("<script>alert"))
      #expect(answer.body.contains(#"data-claims="{&quot;sub&quot;:&quot;g\&quot;1&quot;,"#), "\(answer.body)")
      let frame = try await server.send("GET", "/emulator/auth/iframe?apiKey=k&appName=a&v=11&eid=p")
      #expect(frame.status == 200 && frame.body.contains("webStorageSupport") && frame["x-frame-options"] == nil)
    }
  }

  @Test("what the page answers is what an SDK sends back, and signs in")
  func answer() async throws {
    try await APIServer.run(accounts: .development) { server in
      let uri =
        "http://localhost/emulator/auth/handler?providerId=google.com&id_token=%7B%22sub%22%3A%22g1%22%2C%22email%22%3A%22ann%40x.io%22%7D"
      let body =
        #"{"requestUri":"\#(uri)","sessionId":"unused-in-development","returnSecureToken":true,"returnIdpCredential":true}"#
      let answer = try await server.send("POST", "/v1/accounts:signInWithIdp?key=k", body)
      #expect(answer.status == 200 && answer.json?["federatedId"] == "https://accounts.google.com/g1", "\(answer.body)")
    }
  }

  @Test("without what SDKs add, and in production, there is no page")
  func refusals() async throws {
    try await APIServer.run(accounts: .development) { server in
      for path in [
        "/emulator/auth/handler", "/emulator/auth/handler?apiKey=k&appName=a&authType=signInViaPopup",
        "/emulator/auth/handler?providerId=google.com&appName=a&authType=x",
        "/emulator/auth/handler?apiKey=k&providerId=google.com",
      ] {
        let answer = try await server.send("GET", path)
        #expect(answer.status == 400, "\(path)")
      }
      let posted = try await server.send("POST", Self.page + "&providerId=google.com")
      #expect(posted.status == 404)
    }
    try await APIServer.run(access: AccessPolicy(mode: .production, adminTokens: []), accounts: .production) { server in
      for path in [Self.page + "&providerId=google.com", "/emulator/auth/iframe?apiKey=k&appName=a"] {
        let answer = try await server.send("GET", path)
        #expect(answer.status == 404)
      }
    }
  }
}
