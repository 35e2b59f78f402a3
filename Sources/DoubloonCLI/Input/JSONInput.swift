import ArgumentParser
import ServerConfiguration
import TreeModel

/// A JSON value as a command's argument: written out, in a file, or on the standard input.
enum JSONInput {
  /// Reads the value that an argument stands for.
  ///
  /// - Parameter argument: JSON text; else `-`; else a file's path.
  static func value(_ argument: String) throws -> JSON {
    if argument == "-" { return try parse(try FileBytes.read("-"), from: "the standard input") }
    do {
      return try JSONParser.parse(argument)
    } catch {
      if FileBytes.exists(argument) { return try parse(try FileBytes.read(argument), from: argument) }
      throw ValidationError("\(error) A text is written '\"like this\"'; there is no file \(argument) either.")
    }
  }

  /// Reads a file's bytes as JSON.
  static func parse(_ bytes: [UInt8], from name: String) throws(CommandFailure) -> JSON {
    do {
      return try JSONParser.parse(bytes)
    } catch {
      throw CommandFailure("\(name): \(error)")
    }
  }
}
