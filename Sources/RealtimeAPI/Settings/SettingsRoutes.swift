import APISupport
import AccessRules
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TreeDatabase
import TreeModel

/// The settings that Firebase's tools ask the database for (firebase-tools, `src/database`).
package enum SettingsRoutes {
  package static let routes: [Route] = [
    .list("/.inspect/databases.json", "The namespaces, as Firebase's tools list them.", databases),
    .list("/.settings/rules.json", "The security rules, as uploaded; format=strict: as JSON without comments.", rules),
    .mutate(
      .PUT, template: "/.settings/rules.json", audit: "rules.put",
      summary: "Replaces the security rules; dryRun=true only checks them, reason=TEXT stands in their history.", body: putRules
    ),
  ]

  private static func databases(_ call: RouteCall) throws -> HTTPResponse {
    let records = try call.read { snapshot in try snapshot.namespaces() }
    return .json(.array(records.map { ["name": .string($0.name)] }))
  }

  // MARK: Rules

  private static func rules(_ call: RouteCall) throws -> HTTPResponse {
    let name = try namespaceName(call)
    let catalog = call.services.database.catalog
    let namespace = call.services.database.namespace(named: name)
    if namespace == nil, !call.services.access.createsNamespaces { throw APIError.unknownNamespace(name) }
    let source =
      namespace.flatMap { catalog.source(of: $0) }?.source ?? RuleSet.source(allowingAll: call.services.access.isDevelopment)
    switch call.query["format"] {
    case nil: return HTTPResponse(.ok, body: Array(source.utf8))
    case "strict":
      do {
        return .json(try RuleSet(stored: source).strict)
      } catch {
        throw APIError(.internalServerError, "damaged", "The stored rules cannot be read: \(error)")
      }
    default: throw APIError.badRequest("format must be \"strict\"; leave it out for the rules as they were uploaded.")
    }
  }

  private static func putRules(_ call: RouteCall) async throws -> HTTPResponse {
    let isDryRun: Bool
    switch call.query["dryRun"] {
    case nil, "false": isDryRun = false
    case "true": isDryRun = true
    default: throw APIError.badRequest("dryRun must be true or false.")
    }
    let name = try namespaceName(call)
    let database = call.services.database
    guard let source = String(validating: call.request.body.map { Array($0.readableBytesView) } ?? [], as: UTF8.self) else {
      return refused("1:1: Parse error. The rules must be UTF-8.")
    }
    let rules: RuleSet
    do {
      rules = try RuleSet(parsing: source)
    } catch {
      return refused(error.description)
    }
    if database.namespace(named: name) == nil, !call.services.access.createsNamespaces {
      throw APIError.unknownNamespace(name)
    }
    if isDryRun { return .json(["status": "ok"]) }
    let reason = call.query["reason"].flatMap { $0.isEmpty ? nil : String($0.prefix(RulesHistory.reasonMax)) }
    try await database.putRules(
      source, rules: rules, in: try await database.openNamespace(named: name),
      as: RulesChange(by: call.caller.actor, reason: reason))
    // Who listens already may have lost the right to.
    call.services.listeners.review()
    return .json(["status": "ok"])
  }

  /// The form that the command line tools print behind the file's name.
  private static func refused(_ text: String) -> HTTPResponse {
    .error(.badRequest, message: text + "\n")
  }

  /// As for the tree: `ns`, else the host's first label, else the default.
  private static func namespaceName(_ call: RouteCall) throws -> String {
    try TreeRequest.namespace(
      call.query["ns"], host: call.request.headers.first(name: "host"), default: call.services.defaultNamespace)
  }
}
