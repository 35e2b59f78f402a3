@testable import Credentials
import Testing
import TreeModel

@Suite struct CustomTokenTests {
  static let account = "signer@demo.iam.gserviceaccount.com"

  static func claims(_ changes: [(String, JSON?)] = []) -> JSON {
    let names = Set(changes.map(\.0))
    let usual: [(String, JSON?)] = [
      ("iss", .string(account)), ("sub", .string(account)), ("aud", .string(CustomToken.audience)), ("uid", "bob"),
      ("iat", 1_800_000_000), ("exp", 1_800_003_600), ("claims", ["vip": true]),
    ]
    return .object(
      (usual.filter { !names.contains($0.0) } + changes).compactMap { name, value in
        value.map { JSON.Member(key: name, value: $0) }
      })
  }

  static func verify(_ text: String) throws(CustomTokenError) -> CustomToken {
    try CustomToken(text, at: Keys.now) { issuer, id in
      issuer == account && id == Keys.first.id ? Keys.first.verificationKey : nil
    }
  }

  static func message(_ body: () throws(CustomTokenError) -> CustomToken) -> String? {
    do {
      _ = try body()
      return nil
    } catch { return error.wireMessage }
  }

  @Test("a service account's token signs its user in, with its claims")
  func good() throws {
    let token = try Self.verify(try Keys.first.token(Self.claims()))
    #expect(token.uid == "bob" && token.claims == ["vip": true] && token.issuer == Self.account)
    #expect(try Self.verify(try Keys.first.token(Self.claims([("claims", nil)]))).claims == [:])
  }

  @Test("foreign, unsigned, expired and long-lived ones are refused, and so are claims that are the server's")
  func refused() throws {
    let cases: [(String, String)] = [
      (try Keys.second.token(Self.claims()), "INVALID_CUSTOM_TOKEN"),
      (WebToken.unsigned(Self.claims()), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("iss", "x@y.z"), ("sub", "x@y.z")])), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("sub", "bob")])), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("aud", "demo")])), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("exp", 1_799_999_000), ("iat", 1_799_998_000)])), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("exp", 1_800_003_601)])), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("uid", nil)])), "MISSING_IDENTIFIER"),
      (try Keys.first.token(Self.claims([("uid", "")])), "MISSING_IDENTIFIER"),
      (try Keys.first.token(Self.claims([("uid", .string(String(repeating: "u", count: 129)))])), "INVALID_CUSTOM_TOKEN"),
      (try Keys.first.token(Self.claims([("claims", ["sub": "x"])])), "FORBIDDEN_CLAIM : sub"),
      (try Keys.first.token(Self.claims([("claims", [1])])), "INVALID_CUSTOM_TOKEN"), ("", "INVALID_CUSTOM_TOKEN"),
      (#"{"uid":"bob"}"#, "INVALID_CUSTOM_TOKEN"),
    ]
    for (text, expected) in cases {
      let message = Self.message { () throws(CustomTokenError) in try Self.verify(text) }
      #expect(message?.hasPrefix(expected) == true, "\(message ?? "accepted") for \(text)")
    }
  }

  @Test("in development unsigned ones and plain JSON do, but a token for somebody else does not")
  func unverified() throws {
    #expect(try CustomToken(unverified: WebToken.unsigned(Self.claims())).uid == "bob")
    #expect(try CustomToken(unverified: try Keys.second.token(Self.claims())).issuer == nil)
    #expect(try CustomToken(unverified: #" {"uid":"eve","claims":{"a":1}}"#).claims == ["a": 1])
    #expect(try CustomToken(unverified: #"{"uid":"eve","claims":null}"#).claims == [:])
    #expect(throws: CustomTokenError.self) { try CustomToken(unverified: WebToken.unsigned(Self.claims([("aud", "demo")]))) }
    #expect(throws: CustomTokenError.missingIdentifier) { try CustomToken(unverified: "{}") }
    #expect(throws: CustomTokenError.forbiddenClaim("iss")) { try CustomToken(unverified: #"{"uid":"a","claims":{"iss":1}}"#) }
    #expect(throws: CustomTokenError.self) { try CustomToken(unverified: "{") }
  }
}
