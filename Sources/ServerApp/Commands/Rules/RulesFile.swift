import AccessRules

/// A rules file on this machine.
enum RulesFile {
  /// Reads and checks a file.
  ///
  /// - Throws: ``CommandFailure`` with a line `file:line:column: text` for each fault.
  static func read(_ path: String) throws(CommandFailure) -> (source: String, rules: RuleSet) {
    guard let source = String(validating: try FileBytes.read(path), as: UTF8.self) else {
      throw CommandFailure("\(path):1:1: The rules must be UTF-8.")
    }
    do throws(RulesFault) {
      return (source, try RuleSet(parsing: source))
    } catch {
      let faults = ([error] + error.others).map { "\(path):\($0.line):\($0.column): \($0.message)" }
      throw CommandFailure("The rules cannot be used.\n\(faults.joined(separator: "\n"))")
    }
  }
}
