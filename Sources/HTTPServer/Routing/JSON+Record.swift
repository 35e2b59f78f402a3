package import TreeModel

extension JSON {
  /// An object of what is there.
  package static func record(_ members: [(String, JSON?)]) -> JSON {
    .object(members.compactMap { name, value in value.map { Member(key: name, value: $0) } })
  }
}
