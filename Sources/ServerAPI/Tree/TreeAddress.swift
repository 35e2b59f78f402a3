import TreeModel

/// Reads the path of a REST request: `/users/bob.json`, `/users/bob/.json`, `/users/bob/.priority.json`.
enum TreeAddress {
  private static let suffix = Array(".json".utf8)

  /// Whether a path is the database's: it ends in `.json`, and its first segment does not begin with a dot, which is where
  /// other surfaces live (`/.settings/rules.json`); the root's own `/.json` and `/.priority.json` are the exceptions.
  static func isTree(_ path: Substring.UTF8View) -> Bool {
    guard path.count >= 6, path.suffix(5).elementsEqual(suffix) else { return false }
    let first = path.dropFirst()
    guard first.first == UInt8(ascii: ".") else { return true }
    return path.count == 6 || path.elementsEqual("/.priority.json".utf8)
  }

  /// The location that a path addresses.
  ///
  /// Segments are cut before they are decoded, keys checked once, and nothing else allocated: this runs for every request.
  static func target(_ path: Substring.UTF8View) throws(APIError) -> PathTarget {
    var keys: [Key] = []
    var isPriority = false
    var rest = path.dropLast(suffix.count)
    while !rest.isEmpty {
      let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      if slash > rest.startIndex {
        guard !isPriority else { throw APIError.badRequest(PathError(.reservedKey, key: ".priority").description) }
        guard let name = PercentDecoding.text(rest[..<slash]) else {
          throw APIError.badRequest("Invalid path: it must be UTF-8, percent-encoded.")
        }
        if name == ".priority" { isPriority = true } else { try append(name, to: &keys) }
      }
      if slash == rest.endIndex { break }
      rest = rest[rest.index(after: slash)...]
    }
    guard keys.count <= Path.depthMax else { throw APIError.badRequest(PathError(.tooDeep, key: "").description) }
    return PathTarget(path: Path(keys: keys), isPriority: isPriority)
  }

  /// An encoded slash (`%2F`) separates keys like a plain one.
  private static func append(_ name: String, to keys: inout [Key]) throws(APIError) {
    do throws(PathError) {
      if name.utf8.contains(UInt8(ascii: "/")) {
        keys += try Path(parsing: name).keys
      } else {
        keys.append(try Key(name))
      }
    } catch {
      throw APIError.badRequest(error.description)
    }
  }
}
