package import TreeModel

extension AdminSystem {
  package static let configuration = Endpoint<NoQuery, NoBody, Configuration>(
    .get, "/admin/v1/config", "The configuration that is in force, defaults among it; secrets are \"set\".", access: .admin)

  /// A setting as it is in force.
  package struct Setting: AdminValue {
    /// As the configuration file has it: listen.port.
    package var name: String
    /// Durations are milliseconds, sizes are bytes; null for what is not set.
    package var value: JSON
    /// Whether nothing of it is shown but that it is set.
    package var secret: Bool?

    package init(name: String, value: JSON, secret: Bool? = nil) {
      self.name = name
      self.value = value
      self.secret = secret
    }

    package static let notes: [String: FieldNote] = [
      "name": .text("as the configuration file has it: listen.port"),
      "value": .text("durations are milliseconds, sizes are bytes; null for what is not set"),
      "secret": .text("whether nothing of it is shown but that it is set"),
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
