import Testing
import TextFormats

@Suite struct LanguageTagTests {
  private struct Greeting: TranslatedTexts {
    let language: String

    static let english = Greeting(language: "en")
    static let all = [english, Greeting(language: "de"), Greeting(language: "ja")]
  }

  @Test(
    "texts are in the first language of the reader that there are any in, otherwise in English",
    arguments: [
      (["de"], "de"), (["de-AT"], "de"), (["DE_at", "ja"], "de"), (["it", "ja", "de"], "ja"), (["it"], "en"), ([], "en"),
      (["den"], "en"), ([""], "en"), (["-de"], "en"), (["zh-Hant-TW", "ja-JP"], "ja"),
    ])
  func chosen(_ locales: [String], _ language: String) {
    #expect(Greeting.chosen(from: locales).language == language)
  }
}
