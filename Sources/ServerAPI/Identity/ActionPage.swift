import Accounts
import NIOCore
import NIOHTTP1
import TreeModel

/// What a link in a mail leads to (spec: auth-protocol §2.5): applies the code, or asks for the new password.
///
/// A browser is shown a page with a button first: programs that look through mail follow links, and would use up the code.
/// Everybody else gets JSON, as from emulators.
struct ActionPage {
  let surface: IdentitySurface

  func respond(to request: HTTPRequest, _ query: QueryString) async throws(AccountError) -> HTTPResponse {
    guard request.method == .GET || request.method == .POST else { throw .notFound("Not Found.") }
    let form = request.method == .POST ? request.body.flatMap { QueryString(parsing: $0.readableBytesView) } : nil
    let value = { (name: String) in form?[name] ?? query[name] }
    let isBrowser = request.headers.first(name: "accept")?.contains("text/html") == true
    guard let code = value("oobCode"), !code.isEmpty else { throw AccountError("MISSING_OOB_CODE") }
    guard let mode = value("mode") else { throw AccountError("INVALID_REQ_TYPE", "The link has no mode.") }
    let key = value("apiKey") ?? "fake-api-key"
    if mode == "signIn" { return try redirect(value, code: code, key: key) }
    let isReset = mode == "resetPassword"
    let password = value("newPassword")
    if isBrowser, form == nil || (isReset && (password ?? "").isEmpty) {
      return ActionText.question(asksPassword: isReset, title: Self.title(mode))
    }
    do throws(AccountError) {
      let email = try await apply(mode, code, password, request, key: key)
      if isBrowser { return ActionText.page("Done", "\(Self.title(mode)): done for \(email).") }
      if let next = value("continueUrl"), surface.book.mayContinue(at: next), let location = ActionText.location(next) {
        return Self.redirect(to: location)
      }
      return .json(["authEmulator": ["success": .string("\(Self.title(mode)): done."), "email": .string(email)]])
    } catch {
      if isBrowser {
        return ActionText.page(
          "This link does not work any more", "It was used, or its time is over (\(error.code)). Ask for another one.",
          status: .badRequest)
      }
      return .json(
        ["authEmulator": ["error": .string(error.message), "instructions": "Ask for another code; each is good once."]],
        status: .badRequest)
    }
  }

  private func apply(_ mode: String, _ code: String, _ password: String?, _ request: HTTPRequest, key: String)
    async throws(AccountError) -> String
  {
    var members: [(String, JSON?)] = [("oobCode", .string(code))]
    if mode == "resetPassword" {
      guard let password, !password.isEmpty else {
        throw AccountError("MISSING_PASSWORD", "Append &newPassword= with the new password to the link.")
      }
      members.append(("newPassword", .string(password)))
    } else if !["verifyEmail", "verifyAndChangeEmail", "recoverEmail"].contains(mode) {
      throw AccountError("INVALID_REQ_TYPE", "The mode \(mode.prefix(40)) is unknown.")
    }
    let plain = HTTPRequest(method: .POST, uri: request.uri, headers: ["x-goog-api-key": key], body: nil)
    let call = try await surface.call(plain, QueryString(), project: nil).with(IdentityFields(.record(members)))
    let answer = mode == "resetPassword" ? try await surface.book.resetPassword(call) : try await surface.book.update(call)
    return answer["email"]?.string ?? ""
  }

  /// A sign-in is finished by the application, which gets the code.
  private func redirect(_ value: (String) -> String?, code: String, key: String) throws(AccountError) -> HTTPResponse {
    guard let next = value("continueUrl"), surface.book.mayContinue(at: next), let location = ActionText.location(next) else {
      throw AccountError("MISSING_CONTINUE_URI", "The link has no continueUrl to go on to.")
    }
    var parameters = [("mode", "signIn"), ("lang", value("lang") ?? "en"), ("oobCode", code), ("apiKey", key)]
    parameters.append(("continueUrl", next))
    let query = parameters.map { "\($0.0)=\(ActionText.encoded($0.1))" }.joined(separator: "&")
    let parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let joined = parts[0] + (parts[0].contains("?") ? "&" : "?") + query + (parts.count > 1 ? "#" + parts[1] : "")
    return Self.redirect(to: joined)
  }

  private static func redirect(to location: String) -> HTTPResponse {
    HTTPResponse.empty(.seeOther).adding("Location", location).adding("Referrer-Policy", "no-referrer")
  }

  private static func title(_ mode: String) -> String {
    switch mode {
    case "resetPassword": "Set a new password"
    case "verifyEmail": "Confirm your address"
    case "verifyAndChangeEmail": "Confirm your new address"
    case "recoverEmail": "Take back the change of your address"
    default: "Account"
    }
  }
}
