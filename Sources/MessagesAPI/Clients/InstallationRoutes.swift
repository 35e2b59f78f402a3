import HTTPServer
import Messages
import NIOHTTP1
import TreeModel

/// Installations: an app gets a name and a token for what it fetches and reports. In the shapes of Firebase's installations
/// service, whose clients are public (https://github.com/firebase/firebase-ios-sdk, `FirebaseInstallations`).
enum InstallationRoutes {
  static let routes: [Route] = [
    .client(.POST, "/v1/projects/{project}/installations", summary: "Registers an installation of an app.", body: register),
    .client(
      .POST, "/v1/projects/{project}/installations/{fid}/authTokens:generate", summary: "A new token of an installation.",
      body: generate),
    .client(
      .DELETE, "/v1/projects/{project}/installations/{fid}",
      summary: "Removes an installation, and what is known of it.", body: delete),
  ]

  private static let lifetime = JSON.string("\(MessageService.tokenLifetime / 1000)s")

  @Sendable private static func register(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    try access.checkKey()
    guard access.messages.admits("register/\(access.call.request.client.clientNetwork)", logging: false) else {
      throw MessagesAPIError(.resourceExhausted, "Too many installations from one network; try again later.")
    }
    guard let app = json["appId"]?.string, (1...200).contains(app.utf8.count) else {
      throw MessagesAPIError(.invalidArgument, "appId must be a text of 1 to 200 bytes.")
    }
    let made = try await access.messages.register(json["fid"]?.string, appID: app)
    let project = access.call.captures["project"] ?? ""
    return [
      "name": .string("projects/\(project)/installations/\(made.instance)"), "fid": .string(made.instance),
      "refreshToken": .string(made.refreshToken), "authToken": ["token": .string(made.token), "expiresIn": lifetime],
    ]
  }

  @Sendable private static func generate(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    try access.checkKey()
    let token = try await access.messages.refresh(
      access.call.captures["fid"] ?? "", refreshToken: try refreshToken(access))
    return ["token": .string(token), "expiresIn": lifetime]
  }

  @Sendable private static func delete(_ access: MessageAccess, body json: JSON) async throws -> JSON {
    try access.checkKey()
    try await access.messages.unregister(access.call.captures["fid"] ?? "", refreshToken: try refreshToken(access))
    return [:]
  }

  /// The token behind `FIS_v2` in the `Authorization` header.
  private static func refreshToken(_ access: MessageAccess) throws -> String {
    let words = (access.header("authorization") ?? "").split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "fis_v2" else {
      throw MessagesAPIError(.unauthenticated, "Send the refresh token: Authorization: FIS_v2 REFRESH_TOKEN.")
    }
    return String(words[1])
  }
}
