import ClientRuntime
public import Foundation
import TreeModel

/// Reads links that open the app, or that led to its installation.
public final class DynamicLinks: Sendable {
  let runtime: AppRuntime
  private let auth: Auth
  private let forms: LinkForms

  init(_ runtime: AppRuntime, auth: Auth) {
    self.runtime = runtime
    self.auth = auth
    let scheme = [runtime.options.deepLinkURLScheme, runtime.options.bundleID].compactMap(\.self).first { !$0.isEmpty }
    forms = LinkForms(
      schemes: Set([scheme].compactMap { $0?.lowercased() }), prefixes: runtime.options.dynamicLinkDomains)
  }

  static var current: DynamicLinks { DoubloonApp.current.links }

  /// The links of the default app; never nil.
  public static func dynamicLinks() -> DynamicLinks! { current }

  /// The links of an app.
  public static func dynamicLinks(app: DoubloonApp) -> DynamicLinks { app.links }

  // MARK: The app's own scheme

  /// Whether a URL that opened the app by its scheme is a link: `SCHEME://google/link…`. The scheme is
  /// ``FirebaseOptions/deepLinkURLScheme``, or the bundle id.
  public func shouldHandleDynamicLink(fromCustomSchemeURL url: URL) -> Bool { forms.isOfScheme(url) }

  /// The link in a URL that opened the app by its scheme; nil if there is none.
  public func dynamicLink(fromCustomSchemeURL url: URL) -> DynamicLink? {
    forms.schemeParameters(url).map { DynamicLink(scheme: $0) }
  }

  /// The name of the first SDKs.
  @available(*, deprecated, renamed: "dynamicLink(fromCustomSchemeURL:)")
  public func dynamicLinkFromCustomSchemeURL(_ url: URL) -> DynamicLink? { dynamicLink(fromCustomSchemeURL: url) }

  // MARK: Universal links

  /// Whether a URL is one of the server's links, and if so what it says, in the closure. For any other URL the closure is not
  /// called.
  @discardableResult
  public func handleUniversalLink(_ url: URL, completion: @escaping (DynamicLink?, (any Error)?) -> Void) -> Bool {
    guard forms.kind(url) != nil else { return false }
    runtime.complete(completion) { try await self.dynamicLink(fromUniversalLink: url) }
    return true
  }

  /// What a link says that opened the app: a long one at once, a short one by asking the server.
  ///
  /// - Throws: ``DynamicLinksError`` with code 1 for what is none of the server's links.
  public func dynamicLink(fromUniversalLink url: URL) async throws -> DynamicLink {
    switch forms.kind(url) {
    case .long(let parameters):
      // The server counts it; what it says is known without.
      Task { try? await self.reopen(url) }
      return DynamicLink(long: parameters, link: url)
    case .short: return DynamicLink(try await reopen(url), confidence: .unique)
    case nil:
      let message =
        "\(url.absoluteString.prefix(200)) is none of the server's links; are its prefixes in dynamicLinkDomains of the options?"
      throw DynamicLinksError(.links, message, code: 1)
    }
  }

  /// What a link says that opened the app.
  @discardableResult
  public func dynamicLink(
    fromUniversalLink url: URL, completion: @escaping (DynamicLink?, (any Error)?) -> Void
  ) -> Bool {
    runtime.complete(completion) { try await self.dynamicLink(fromUniversalLink: url) }
    return forms.kind(url) != nil
  }

  /// The long link of a short one.
  public func resolveShortLink(_ url: URL) async throws -> URL {
    guard let long = DynamicLink(try await reopen(url), confidence: .unique).resolved else {
      throw DynamicLinksError(.links, "The server did not say what \(url.absoluteString.prefix(200)) stands for.")
    }
    return long
  }

  /// The long link of a short one.
  public func resolveShortLink(_ url: URL, completion: @escaping (URL?, (any Error)?) -> Void) {
    runtime.complete(completion) { try await self.resolveShortLink(url) }
  }

  /// Whether a URL has the form of the server's short links. Whether there is such a link only the server knows.
  public func matchesShortLinkFormat(_ url: URL) -> Bool {
    if case .short? = forms.kind(url) { true } else { false }
  }

  private func reopen(_ url: URL) async throws -> JSON {
    try await ask(
      "/v1/reopenAttribution", ["requestedLink": .string(url.absoluteString), "bundleId": .string(bundleID)], kind: .links)
  }

  // MARK: The first start

