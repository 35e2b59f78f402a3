/// `log`: what the server says of itself, and in which form.
struct LogSection: ConfigurationSection {
  let settings: LogSettings

  init(_ reader: ConfigurationReader) {
    let format = reader.choice("format", choices: LogSettings.Format.allCases.map(\.rawValue))
    let level = reader.choice("level", choices: LogSettings.Level.allCases.map(\.rawValue))
    settings = LogSettings(
      format: format.flatMap(LogSettings.Format.init) ?? .text, level: level.flatMap(LogSettings.Level.init) ?? .notice)
  }
}

/// In which form a server logs, and how much.
package struct LogSettings: Sendable, Hashable {
  /// What a line of the log looks like.
  package enum Format: String, Sendable, CaseIterable {
    /// For people.
    case text
    /// A JSON object on a line, for what collects logs.
    case json
  }

  /// The least severe lines that are written.
  package enum Level: String, Sendable, CaseIterable {
    case debug, info, notice, warning, error
  }

  package let format: Format
  package let level: Level

  package init(format: Format = .text, level: Level = .notice) {
    self.format = format
    self.level = level
  }
}
