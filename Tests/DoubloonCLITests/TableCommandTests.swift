import Testing
import TreeModel

@testable import DoubloonCLI
@testable import ServerApp

@Suite struct TableCommandTests {
  @Test("columns are as wide as their widest cell")
  func layout() {
    var table = TextTable([.text("NAME"), .number("COINS"), .text("WHY")])
    table.add(["bob", "1,050", "level5"])
    table.add(["alexandra", "5", ""])
    #expect(
      table.render() == """
        NAME       COINS  WHY
        bob        1,050  level5
        alexandra      5
        """)
    #expect(table.lines(showsTitles: false).count == 2)
  }

  @Test("a cell cannot move the terminal's cursor, nor break its line")
  func control() {
    var table = TextTable([.text("KEY")])
    table.add(["\u{1B}[31mred\u{7}\nnext\u{202E}"])
    #expect(table.lines(showsTitles: false) == ["\\u{1B}[31mred\\u{7} next\\u{202E}"])
    #expect("plain ünïcode 🏴‍☠️".printable == "plain ünïcode 🏴‍☠️")
  }

  @Test(
    "numbers come in groups",
    arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"), (Int.min, "-9,223,372,036,854,775,808")])
  func grouped(_ number: Int, _ text: String) {
    #expect(number.grouped == text)
  }

  @Test("nouns follow their number")
  func counted() {
    #expect(1.counted("entry", "entries") == "1 entry")
    #expect(2000.counted("entry", "entries") == "2,000 entries")
  }

  @Test("values on one line")
  func plain() {
    let value: JSON = ["event": "1-2:/a", "list": [1, "x", nil], "n": 1.5]
    #expect(value.plainText == "event 1-2:/a, list 1, x, -, n 1.5")
    #expect(JSON.int(0).timeText == "1970-01-01T00:00:00.000Z")
    #expect(JSON.null.timeText == "-")
  }
}
