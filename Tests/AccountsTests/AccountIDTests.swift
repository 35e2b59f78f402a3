@testable import Accounts
import TestSupport
import Testing

@Suite struct AccountIDTests {
  @Test("a fresh id has 28 letters and digits, and is another one each time")
  func fresh() {
    var random = SplitMix64(seed: 1)
    let ids = (0..<100).map { _ in AccountID.random(using: &random).text }
    #expect(Set(ids).count == 100)
    #expect(ids.allSatisfy { $0.utf8.count == 28 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
  }

  @Test("an administrator's id has between 1 and 128 characters")
  func chosen() {
    #expect(AccountID("") == nil)
    #expect(AccountID(String(repeating: "u", count: 128))?.text.count == 128)
    #expect(AccountID(String(repeating: "u", count: 129)) == nil)
  }
}
