import Testing

@testable import Ledger

@Suite("A table of comma-separated values is read to the letter, or not at all")
struct CSVTableTests {
  @Test(
    "Values are texts: quotes, line breaks in them, CRLF, a byte order mark, and whatever a spreadsheet would make of them",
    arguments: [
      ("", []), ("\n\r\n\n", []), ("a,b", [["a", "b"]]), ("a,b\n", [["a", "b"]]),
      ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
      ("\u{FEFF}a\nb", [["a"], ["b"]]), ("a\n\nb", [["a"], ["b"]]), (",\n", [["", ""]]), ("\"\",x", [["", "x"]]),
      ("\"a,\"\"b\"\"\",c", [["a,\"b\"", "c"]]), ("\"a\nb\",c\nd", [["a\nb", "c"], ["d"]]), ("\"a\r\nb\"", [["a\r\nb"]]),
      ("=cmd|'/c calc'!A1,+1,-2,@x", [["=cmd|'/c calc'!A1", "+1", "-2", "@x"]]), (" a , b ", [[" a ", " b "]]),
      ("é,\u{1F3F4}\u{200D}\u{2620}\u{FE0F}", [["é", "\u{1F3F4}\u{200D}\u{2620}\u{FE0F}"]]),
    ] as [(String, [[String]])])
  func rows(_ text: String, expected: [[String]]) throws {
    #expect(try CSVTable(text, rowsMax: 10).rows.map(\.fields) == expected)
  }

  @Test(
    "What is not clear is a fault, with its line and its field",
    arguments: [
      ("a,b\"c", 1, 2, "inside a value"), ("x\n\"open,\nand on", 2, 1, "never closed"),
      ("\"a\"b", 1, 1, "behind a closing quote"),
      ("a,\"b\" ,c", 1, 2, "behind a closing quote"), ("a\rb", 1, 2, "CR alone"), ("a\r", 1, 2, "CR alone"),
      ("1\n2\n3\n4", 4, 1, "more than 3 lines"), ("\"a\n\nb\",\"c", 3, 2, "never closed"),
    ] as [(String, Int, Int, String)])
  func faults(_ text: String, line: Int, column: Int, message: String) throws {
    let fault = #expect(throws: CSVTable.Fault.self) { try CSVTable(text, rowsMax: 3) }
    #expect(
      fault?.line == line && fault?.column == column && fault?.message.contains(message) == true, "\(String(describing: fault))"
    )
  }

  @Test("A row knows the line on which it begins, though others before it stretch over several")
  func lines() throws {
    #expect(try CSVTable("a\r\n\"b\n\nb\",c\n\nd", rowsMax: 10).rows.map(\.line) == [1, 2, 6])
  }
}
