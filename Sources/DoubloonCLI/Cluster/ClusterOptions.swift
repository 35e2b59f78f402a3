import ArgumentParser
import ServerConfiguration
import StorageCore

/// Which store in PostgreSQL a command is about.
struct ClusterOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The configuration file of a node, whose \"storage\" counts.", valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp("PostgreSQL's connection string, such as postgresql://doubloon@db1,db2/doubloon.", valueName: "url"))
  var postgres: String?

  @Option(help: ArgumentHelp("The store's schema in PostgreSQL, with --postgres.", valueName: "name"))
  var schema = "doubloon"

  mutating func validate() throws {
    guard ClusterSettings.isSchema(schema) else {
      throw ValidationError("--schema must be 1 to 40 lower-case letters, digits and underscores.")
    }
    guard (config == nil) != (postgres == nil) else { throw ValidationError("Give --config or --postgres.") }
  }

  /// - Throws: `CommandError` where the file has no storage in PostgreSQL.
  func settings() throws -> ClusterSettings {
    if let postgres {
      var settings = ClusterSettings(url: postgres)
      settings.schema = schema
      settings.allowsSingle = true
      return settings
    }
    do {
      guard let settings = try ServeConfiguration.load(config ?? "", surroundings: .deployment).serverConfiguration.cluster
      else {
        throw CommandError("\(config ?? "") has no \"storage\": the store is in the data folder alone.", exitCode: 2)
      }
      return settings
    } catch let error as FileError {
      throw CommandError(error.message, exitCode: 2)
    }
  }
}
