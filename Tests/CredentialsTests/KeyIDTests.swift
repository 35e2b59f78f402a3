import Credentials
import Testing

@Suite struct KeyIDTests {
  @Test("a key's name is written as it is")
  func text() {
    #expect("\(KeyID("a1"))" == "a1")
  }
}
