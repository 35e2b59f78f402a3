/// A string of a rules file: its text, and where each part of it stands in the file.
struct RulesText: Sendable {
  /// From this byte of the text on, text and file run side by side, until the next mark.
  struct Mark: Sendable {
    let offset: Int
    let source: Int
  }

  let text: String
  /// In ascending order; the first is at the text's beginning.
  let marks: [Mark]

  /// Where a byte of the text stands in the file.
  func source(of offset: Int) -> Int {
    let mark = marks.last { $0.offset <= offset } ?? marks[0]
    return mark.source + offset - mark.offset
  }
}
