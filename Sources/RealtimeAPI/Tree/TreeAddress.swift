import HTTPServer
import TextFormats
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
    guard let name = PercentEncoding.decode(UnsafeRawBufferPointer(rebasing: segment)) else {
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

/// The namespace that a `Host` header stands for (Firebase's REST reference).
enum HostName {
  /// The first DNS label; nil for an address, `localhost` and any other name of one label.
  static func namespace(in host: String) -> Substring? {
    let bytes = host.utf8
    guard let first = bytes.first, first != UInt8(ascii: "[") else { return nil }
    let name = host[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)]
    guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), name.utf8.index(after: dot) < name.endIndex else {
      return nil
    }
    let isAddress = name.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
    return isAddress ? nil : name[..<dot]
  }
}

/// A node's version for HTTP: its data hash, or `null_etag` where there is no node (Firebase's REST reference, conditional
/// requests).
enum ETag {
  static let absent = "null_etag"

  /// Of a node.
  static func of(_ node: TreeNode) -> String { node.exists ? node.dataHash : absent }

  /// The data hash that a client's condition names: without the quotes and the weakness mark that HTTP libraries add.
  static func hash(in value: String) -> String {
    var text = value[...]
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
    return text == absent ? "" : String(text)
  }
}
