import APISupport
import Accounts
import HTTPServer
import NIOCore
import NIOHTTP1
import StorageCore
import TextFormats
import TreeModel

/// What a link in a mail leads to: applies the code, or asks for the new password.
///
/// A browser is shown a page with a button first: programs that look through mail follow links, and would use up the code. The
/// button posts a form, which has no field but a new password. Everybody else gets JSON, as from emulators; but in production
/// no GET uses a code, whatever it says it accepts: not all programs that follow links say that they are browsers.
struct ActionPage {
  let surface: IdentitySurface

  func respond(to request: HTTPRequest, query: QueryString) async throws -> HTTPResponse {
    guard request.method == .GET || request.method == .POST else { throw IdentityError.notFound("Not Found.") }
    let form = request.method == .POST ? request.body.flatMap { QueryString(parsing: $0.readableBytesView) } : nil
    let link = Link(request: request, query: query, form: form)
    let isBrowser = request.headers.first(name: "accept")?.contains("text/html") == true
    if !isBrowser, surface.accounts.options.isDevelopment || request.method == .POST { return try await data(link) }
    do {
      return try await page(link)
    } catch {
      return ActionText.page(
        link.words.deadLink, text: "\(link.words.askAgain) (\(IdentityError(error).code))", words: link.words,
        status: .badRequest)
    }
  }

  /// A link that was followed, with what was filled in behind it.
  private struct Link {
    let request: HTTPRequest
    let query: QueryString
    let form: QueryString?
    let words: ActionWords

    init(request: HTTPRequest, query: QueryString, form: QueryString?) {
      self.request = request
      self.query = query
      self.form = form
      // The mail's language, which somebody chose, before the browser's.
      words = ActionWords.chosen(from: (query["lang"].map { [$0] } ?? []) + AcceptLanguage.locales(request.headers))
    }

    subscript(name: String) -> String? { form?[name] ?? query[name] }
    var password: String? { self["newPassword"].flatMap { $0.isEmpty ? nil : $0 } }
    var key: String { self["apiKey"] ?? "fake-api-key" }

    var code: String {
      get throws {
        guard let code = self["oobCode"], !code.isEmpty else { throw IdentityError("MISSING_OOB_CODE") }
        return code
      }
    }

    var mode: ActionMode {
      get throws {
        guard let text = self["mode"] else { throw IdentityError("INVALID_REQ_TYPE", "The link has no mode.") }
        guard let mode = ActionMode(rawValue: text) else {
          throw IdentityError("INVALID_REQ_TYPE", "The mode \(text.prefix(40)) is unknown.")
        }
        return mode
      }
    }
  }

  // MARK: For browsers

  private func page(_ link: Link) async throws -> HTTPResponse {
    let (code, mode, words) = (try link.code, try link.mode, link.words)
    if mode == .signIn { return try redirect(link, code: code) }
    // Whether a form came is told by the method: a form without fields has no body.
    guard link.request.method == .POST, mode != .resetPassword || link.password != nil else {
      return try await question(link, mode: mode)
    }
    do {
      let email = try await apply(mode, code: code, link: link)
      return ActionText.page(
        words.done, text: words.done(mode, email: email), words: words,
        form: next(link).map { ActionText.link($0, words.goOn) } ?? "")
    } catch {
      let error = IdentityError(error)
      let mayRepeat = error.status == 503 || error.code == "TOO_MANY_ATTEMPTS_TRY_LATER"
      let isWeak = ["WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS"].contains(error.code)
      guard mayRepeat || isWeak else { throw error }
      return try await question(link, mode: mode, message: isWeak ? words.weakPassword : words.tryAgain, status: error.status)
    }
  }

  /// Asks before something is done, and again if it could not be done; the form goes to the same address.
  private func question(_ link: Link, mode: ActionMode, message: String = "", status: Int = 200) async throws
    -> HTTPResponse
  {
    let context = try await context(link)
    let least = try surface.accounts.settings(of: context.project).passwordPolicy.minLength
    return ActionText.question(
      link.words, mode: mode, message: message.replacing("%", with: String(least)), lengthMin: least,
      status: HTTPResponseStatus(statusCode: status))
  }

  // MARK: For programs

  private func data(_ link: Link) async throws -> HTTPResponse {
    let (code, mode) = (try link.code, try link.mode)
    if mode == .signIn { return try redirect(link, code: code) }
    let title = ActionWords.english.title(mode)
    do {
      let email = try await apply(mode, code: code, link: link)
      if let next = next(link) { return Self.redirect(to: next) }
      return .json(["authEmulator": ["success": .string("\(title): done."), "email": .string(email)]])
    } catch {
      return .json(
        [
          "authEmulator": [
            "error": .string(IdentityError(error).message), "instructions": "Ask for another code; each is good once.",
          ]
        ],
        status: .badRequest)
    }
  }

  // MARK: Both

  private func apply(_ mode: ActionMode, code: String, link: Link) async throws -> String {
    let codes = surface.accounts.emailCodes
    guard mode == .resetPassword else {
      return try await codes.apply(code, context: try await context(link)).account.email ?? ""
    }
    guard let password = link.password else {
      throw IdentityError("MISSING_PASSWORD", "Append &newPassword= with the new password to the link.")
    }
    return try await codes.resetPassword(code, to: password, context: try await context(link)).email ?? ""
  }

  /// Who follows the link, and from where.
  private func context(_ link: Link) async throws -> AccountContext {
    let plain = HTTPRequest(
      method: .POST, uri: link.request.uri, headers: ["x-goog-api-key": link.key], client: link.request.client)
    return try await surface.call(plain, query: QueryString(), project: nil, tenant: link["tenantId"]).context
  }

  /// Where the application wants its player afterwards; nil if it did not say, or may not send players there.
  private func next(_ link: Link) -> String? {
    guard let next = link["continueUrl"], surface.accounts.emailCodes.mayContinue(at: next) else { return nil }
    return ActionText.location(next)
  }

  /// A sign-in is finished by the application, which gets the code.
  private func redirect(_ link: Link, code: String) throws -> HTTPResponse {
    guard let location = next(link) else {
      throw IdentityError("MISSING_CONTINUE_URI", "The link has no continueUrl to go on to.")
    }
    var parameters = [("mode", "signIn"), ("lang", link["lang"] ?? "en"), ("oobCode", code), ("apiKey", link.key)]
    if let tenant = link["tenantId"] { parameters.append(("tenantId", tenant)) }
    parameters.append(("continueUrl", location))
    let query = parameters.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    let parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let joined = parts[0] + (parts[0].contains("?") ? "&" : "?") + query + (parts.count > 1 ? "#" + parts[1] : "")
    return Self.redirect(to: joined)
  }

  private static func redirect(to location: String) -> HTTPResponse {
    HTTPResponse.empty(.seeOther).adding("Location", value: location).adding("Referrer-Policy", value: "no-referrer")
  }
}

/// What a link in a mail is for, as its `mode` says it.
enum ActionMode: String, Sendable, Hashable, CaseIterable {
  case verifyEmail, resetPassword, verifyAndChangeEmail, recoverEmail, signIn
}
