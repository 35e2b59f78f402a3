import TreeModel

/// Which parts of a resource a PATCH means (`updateMask`): `displayName,mfaConfig.state`, in camel or snake case.
enum FieldMask {
  /// The paths that a mask names; none where everything is meant.
  static func paths(_ text: String?) throws -> [[String]] {
    let fields = text?.split(separator: ",") ?? []
    // The deepest setting lies four levels down.
    guard fields.count <= 100, fields.allSatisfy({ $0.utf8.count <= 200 && $0.split(separator: ".").count <= 8 }) else {
      throw IdentityError.invalidArgument("updateMask has too many fields, or one with a path that is too long.")
    }
    return fields.map { $0.split(separator: ".").map(camel) }
  }

  /// Refuses what would be answered with 200 and then not be so.
  ///
  /// - `known`: the settings that there are, with all below them.
  /// - `paths`: what of the body is meant; all of it if there are none.
  /// - Throws: what `refusal` makes of the first unknown setting.
  static func check(
    _ body: JSON, named paths: [[String]], known: [[String]], refusal: ([String]) -> IdentityError = FieldMask.notSupported
  ) throws {
    let parts = paths.isEmpty ? [([], body)] : paths.compactMap { path in body.at(path[...]).map { (path, $0) } }
    for (path, value) in parts {
      guard let unknown = value.firstSetting(below: path, except: known) else { continue }
      throw refusal(unknown)
    }
  }

  /// The resource with what a PATCH says: all of the body without a mask, else what the mask names.
  static func applied(_ body: JSON, to current: JSON, named paths: [[String]]) -> JSON {
    paths.isEmpty ? body : paths.reduce(current) { $0.setting($1[...], to: body.at($1[...])) }
  }

  static func notSupported(_ path: [String]) -> IdentityError {
    .notImplemented(
      "The setting \(path.joined(separator: ".").prefix(100)) is not supported; nothing was changed. Leave it out.")
  }

  private static func camel(_ name: Substring) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }
}

extension JSON {
  /// The value without the members of objects that are null.
  var withoutNulls: JSON {
    switch self {
    case .object(let members):
      .object(members.filter { !$0.value.isNull }.map { Member(key: $0.key, value: $0.value.withoutNulls) })
    case .array(let elements): .array(elements.map(\.withoutNulls))
    default: self
    }
  }

  /// This object with the members of another in the place of its own, at every depth.
  func merging(_ other: JSON) -> JSON {
    guard var members = object, let others = other.object else { return other }
    for member in others {
      if let index = members.firstIndex(where: { $0.key == member.key }) {
        members[index] = Member(key: member.key, value: members[index].value.merging(member.value))
      } else {
        members.append(member)
      }
    }
    return .object(members)
  }

  /// The way to the first value that says something: not false, not empty; nil if there is none but the known ones.
  fileprivate func firstSetting(below path: [String], except known: [[String]]) -> [String]? {
    if known.contains(where: { path.starts(with: $0) }) { return nil }
    switch self {
    case .object(let members):
      return members.lazy.compactMap { $0.value.firstSetting(below: path + [$0.key], except: known) }.first
    case .array(let elements): return elements.isEmpty ? nil : path
    case .null, .bool(false), .string(""): return nil
    default: return path
    }
  }

  fileprivate func at(_ keys: ArraySlice<String>) -> JSON? {
    guard let first = keys.first else { return self }
    return self[first]?.at(keys.dropFirst())
  }

  fileprivate func setting(_ keys: ArraySlice<String>, to value: JSON?) -> JSON {
    guard let first = keys.first else { return value ?? .null }
    var members = (object ?? []).filter { $0.key != first }
    if keys.count > 1 || value != nil {
      members.append(Member(key: first, value: (self[first] ?? .object([])).setting(keys.dropFirst(), to: value)))
    }
    return .object(members)
  }
}
