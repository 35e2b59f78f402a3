import Links
import Testing

@Suite struct LinkPlatformTests {
  @Test("platforms are written as the statistics name them")
  func names() {
    #expect(LinkPlatform.allCases.map(\.rawValue).sorted() == ["ANDROID", "DESKTOP", "IOS", "OTHER"])
  }
}
