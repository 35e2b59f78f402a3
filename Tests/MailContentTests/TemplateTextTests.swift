import TestSupport
import Testing

@testable import MailContent

@Suite struct TemplateTextTests {
  private static let names = ["name", "link", "note"]

  private func rendered(_ source: String, _ form: TemplateText.Form, _ values: [String: String]) throws -> String {
    try TemplateText(source, form: form, placeholders: Self.names).rendered(values)
  }

  @Test("values stand in their places, and parts are there only with theirs")
  func rendering() throws {
    let source = "Hi{{#name}} {{ name }}{{/name}}!{{#note}} ({{#name}}{{name}}: {{/name}}{{note}}){{/note}}"
    #expect(try rendered(source, .text, [:]) == "Hi!")
    #expect(try rendered(source, .text, ["name": "Bob"]) == "Hi Bob!")
    #expect(try rendered(source, .text, ["name": "Bob", "note": "x"]) == "Hi Bob! (Bob: x)")
    #expect(try rendered("{ {} {{name}}}", .text, ["name": "{{link}}"]) == "{ {} {{link}}}")
  }

  static let escapes: [(TemplateText.Form, String, String)] = [
    (.html, "<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), (.text, "<b>&\"'", "<b>&\"'"), (.text, "a\r\nb\u{0}c", "a \nb c"),
    (.line, "a\r\nBcc: x@y", "a  Bcc: x@y"), (.line, "a\u{2028}\u{202E}b", "a  b"), (.html, "ü€😀", "ü€😀"),
  ]

  @Test("values are escaped for the place where they stand", arguments: escapes)
  func escaping(_ form: TemplateText.Form, _ value: String, _ expected: String) throws {
    #expect(try rendered("{{name}}", form, ["name": value]) == expected)
  }

  @Test("only links of the web stand in attributes that hold links")
  func links() throws {
    for (value, expected) in [
      ("https://x/?a=1&b", "https://x/?a=1&amp;b"), ("HTTP://x", "HTTP://x"), ("javascript:alert(1)", ""), ("//x", ""),
      ("", ""),
    ] {
      #expect(try rendered("<a href=\"{{link}}\">", .html, ["link": value]) == "<a href=\"\(expected)\">")
      #expect(try rendered("<img SRC='{{link}}'>", .html, ["link": value]) == "<img SRC='\(expected)'>")
    }
    #expect(try rendered("<p>{{link}}</p>", .html, ["link": "javascript:x"]) == "<p>javascript:x</p>")
  }

  static let faults: [(String, Int, String)] = [
    ("a\n{{nmae}}", 2, "There is no placeholder \"nmae\" here; there are name, link, note."),
    ("{{name", 1, "A placeholder does not end; write it as {{name}}."),
    ("{{na\nme}}", 1, "A placeholder does not end; write it as {{name}}."),
    ("a\n\n{{#name}}b", 3, "The part {{#name}} does not end; close it with {{/name}}."),
    ("{{/name}}", 1, "{{/name}} closes a part that was not opened here."),
    ("{{#name}}{{/link}}", 1, "{{/link}} closes a part that was not opened here."),
    (String(repeating: "{{#name}}", count: 10), 1, "Parts stand inside each other too deeply."),
  ]

  @Test("what is no template is refused with its line", arguments: faults)
  func fault(_ source: String, _ line: Int, _ message: String) {
    #expect(throws: TemplateError(line: line, message: message)) {
      _ = try TemplateText(source, form: .text, placeholders: Self.names)
    }
  }

  @Test("whatever the values are, HTML gains no markup")
  func property() throws {
    var random = SplitMix64(seed: 7)
    let template = try TemplateText("<a href=\"{{link}}\" title='{{name}}'>{{note}}</a>", form: .html, placeholders: Self.names)
    let alphabet: [Character] = ["<", ">", "\"", "'", "&", "{", "}", "\n", "a", "h", ":", "/", "\u{202E}", "ü"]
    for _ in 0..<500 {
      let value = String((0..<12).map { _ in alphabet.randomElement(using: &random)! })
      let text = template.rendered(["link": "https://" + value, "name": value, "note": value])
      #expect(text.count(where: { $0 == "<" }) == 2 && text.count(where: { $0 == ">" }) == 2)
      #expect(text.count(where: { $0 == "\"" }) == 2 && text.count(where: { $0 == "'" }) == 2)
    }
  }
}
