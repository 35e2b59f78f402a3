import NIOHTTP1
import StorageCore
import TreeModel

/// The settings that Firebase's tools ask the database for (spec: rtdb-protocol §2, admin endpoints).
enum SettingsRoutes {
  static let routes: [Route] = [
    .listing("/.inspect/databases.json", "The namespaces, as Firebase's tools list them.", databases),
    .listing("/.settings/rules.json", "The security rules (not available yet).") { (_) throws(APIError) in throw rulesMissing },
    .change(.PUT, "/.settings/rules.json", audit: "rules.put", "Replaces the security rules (not available yet).") {
      (_) throws(APIError) in
      throw rulesMissing
    },
  ]

  private static let rulesMissing = APIError(
    .notImplemented, "not_available",
    "Security rules are not available yet: in development the tree is open, in production only administrators get in.")

  private static func databases(_ call: RouteCall) throws(APIError) -> HTTPResponse {
    let records = try call.read { (snapshot) throws(StorageError) in try snapshot.namespaces() }
    return .json(.array(records.map { ["name": .string($0.name)] }))
  }
}