  /// Which link led to the installation: asked once for each installation, whether there is an answer or not.
  ///
  /// - `proof`: the link that the player or the store's page handed over, with its proof of a click; a code says nothing of a
  ///   link, and nil asks whether the server may guess. Nothing is read from a pasteboard.
  /// - Returns: nil where it was asked before, or nothing is known.
  public func firstOpen(proof: InviteProof? = nil) async throws -> FirstOpen? {
    let file = SessionFile(folder: runtime.options.storageFolder, name: "installation.json")
    guard file.read() == nil else { return nil }
    let os = ProcessInfo.processInfo.operatingSystemVersion
    var body: [JSON.Member] = [
      .init(key: "bundleId", value: .string(bundleID)),
      .init(key: "appInstallationTime", value: .int(runtime.clock.milliseconds / 1000)),
      .init(key: "osVersion", value: .string("\(os.majorVersion).\(os.minorVersion)")),
    ]
    if case .link(let text)? = proof { body.append(.init(key: "uniqueMatchLinkToCheck", value: .string(text))) }
    if case .referrer(let text)? = proof { body.append(.init(key: "installReferrer", value: .string(text))) }
    let json = try await ask("/v1/installAttribution", .object(body), kind: .links)
    do {
      try file.write(Array(#"{"attributed":true}"#.utf8))
    } catch {
      runtime.log(.error, "That this installation was attributed cannot be kept: \(error.localizedDescription)")
    }
    guard json["deepLink"]?.string != nil else { return nil }
    return FirstOpen(link: DynamicLink(json, confidence: nil), explanation: json["matchMessage"]?.string ?? "")
  }

  // MARK: What can be wrong

  /// Says whether links can work in this app, and what to change if not.
  public static func performDiagnostics(completion: ((String, Bool) -> Void)?) {
    let links = current
    let problems = links.problems
    let text = problems.isEmpty ? "Dynamic links: nothing is wrong." : problems.joined(separator: "\n")
    let boxed = completion.map { Boxed($0) }
    links.runtime.callbacks.call {
      boxed?.value(text, !problems.isEmpty)
    }
  }

  private var problems: [String] {
    var found: [String] = []
    if runtime.server == nil { found.append("No app is configured: call FirebaseApp.configure() first.") }
    if runtime.options.apiKey?.isEmpty != false {
      found.append("The options hold no apiKey: no link can be made. It is one of apiKeys in the server's links settings.")
    }
    if forms.schemes.isEmpty { found.append("The options hold neither deepLinkURLScheme nor bundleID: no URL opens this app.") }
    if forms.prefixes.isEmpty {
      found.append("dynamicLinkDomains is empty: only links of *.page.link are taken for the server's.")
    }
    return found
  }

  // MARK: Asking

  private var bundleID: String {
    let id = runtime.options.bundleID
    return id.isEmpty ? "unknown" : id
  }

  /// Asks the links' API.
  ///
  /// - Throws: ``DynamicLinksError``.
  func ask(_ target: String, _ body: JSON?, kind: DynamicLinksError.Kind, bearer: String? = nil) async throws -> JSON {
    do {
      return try await auth.client.service.call(body == nil ? "GET" : "POST", target, body: body, bearer: bearer)
    } catch let refusal as ServiceClient.Refusal {
      throw DynamicLinksError(
        kind, refusal.message, code: refusal.status, remoteStatus: refusal.json["error"]?["status"]?.string)
    } catch let error as TransportError {
      throw DynamicLinksError(kind, error.message)
    } catch let error as AuthError {
      throw DynamicLinksError(kind, error.message)
    }
  }

  /// The token of who is signed in; nil if nobody is.
  func bearer() async throws -> String? { try await auth.currentUser?.getIDToken() }

  func shorten(_ url: URL, options: DynamicLinkComponentsOptions?) async throws -> (url: URL, warnings: [String], code: String?)
  {
    guard runtime.options.apiKey?.isEmpty == false || runtime.server == nil else {
      throw DynamicLinksError(.builder, "API key is missing: set apiKey of the options to one of the links settings' keys.")
    }
    var body: [JSON.Member] = [.init(key: "longDynamicLink", value: .string(url.absoluteString))]
    switch options?.pathLength {
    case .short: body.append(.init(key: "suffix", value: ["option": "SHORT"]))
    case .unguessable: body.append(.init(key: "suffix", value: ["option": "UNGUESSABLE"]))
    case .default, nil: break
    }
    let json = try await ask("/v1/shortLinks", .object(body), kind: .builder, bearer: try await bearer())
    guard let short = json["shortLink"]?.string.flatMap({ URL(string: $0) }) else {
      throw DynamicLinksError(.builder, "Unrecognized server response: it holds no shortLink.")
    }
    return (short, json["warning"]?.array?.compactMap { $0["warningMessage"]?.string } ?? [], json["code"]?.string)
  }
}

/// What led to an installation.
public struct FirstOpen: Sendable {
  /// The link, with how sure it is.
  public let link: DynamicLink
  /// Why the server takes this link, for a log.
  public let explanation: String
}

/// The name of the first SDKs.
@available(*, deprecated, renamed: "DynamicLinks")
public typealias FIRDynamicLinks = DynamicLinks

/// The name of the first SDKs.
@available(*, deprecated, renamed: "DynamicLink")
public typealias FIRDynamicLink = DynamicLink
