@testable import MailContent
import Testing

@Suite struct AddressDetectorTests {
  @Test(
    "what a mail program makes a link of is found",
    arguments: [
      "https://x", "HTTP://EVIL.example/a", "ftp://x/y", "www.evil.example", "evil.com", "see evil.com/path?x=1 now",
      "(evil.com)",
      "evil.com.", "bücher.de", "xn--bcher-kva.example", "me@evil", "Me@Evil.Example", "<a@b.cd>", "10.0.0.1",
      "http://10.0.0.1:80/",
      "evil\u{200B}.com", "ev\u{AD}il.com", "evil\u{3002}com", "evil\u{FF0E}com", "evil.com\u{3002}", "пример.рф",
      "tinyurl.com/abc",
      "me\u{FF20}evil", "play.Come", "ｅｖｉｌ．ｃｏｍ", "ｈｔｔｐｓ：／／x", "HTTPS：//evil",
    ])
  func found(_ text: String) {
    #expect(AddressDetector.finds(in: text))
  }

  @Test(
    "what people write otherwise is not",
    arguments: [
      "", "Come and play!", "Hi... ok", "It costs 3.50", "Version 1.2", "2.5kg", "Build 2.0beta", "at 10:30", "a/b",
      "See you, e.g. tomorrow", "@bob",
      "bob @ home",
      "一緒に遊ぼう。楽しいよ。", "一緒に遊ぼう．２．５倍、楽しいよ！",
      "Let us go. Now", "1.000 coins", "Dr. Who", "yes/no", "a: //", "Ready? Go!", "J. R. R.", "50%",
    ])
  func notFound(_ text: String) {
    #expect(!AddressDetector.finds(in: text))
  }
}

@Suite struct DisplayNameTests {
  @Test(
    "a name stands on one line, is cut, and has no address in it",
    arguments: [
      ("Ann", "Ann"), ("  Ann \n the  Pirate\t", "Ann the Pirate"), ("Ann\u{202E}\u{200B} B.", "Ann B."), ("", ""),
      (String(repeating: "n", count: 60), String(repeating: "n", count: 40)), ("Win at evil.com", ""), ("bob@evil", ""),
      ("\u{0}\u{7F}", ""), ("山田 太郎", "山田 太郎"), ("\u{1F469}\u{200D}\u{1F680}", "\u{1F469}\u{200D}\u{1F680}"),
      ("evil\u{200D}.com", ""),
    ])
  func names(_ name: String, _ shown: String) {
    #expect(DisplayName.of(name) == shown)
  }
}
