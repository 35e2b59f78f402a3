import ArgumentParser
import ServerConfiguration

/// What somebody probably meant who misspelt a command.
enum CommandSuggestion {
  /// `Did you mean "doubloon status"?`; nil if the words lead to a command, or to nothing like one.
  static func text(for words: [String], below root: any ParsableCommand.Type) -> String? {
    var command = root
    var path = [name(of: root)]
    for word in words {
      guard !word.hasPrefix("-") else { return nil }
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty else { return nil }
      guard let next = subcommands.first(where: { name(of: $0) == word || $0.configuration.aliases.contains(word) }) else {
        let nearest = NearestName.of(word, in: subcommands.map(name(of:)))
        return nearest.map { "Did you mean \"\((path + [$0]).joined(separator: " "))\"?" }
      }
      path.append(name(of: next))
      command = next
    }
    return nil
  }

  private static func name(of command: any ParsableCommand.Type) -> String {
    command.configuration.commandName ?? "\(command)".lowercased()
  }
}
