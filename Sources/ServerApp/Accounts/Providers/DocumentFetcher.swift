import AdminClient
import NIOCore
import NIOHTTP1
import TreeModel

/// Fetches the documents of identity providers: their discovery, and the keys of their tokens.
///
/// Over `https` only, the certificate verified, so that nobody between here and there chooses the keys. Bounded in time and
/// size; a redirect is refused, for it would let a document name a place that nobody configured.
struct DocumentFetcher: Sendable {
  /// A document, and how long it may be kept.
  struct Document: Sendable {
    let json: JSON
    /// The header `Cache-Control`, as sent.
    let cacheControl: String?
  }

  /// Bytes that a document may have.
  static let bytesMax = 512 << 10

  /// Certificates that vouch for the providers', for a provider of the house; nil for those that the system trusts.
  let authority: String?
  /// How long making the connection, and the answer, may take each.
  let timeout: TimeAmount

  /// - Parameters:
  ///   - authority: a file in PEM form.
  ///   - timeout: short, for somebody may be waiting to sign in.
  init(authority: String? = nil, timeout: TimeAmount = .seconds(5)) {
    self.authority = authority
    self.timeout = timeout
  }

  /// Fetches one document.
  ///
  /// - Parameter url: such as `https://accounts.google.com/.well-known/openid-configuration`.
  /// - Throws: ``AdminClientError`` with a sentence that names the address.
  func fetch(_ url: String) async throws(AdminClientError) -> Document {
    guard let (server, target) = Self.split(url) else {
      throw AdminClientError(.badAddress, "\"\(url)\" is no https address of a document.")
    }
    let limits = AdminClient.Limits(
      connectTimeout: timeout, requestTimeout: timeout, responseBytesMax: Self.bytesMax, idleConnectionsMax: 0)
    let client = try AdminClient(server: server, token: nil, authority: authority, limits: limits)
    let answer = try await client.send(.GET, target, headers: ["Accept": "application/json"])
    guard answer.status == 200 else {
      let why =
        (300..<400).contains(answer.status) ? "redirects, which is not followed" : "answered with status \(answer.status)"
      throw AdminClientError(.refused(status: answer.status), "\(url) \(why).")
    }
    do {
      return Document(
        json: try JSONParser.parse(answer.body, depthMax: 16), cacheControl: answer.headers.first(name: "cache-control"))
    } catch {
      throw AdminClientError(.badResponse, "What \(url) answered is no JSON: \(error)", cause: error)
    }
  }

  /// The server's address, and the path with its query.
  private static func split(_ url: String) -> (server: String, target: String)? {
    guard url.lowercased().hasPrefix("https://"), url.utf8.count <= 2048 else { return nil }
    let rest = url.dropFirst(8)
    let slash = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let target = rest[slash...].prefix { $0 != "#" }
    return ("https://" + rest[..<slash], target.first == "/" ? String(target) : "/" + target)
  }
}
