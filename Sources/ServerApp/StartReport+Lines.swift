package import Triggers

extension StartReport {
  /// The report in plain sentences, one for each finding; none if all is as it was.
  package var lines: [String] {
    var lines: [String] = []
    func say(_ names: [String], _ sentence: (String) -> String) {
      if !names.isEmpty { lines.append(sentence(names.joined(separator: ", "))) }
    }
    say(new) { "New functions, which see events from now on: \($0)." }
    say(missing) { "Functions that are no longer registered; their waiting events became dead letters: \($0)." }
    say(changed) { "Functions with another pattern or kind than before: \($0)." }
    say(paused) { "Paused functions: \($0). Resume one with \"doubloon functions resume NAME\"." }
    say(crashed) { "The last process died of this run, which counts as a failed attempt: \($0)." }
    say(suspects) { "The last process died during these runs, which are tried again one at a time: \($0)." }
    if deadLetters > 0 { lines.append("\(deadLetters) waiting events of missing functions became dead letters.") }
    if waiting > 0 { lines.append("\(waiting) failed events wait for their next attempt.") }
    return lines
  }
}
