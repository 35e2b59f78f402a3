package import AccessRules

/// A file of security rules, read and checked.
package struct RulesFile: Sendable {
  package let path: String
  package let source: String
  package let rules: RuleSet

  /// - Parameter read: reads a file, whole.
  /// - Throws: ``FileError`` with a line `FILE:LINE:COLUMN: text` for each fault.
  package init(
    _ path: String,
    with read: (String) throws(FileError) -> [UInt8] = { (path) throws(FileError) in
      try FileBytes.read(path)
    }
  ) throws(FileError) {
    self.path = path
    guard let source = String(validating: try read(path), as: UTF8.self) else {
      throw FileError("\(path):1:1: The rules must be UTF-8.")
    }
    self.source = source
    do throws(RulesFault) {
      rules = try RuleSet(parsing: source)
    } catch {
      let faults = ([error] + error.others).map { "\(path):\($0.line):\($0.column): \($0.message)" }
      throw FileError(faults.joined(separator: "\n"))
    }
  }
}
