package import TreeModel

extension AdminSystem {
  package static let configuration = Endpoint<NoQuery, NoBody, Configuration>(
    .get, "/admin/v1/config", "The configuration that is in force, defaults among it; secrets are \"set\".", access: .admin)

  /// Where a setting was given.
  package enum SettingSource: String, AdminWord, Hashable {
    /// Nowhere: it is what the program takes by itself.
    case `default`
    /// In the configuration file, or in a file that it names.
    case file
    /// In a variable of the environment that the file names.
    case environment
    /// By the command that the server was started with.
    case commandLine = "command-line"
  }

  /// A setting as it is in force.
  package struct Setting: AdminValue {
    /// As the configuration file has it: listen.port.
    package var name: String
    /// Durations are milliseconds, sizes are bytes; null for what is not set.
    package var value: JSON
    /// Whether nothing of it is shown but that it is set.
    package var secret: Bool?
    package var source: SettingSource

    package init(name: String, value: JSON, secret: Bool? = nil, source: SettingSource = .default) {
      self.name = name
      self.value = value
      self.source = source
      self.secret = secret
    }

    package static let notes: [String: FieldNote] = [
      "name": .text("as the configuration file has it: listen.port"),
      "value": .text("durations are milliseconds, sizes are bytes; null for what is not set"),
      "secret": .text("whether nothing of it is shown but that it is set"),
      "source": .text("where it was given: nowhere, the configuration file, a variable that the file names, the command"),
    ]
  }

  /// What is in force.
  package struct Configuration: AdminValue {
    /// The files that it was read from; none in development.
    package var files: [String]
    package var settings: [Setting]

    package init(files: [String] = [], settings: [Setting] = []) {
      self.files = files
      self.settings = settings
    }

    package static let notes: [String: FieldNote] = [
      "files": .text("the files that it was read from; none in development")
    ]
  }
}
