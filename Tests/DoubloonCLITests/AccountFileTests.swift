import Credentials
import TestSupport
import Testing
import TreeModel

@testable import DoubloonCLI

/// The files that accounts travel in.
struct AccountFileTests {
  private static let users: [JSON] = [
    [
      "localId": "jim", "email": "jim@x.io", "emailVerified": true, "passwordHash": "-_8", "salt": "_-8",
      "displayName": "J, \"im\"",
      "createdAt": "1700000000000", "lastLoginAt": "1700000001000", "disabled": false, "validSince": "1700000000",
      "customAttributes": "{\"level\":5}",
      "hashConfig": ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 16, "blockSize": 8, "parallelization": 1, "dkLen": 2],
      "providerUserInfo": [
        ["providerId": "password", "rawId": "jim@x.io", "federatedId": "jim@x.io"],
        ["providerId": "google.com", "rawId": "g1", "federatedId": "https://accounts.google.com/g1", "email": "jim@x.io"],
        ["providerId": "oidc.guild", "rawId": "o1", "screenName": "jimmy"],
      ],
      "mfaInfo": [["mfaEnrollmentId": "f1", "totpInfo": ["sharedSecretKey": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]]],
    ],
    ["localId": "anonymous", "createdAt": "1700000000000", "disabled": false],
  ]

  @Test("JSON: users hold only what Firebase's importer takes, in its alphabet; the rest stands beside, and comes back")
  func json() throws {
    let bytes = AccountFile.write(Self.users, asCSV: false)
    let file = try JSONParser.parse(bytes)
    let first = try #require(file["users"]?.array?.first)
    let allowed: Set<String> = [
      "localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl", "createdAt", "lastSignedInAt",
      "providerUserInfo", "phoneNumber", "disabled", "customAttributes",
    ]
    for user in file["users"]?.array ?? [] { #expect(Set((user.object ?? []).map(\.key)).isSubset(of: allowed)) }
    #expect(first["passwordHash"] == "+/8=" && first["salt"] == "/+8=")
    #expect(first["providerUserInfo"] == [["providerId": "google.com", "rawId": "g1", "email": "jim@x.io"]])
    let read = try AccountFile.read(bytes, from: "users.json")
    #expect(read.count == 2)
    for name in ["localId", "lastLoginAt", "validSince", "customAttributes", "hashConfig", "mfaInfo", "displayName"] {
      #expect(read[0][name] == Self.users[0][name], "\(name)")
    }
    let ids = read[0]["providerUserInfo"]?.array?.compactMap { $0["providerId"]?.string }
    #expect(ids == ["google.com", "oidc.guild"])
    #expect(read[0]["providerUserInfo"]?.array?.last?["screenName"] == "jimmy")
    #expect(read[1]["localId"] == "anonymous" && read[1]["hashConfig"] == nil)
  }

  @Test("CSV: Firebase's columns, and two more: how the password is hashed, and the second factors")
  func csv() throws {
    let bytes = AccountFile.write(Self.users, asCSV: true)
    let read = try AccountFile.read(bytes, from: "users.csv")
    #expect(read.count == 2)
    for name in ["localId", "lastLoginAt", "customAttributes", "hashConfig", "mfaInfo", "displayName"] {
      #expect(read[0][name] == Self.users[0][name], "\(name)")
    }
    #expect(read[0]["passwordHash"] == "+/8=" && read[1]["hashConfig"] == nil)
    // A line as Firebase writes it ends with a comma behind the claims.
    let line = "jim,j@x.io,true,AAAA,AAAA" + String(repeating: ",", count: 19) + "1700000000000,,,false,\"{\"\"a\"\":1}\",\n"
    let foreign = try AccountFile.read(Array(line.utf8), from: "firebase.csv")
    #expect(foreign[0]["customAttributes"] == "{\"a\":1}" && foreign[0]["hashConfig"] == nil)
  }

  @Test("Firebase's own file is read as ever")
  func firebase() throws {
    let text = #"{"users":[{"localId":"a","lastSignedInAt":"7","providerUserInfo":[]}]}"#
    let read = try AccountFile.read(Array(text.utf8), from: "users.json")
    #expect(read[0]["lastLoginAt"] == "7")
  }
}
