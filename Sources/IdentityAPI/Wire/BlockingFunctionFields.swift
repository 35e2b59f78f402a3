import Accounts
import TextFormats
import TreeModel

/// `blockingFunctions` of the project configuration
/// (https://cloud.google.com/identity-platform/docs/reference/rest/v2/Config#BlockingFunctionsConfig): which addresses are asked.
enum BlockingFunctionFields {
  private static let urlBytesMax = 2048

  static func targets(_ json: JSON) -> [SignInOccasion: String] {
    var targets: [SignInOccasion: String] = [:]
    for occasion in SignInOccasion.allCases {
      let url = json["blockingFunctions"]?["triggers"]?[occasion.rawValue]?["functionUri"]?.string
      targets[occasion] = url?.isEmpty == false ? url : nil
    }
    return targets
  }

  static func forwarded(_ json: JSON) -> ForwardedCredentials {
    let fields = json["blockingFunctions"]?["forwardInboundCredentials"]
    var forwarded = ForwardedCredentials()
    forwarded.idToken = fields?["idToken"]?.bool ?? false
    forwarded.accessToken = fields?["accessToken"]?.bool ?? false
    return forwarded
  }

  /// What is set; an empty object where nothing is.
  static func json(_ settings: AccountSettings) -> JSON {
    let (targets, forwarded) = (settings.decisionTargets, settings.forwardedCredentials)
    let triggers = JSON(
      fields: SignInOccasion.allCases.map { occasion in
        (occasion.rawValue, targets[occasion].map { ["functionUri": .string($0)] })
      })
    let credentials = JSON(fields: [
      ("idToken", forwarded.idToken ? true : JSON?.none), ("accessToken", forwarded.accessToken ? true : JSON?.none),
    ])
    return JSON(fields: [
      ("triggers", targets.isEmpty ? JSON?.none : triggers),
      ("forwardInboundCredentials", forwarded == ForwardedCredentials() ? JSON?.none : credentials),
    ])
  }

  /// Refuses an address that could not be asked.
  static func check(_ body: JSON, inDevelopment isDevelopment: Bool) throws {
    for (occasion, text) in targets(body) {
      let url = URLParts(text)
      let scheme = url.scheme?.lowercased()
      let isAllowed = scheme == "https" || (isDevelopment && scheme == "http")
      guard isAllowed, url.authority?.isEmpty == false, text.utf8.count <= urlBytesMax else {
        throw IdentityError(
          "INVALID_BLOCKING_FUNCTION",
          "((The address of \(occasion.rawValue) must be an https address\(isDevelopment ? ", or http in development" : "").))")
      }
    }
  }

  /// A member that stands for nothing here.
  static func unknown(_ path: [String]) -> IdentityError {
    IdentityError(
      "INVALID_BLOCKING_FUNCTION",
      "((\(path.joined(separator: ".").prefix(100)) is not known; there are triggers.beforeCreate and triggers.beforeSignIn, each with "
        + "its functionUri, and forwardInboundCredentials with idToken and accessToken.))")
  }
}
