import AdminClient
import ArgumentParser
import TreeModel

/// A place in the tree, as a command's argument: `/users/bob`, `users/bob/level`, `/`, `/users/bob/.priority`.
struct TreeLocation: Sendable {
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
