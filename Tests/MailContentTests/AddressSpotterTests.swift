import Testing

@testable import MailContent

@Suite struct AddressSpotterTests {
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
    #expect(AddressSpotter.finds(in: text))
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
    #expect(!AddressSpotter.finds(in: text))
  }
}
