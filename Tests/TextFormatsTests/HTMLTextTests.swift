import Testing
import TextFormats

@Suite struct HTMLTextTests {
  @Test(
    "a text keeps its meaning between tags and in attributes of either quote",
    arguments: [
      ("", ""), ("a b", "a b"), ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), ("&amp;", "&amp;amp;"), ("ü€😀", "ü€😀"),
      ("a\tb\r\nc", "a\tb\r\nc"), ("a\u{0}b\u{1B}\u{7F}c\u{C}", "a b  c "), ("<\u{301}", "&lt;\u{301}"),
      ("\" onload=\"x", "&quot; onload=&quot;x"), ("' onload='x", "&#39; onload=&#39;x"),
    ])
  func escapes(_ text: String, _ expected: String) {
    // Bytes, for `==` of texts takes different spellings of a character as the same.
    #expect(Array(HTMLText.escaped(text).utf8) == Array(expected.utf8))
    #expect(Array(HTMLText.escaped("x\(text)".dropFirst()).utf8) == Array(expected.utf8))
  }
}
