package import NIOHTTP1

extension HTTPHeaders {
  /// What stands behind `Bearer` in the last `Authorization` header; nil if there is none, or one of another kind.
  package var bearer: String? { self["authorization"].last.flatMap(Self.bearer) }

  /// What stands behind `Bearer` in the value of an `Authorization` header.
  package static func bearer(in authorization: String) -> String? {
    guard authorization.utf8.count > 7, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7))
  }
}
