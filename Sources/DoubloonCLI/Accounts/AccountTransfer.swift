import AdminClient
import TreeModel

/// Talks to the Identity Toolkit's methods for administrators: what has to do with passwords goes this way.
enum AccountTransfer {
  /// How many accounts one call carries.
  static let pageSize = 500

  /// Where a method of the project is whose namespace is meant.
  static func path(_ client: AdminClient, _ server: ServerOptions, _ method: String) async throws -> String {
    var namespace = server.namespace
    if namespace == nil { namespace = try await client.get(AdminPath.status)["defaultNamespace"]?.string }
    let suffix = "-default-rtdb"
    guard let name = namespace else { throw CommandFailure("The server did not name its namespace; give it with --ns.") }
    let project = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    return "/identitytoolkit.googleapis.com/v1/projects/\(PercentEncoding.segment(project))/\(method)"
  }

  /// All accounts, with the hashes of their passwords.
  static func all(_ client: AdminClient, _ server: ServerOptions) async throws -> [JSON] {
    let path = try await path(client, server, "accounts:batchGet")
    var users: [JSON] = []
    var next: String?
    repeat {
      let query = [QueryItem("maxResults", String(pageSize)), QueryItem("nextPageToken", next)].compactMap(\.self)
      let page = try await client.get(path, query: query)
      users += page.listed("users")
      next = page["nextPageToken"]?.string
    } while next != nil
    return users
  }
}
