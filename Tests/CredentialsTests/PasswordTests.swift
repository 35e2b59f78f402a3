@testable import Credentials
import TestSupport
import Testing
import TextFormats
import TreeModel

@Suite struct PasswordTests {
  static let password = "correct horse"
  static let salt = "c2FsdHk="

  /// Made with another library: the salt is `salty`, the key `signer`.
  static let imports: [(parameters: JSON, hash: String)] = [
    (["hashAlgorithm": "PBKDF_SHA1", "rounds": 1000], "Q5IBC6DYW4Qjjrm9J0Q5yxfFVsc="),
    (["hashAlgorithm": "PBKDF2_SHA256", "rounds": "1000"], "DzvaoPDWHNlO-0p5E04mScIUiNVjJ8YpgYitYTNqHo8"),
    (["hashAlgorithm": "HMAC_MD5", "signerKey": "c2lnbmVy"], "BKWEeKzLjiNfDz4yvPkT/A=="),
    (
      ["hashAlgorithm": "HMAC_MD5", "signerKey": "c2lnbmVy", "passwordHashOrder": "PASSWORD_AND_SALT"],
      "X0Oq3MS3ghuxMNQa0z+znA=="
    ),
    (["hashAlgorithm": "HMAC_SHA1", "signerKey": "c2lnbmVy"], "X8h9QAKKnLwaG76+v8Tm4CQ5KHw="),
    (["hashAlgorithm": "HMAC_SHA256", "signerKey": "c2lnbmVy"], "AArF1hAim/oNvqRuoLIcL/7moodds+jDLLD1zmILdMo="),
    (
      ["hashAlgorithm": "HMAC_SHA512", "signerKey": "c2lnbmVy", "passwordHashOrder": "SALT_AND_PASSWORD"],
      "5LEPt7Yvcjpyrk2KKkQX9ngaNJi55GIolOLXUTmDgTRysfGOb6aZFACjFndbO7h6Qra2yoYWez+ggsXsIoye+g=="
    ),
    (["hashAlgorithm": "MD5", "rounds": 3], "tm4mwnwOwECd3sUQO1W1KA=="),
    (["hashAlgorithm": "MD5", "rounds": 0, "passwordHashOrder": "PASSWORD_AND_SALT"], "jmpyuUBBu7a/Tr2qfD0+YQ=="),
    (["hashAlgorithm": "SHA1", "rounds": 3], "3xs/s1nD1XemRInEZ03wv1zUbCg="),
    (["hashAlgorithm": "SHA256", "rounds": 3], "Qm6zSiG/9jp2xT5yOftv+/NUjrjRzgFdigP6fIyn1jg="),
    (
      ["hashAlgorithm": "SHA256", "rounds": 1, "passwordHashOrder": "PASSWORD_AND_SALT"],
      "1kYN0oy7h1Wa9oF5n57Gzs7WHjudDKTAHlPkxOFHv+w="
    ),
    (
      ["hashAlgorithm": "SHA512", "rounds": 3],
      "2c1XjotN6JykdGCRWsP35erNW3omo1H9GA9xdrtnqTg25Oj1tsPVWZEZHNoogbsycmXI0Ug26iYSjTFyWMOLOA=="
    ),
    (
      ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1024, "blockSize": 4, "parallelization": 2, "dkLen": 48],
      "gux6SFGGKJFn3pDeulgRPY/tsSg7zW4BZGSZ7it5okEWXEKVHgDGB/rJt37emAwZ"
    ),
  ]

  @Test("hashes from elsewhere are taken over, stored as text, read again, and fit their password alone")
  func imported() throws {
    for (parameters, hash) in Self.imports {
      let record = try PasswordImport(parameters).record(hash: hash, salt: Self.salt)
      let stored = try #require(PasswordRecord(record.text), "\(record.text)")
      #expect(stored == record)
      #expect(stored.matches(Self.password), "\(parameters)")
      #expect(!stored.matches("correct horses") && !stored.matches(""))
      #expect(PasswordHasher(cost: .test).check(Self.password, against: record.text) == .right(isOutdated: true))
    }
  }

  @Test("check 55: the checked vector of Firebase's own scrypt")
  func firebase() throws {
    let parameters: JSON = [
      "hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14, "saltSeparator": "Bw==",
      "signerKey": "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
    ]
    let hash = "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw=="
    let record = try PasswordImport(parameters).record(hash: hash, salt: Base64.encode("NaCl".utf8, as: .standard))
    #expect(record.matches("password"))
    #expect(!record.matches("Password"))
    #expect(PasswordRecord(record.text) == record)
  }

  @Test("scrypt: the example of RFC 7914 with sixteen lanes")
  func scrypt() throws {
    let hash = PasswordScheme.scrypt(Array("password".utf8), salt: Array("NaCl".utf8), logN: 10, r: 8, p: 16, size: 64)
    #expect(hash?.prefix(8) == [0xfd, 0xba, 0xbe, 0x1c, 0x9d, 0x34, 0x72, 0x00])
    #expect(hash?.suffix(8) == [0x83, 0x60, 0xcb, 0xdf, 0xa2, 0xcc, 0x06, 0x40])
  }

  @Test(
    "bcrypt: published hashes",
    arguments: [
      ("", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"),
      ("a", "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe"),
      ("abc", "$2y$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"),
      ("U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
      ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
      (
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored",
        "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
      ),
    ])
  func bcrypt(_ password: String, _ hash: String) throws {
    let record = try PasswordImport(["hashAlgorithm": "BCRYPT"]).record(
      hash: Base64.encode(hash.utf8, as: .url), salt: nil)
    #expect(PasswordRecord(record.text)?.matches(password) == true)
    #expect(!record.matches("x" + password))
  }

  @Test(
    "Argon2: the examples of RFC 9106",
    arguments: [
      (Argon2.Variant.d, "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb"),
      (.i, "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8"),
      (.id, "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"),
    ])
  func argon2(_ variant: Argon2.Variant, _ expected: String) {
    var parameters = Argon2.Parameters(
      variant: variant, passes: 3, memory: 32, lanes: 4, version: 0x13, associated: [UInt8](repeating: 4, count: 12))
    parameters.secret = [UInt8](repeating: 3, count: 8)
    let hash = Argon2.hash([UInt8](repeating: 1, count: 32), salt: [UInt8](repeating: 2, count: 16), parameters, size: 32)
    #expect(hash.map { Hex.encode($0) } == expected)
  }

  @Test("new passwords: salted, checked, and outdated as soon as the cost rises")
  func own() throws {
    var random = SplitMix64(seed: 3)
    let hasher = PasswordHasher(cost: .test)
    let record = try #require(hasher.record(for: "hunter22", using: &random))
    let again = try #require(hasher.record(for: "hunter22", using: &random))
    #expect(record != again && record.salt.count == 16)
    #expect(record.text.hasPrefix("$scrypt$ln=4,r=8,p=1$") && !record.text.contains("hunter"))
    #expect(hasher.check("hunter22", against: record.text) == .right(isOutdated: false))
    #expect(hasher.check("hunter2", against: record.text) == .wrong)
    let dearer = PasswordHasher(cost: PasswordHasher.Cost(logN: 5, r: 8, p: 1))
    #expect(dearer.check("hunter22", against: record.text) == .right(isOutdated: true))
    #expect(hasher.check("hunter22", against: nil) == .wrong)
    #expect(hasher.check("", against: "") == .wrong)
    #expect(hasher.record(for: String(repeating: "x", count: 5000), using: &random) == nil)
    // Precomposed and decomposed are two passwords; it is the bytes that count.
    let accent = try #require(hasher.record(for: "caf\u{E9}", using: &random))
    #expect(!accent.matches("cafe\u{301}"))
  }

  @Test("the recommended cost is what another library makes of it")
  func recommended() {
    let stored = "$scrypt$ln=14,r=8,p=5$MDEyMzQ1Njc4OWFiY2RlZg$HYy5mk4pTXdNo5F08aGmZFNbMYOzfRzCRgUsOqm9AYI"
    #expect(PasswordHasher().check("hunter22", against: stored) == .right(isOutdated: false))
  }

  @Test("a hash of the cost that was recommended before is still the password, and is hashed again")
  func recommendedBefore() {
    let stored = "$scrypt$ln=17,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$IbQIS8RlpxglRwBtAKYZsRroXHcYxnrGv802pWiO_1c"
    #expect(PasswordHasher().check("hunter22", against: stored) == .right(isOutdated: true))
    #expect(PasswordHasher().check("hunter23", against: stored) == .wrong)
  }

  @Test(
    "parameters that would cost too much memory or time, or make no sense, are refused",
    arguments: [
      ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1_048_576, "blockSize": 8, "parallelization": 1, "dkLen": 32],
      ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 1000, "blockSize": 8, "parallelization": 1, "dkLen": 32],
      ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 16, "blockSize": 0, "parallelization": 1, "dkLen": 32],
      ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 16, "blockSize": 8, "parallelization": 1, "dkLen": 4096],
      ["hashAlgorithm": "SCRYPT", "signerKey": "AAAA", "rounds": 9, "memoryCost": 14],
      ["hashAlgorithm": "SCRYPT", "signerKey": "AAAA", "rounds": 8, "memoryCost": 15],
      ["hashAlgorithm": "SCRYPT", "rounds": 8, "memoryCost": 14],
      ["hashAlgorithm": "PBKDF2_SHA256", "rounds": 1_000_001], ["hashAlgorithm": "PBKDF2_SHA256"],
      ["hashAlgorithm": "SHA256", "rounds": 8193], ["hashAlgorithm": "SHA256", "rounds": -1],
      ["hashAlgorithm": "SHA256", "rounds": 1, "passwordHashOrder": "BOTH"], ["hashAlgorithm": "HMAC_SHA256"],
      ["hashAlgorithm": "HMAC_SHA256", "signerKey": "%"], ["hashAlgorithm": "CRC32"], [:],
      ["hashAlgorithm": "ARGON2"],
      [
        "hashAlgorithm": "ARGON2",
        "argon2Parameters": [
          "hashType": "ARGON2_ID", "iterations": 3, "memoryCostKib": 40_000, "parallelism": 1, "hashLengthBytes": 32,
        ],
      ],
    ] as [JSON])
  func bounds(_ parameters: JSON) {
    #expect(throws: PasswordImportError.self) { try PasswordImport(parameters) }
  }

  @Test("hashes that are not of the algorithm's size are refused; Argon2 is stored and read with all it needs")
  func badHashes() throws {
    let sha = try PasswordImport(["hashAlgorithm": "SHA256", "rounds": 1])
    for hash in ["", "AAAA", "%"] { #expect(throws: PasswordImportError.badHash) { try sha.record(hash: hash, salt: nil) } }
    let bcrypt = try PasswordImport(["hashAlgorithm": "BCRYPT"])
    for hash in [
      "$2a$06$short", "$2x$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy",
      "$2a$31$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy",
    ] {
      #expect(throws: PasswordImportError.badHash) { try bcrypt.record(hash: Base64.encode(hash.utf8, as: .url), salt: nil) }
    }
    let argon2 = try PasswordImport([
      "hashAlgorithm": "ARGON2",
      "argon2Parameters": [
        "hashType": "ARGON2_ID", "iterations": 2, "memoryCostKib": 64, "parallelism": 2, "hashLengthBytes": 16,
        "associatedData": "YWQ=", "version": "VERSION_13",
      ],
    ])
    let made = try #require(
      Argon2.hash(
        Array(Self.password.utf8), salt: Array("saltsalt".utf8),
        Argon2.Parameters(variant: .id, passes: 2, memory: 64, lanes: 2, version: 0x13, associated: Array("ad".utf8)), size: 16)
    )
    let record = try argon2.record(
      hash: Base64.encode(made, as: .standard), salt: Base64.encode("saltsalt".utf8, as: .standard))
    #expect(PasswordRecord(record.text)?.matches(Self.password) == true)
    #expect(throws: PasswordImportError.badHash) { try argon2.record(hash: "AAAA", salt: nil) }
  }

  @Test("a text that is no record is none, whatever it is")
  func nonsense() {
    var random = SplitMix64(seed: 5)
    for text in [
      "", "$", "$$$$", "$scrypt$$$", "$scrypt$ln=60,r=8,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAA", "$nope$$AAAA$AAAA",
      "$argon2id$t=1$AAAA$AAAA", "$-$$$", "$scrypt$ln=-1,r=8,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
      #expect(PasswordRecord(text) == nil, "\(text)")
    }
    let alphabet = Array("$=,-scryptln0123".utf8)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      _ = PasswordRecord("$" + String(decoding: bytes, as: UTF8.self))
    }
  }
}
