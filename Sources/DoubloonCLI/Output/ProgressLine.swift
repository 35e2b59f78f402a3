/// One line on a terminal that says how far long work is; nothing in a pipe.
struct ProgressLine {
  private let output: CommandOutput
  private var width = 0

  init(_ output: CommandOutput) {
    self.output = output
  }

  /// Replaces the line.
  mutating func show(_ text: String) {
    guard output.showsProgress else { return }
    let gap = String(repeating: " ", count: max(0, width - text.count))
    output.err(Array("\r\(text)\(gap)".utf8))
    width = text.count
  }

  /// Removes the line.
  mutating func clear() {
    guard width > 0 else { return }
    output.err(Array("\r\(String(repeating: " ", count: width))\r".utf8))
    width = 0
  }
}
