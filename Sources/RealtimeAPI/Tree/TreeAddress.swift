import HTTPServer
import TreeModel

/// Reads the path of a REST request: `/users/bob.json`, `/users/bob/.json`, `/users/bob/.priority.json`.
package enum TreeAddress {
  private static let suffix = Array(".json".utf8)

  /// Whether a path is the database's: it ends in `.json`, and its first segment does not begin with a dot, which is where
  /// other surfaces live (`/.settings/rules.json`); the root's own `/.json` and `/.priority.json` are the exceptions.
  package static func isTree(_ path: [UInt8]) -> Bool {
    guard path.count >= 6, path[(path.count - 5)...].elementsEqual(suffix) else { return false }
    guard path[1] == UInt8(ascii: ".") else { return true }
    return path.count == 6 || path.elementsEqual("/.priority.json".utf8)
  }

  /// The location that a path addresses.
  ///
  /// Segments are cut before they are decoded, keys of usual letters looked at once: this runs for every request.
  static func target(_ path: [UInt8]) throws(APIError) -> PathTarget {
    // `withUnsafeBytes` does not throw typed errors.
    let result = path.withUnsafeBytes { bytes -> Result<PathTarget, APIError> in
      do throws(APIError) {
        return .success(try target(in: UnsafeRawBufferPointer(rebasing: bytes.dropLast(suffix.count))))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func target(in path: UnsafeRawBufferPointer) throws(APIError) -> PathTarget {
    var keys: [Key] = []
    var isPriority = false
    var start = 0
    while start < path.count {
      let slash = path.first(UInt8(ascii: "/"), from: start) ?? path.count
      if slash > start {
        guard !isPriority else { throw APIError.badRequest(PathError(.reservedKey, key: ".priority").description) }
        isPriority = try !append(path[start..<slash], to: &keys)
      }
      start = slash + 1
    }
    guard keys.count <= Path.depthMax else { throw APIError.badRequest(PathError(.tooDeep, key: "").description) }
    return PathTarget(path: Path(keys: keys), isPriority: isPriority)
  }

  /// Adds the keys of a segment: one, or several where it holds an encoded slash (`%2F`), which separates like a plain one.
  ///
  /// - Returns: false for `.priority`, which is no key.
  private static func append(_ segment: Slice<UnsafeRawBufferPointer>, to keys: inout [Key]) throws(APIError) -> Bool {
    if let key = Key(plain: UnsafeRawBufferPointer(rebasing: segment)) {
      keys.append(key)
      return true
    }
    guard let name = PercentDecoding.text(segment) else {
      throw APIError.badRequest("Invalid path: it must be UTF-8, percent-encoded.")
    }
    if name == ".priority" { return false }
    do throws(PathError) {
      if name.utf8.contains(UInt8(ascii: "/")) {
        keys += try Path(parsing: name).keys
      } else {
        keys.append(try Key(name))
      }
    } catch {
      throw APIError.badRequest(error.description)
    }
    return true
  }
}
