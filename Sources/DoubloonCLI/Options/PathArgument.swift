import AdminClient
import AdminModel
import ArgumentParser
import ServerConfiguration
import TreeModel

/// A place in the tree, as a command's argument: `/users/bob`, `users/bob/level`, `/`, `/users/bob/.priority`.
struct PathArgument: Sendable {
  let target: PathTarget

  /// For the parser of the command line; a key that is not legal is refused with the rule.
  init(argument text: String) throws {
    do {
      target = try PathTarget(parsing: text)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  init(_ path: Path) {
    target = PathTarget(path: path, isPriority: false)
  }

  /// As people write it.
  var text: String { target.description }

  /// Where the database's REST surface has it.
  var urlPath: String { AdminClient.treePath(text) }
}

/// A state of the tree, as a command's argument: a revision (`42`), or a time as ``TimePoint`` reads it.
enum TreeMoment: Sendable, Hashable {
  case revision(Int64)
  case time(TimePoint)

  /// For help texts.
  static let forms = "a revision, or a time: \(TimePoint.forms)"

  /// For the parser of the command line. A bare number is a revision.
  init(argument text: String) throws {
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      guard let revision = Int64(text) else { throw ValidationError("there is no revision \(text).") }
      self = .revision(revision)
      return
    }
    guard let time = TimePoint(parsing: text, now: .now) else { throw ValidationError("write \(Self.forms).") }
    self = .time(time)
  }

  /// The parameters of a request, of which one has a value.
  var parameters: (revision: Int64?, time: Timestamp?) {
    switch self {
    case .revision(let number): (number, nil)
    case .time(let point): (nil, Timestamp(point.milliseconds))
    }
  }
}

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
  static func parse(_ bytes: [UInt8], from name: String) throws(CommandError) -> JSON {
    do {
      return try JSONParser.parse(bytes)
    } catch {
      throw CommandError("\(name): \(error)")
    }
  }
}
