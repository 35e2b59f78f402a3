import Testing

@testable import MailContent

@Suite struct ShownNameTests {
  @Test(
    "a name stands on one line, is cut, and has no address in it",
    arguments: [
      ("Ann", "Ann"), ("  Ann \n the  Pirate\t", "Ann the Pirate"), ("Ann\u{202E}\u{200B} B.", "Ann B."), ("", ""),
      (String(repeating: "n", count: 60), String(repeating: "n", count: 40)), ("Win at evil.com", ""), ("bob@evil", ""),
      ("\u{0}\u{7F}", ""), ("山田 太郎", "山田 太郎"), ("\u{1F469}\u{200D}\u{1F680}", "\u{1F469}\u{200D}\u{1F680}"),
      ("evil\u{200D}.com", ""),
    ])
  func names(_ name: String, _ shown: String) {
    #expect(ShownName.of(name) == shown)
  }
}
