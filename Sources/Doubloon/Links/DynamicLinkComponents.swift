import ClientRuntime
public import Foundation
import TextFormats
import TreeModel

/// Builds a link that opens the app at a place, after an installation too.
///
/// Its members may be changed until the link is made; all of them may be called from any thread.
public final class DynamicLinkComponents: Sendable {
  private struct State {
    var link: URL
    var prefix: String
    var ios: DynamicLinkIOSParameters?
    var android: DynamicLinkAndroidParameters?
    var analytics: DynamicLinkGoogleAnalyticsParameters?
    var social: DynamicLinkSocialMetaTagParameters?
    var iTunes: DynamicLinkItunesConnectAnalyticsParameters?
    var navigation: DynamicLinkNavigationInfoParameters?
    var others: DynamicLinkOtherPlatformParameters?
    var options: DynamicLinkComponentsOptions?
  }

  /// What closures get of a short link: it, warnings of the server, or an error.
  public typealias Completion = (URL?, [String]?, (any Error)?) -> Void

  private let state: Locked<State>

  /// - `link`: where the app, or a browser, is led.
  /// - `prefix`: one of the server's, such as `https://go.example.com/r`. Nil comes back if that is no `https` URL.
  public init?(link: URL, domainURIPrefix prefix: String) {
    guard let url = URL(string: prefix), url.scheme?.lowercased() == "https", url.host?.isEmpty == false else { return nil }
    state = Locked(State(link: link, prefix: prefix))
  }

  /// A bare host instead of a prefix, as in the first versions of Firebase's SDK.
  public init(link: URL, domain: String) {
    state = Locked(State(link: link, prefix: "https://" + domain))
  }

  private subscript<Value>(path: WritableKeyPath<State, Value>) -> Value {
    get { state.withLock { $0[keyPath: path] } }
    set { state.withLock { $0[keyPath: path] = newValue } }
  }

  /// Where the app is led: the payload, not the dynamic link, which is ``url``.
  public var link: URL {
    get { self[\.link] }
    set { self[\.link] = newValue }
  }
  /// One of the server's prefixes.
  public var domainURIPrefix: String? {
    get { self[\.prefix] }
    set { self[\.prefix] = newValue ?? "" }
  }
  /// The iOS app.
  public var iOSParameters: DynamicLinkIOSParameters! {
    get { self[\.ios] }
    set { self[\.ios] = newValue }
  }
  /// The Android app.
  public var androidParameters: DynamicLinkAndroidParameters! {
    get { self[\.android] }
    set { self[\.android] = newValue }
  }
  /// Where the link came from.
  public var analyticsParameters: DynamicLinkGoogleAnalyticsParameters! {
    get { self[\.analytics] }
    set { self[\.analytics] = newValue }
  }
  /// How the link looks where it is posted.
  public var socialMetaTagParameters: DynamicLinkSocialMetaTagParameters! {
    get { self[\.social] }
    set { self[\.social] = newValue }
  }
  /// What is handed to the App Store.
  public var iTunesConnectParameters: DynamicLinkItunesConnectAnalyticsParameters! {
    get { self[\.iTunes] }
    set { self[\.iTunes] = newValue }
  }
  /// How the link behaves on iOS.
  public var navigationInfoParameters: DynamicLinkNavigationInfoParameters! {
    get { self[\.navigation] }
    set { self[\.navigation] = newValue }
  }
  /// Other systems.
  public var otherPlatformParameters: DynamicLinkOtherPlatformParameters! {
    get { self[\.others] }
    set { self[\.others] = newValue }
  }
  /// How a short link is made.
  public var options: DynamicLinkComponentsOptions! {
    get { self[\.options] }
    set { self[\.options] = newValue }
  }

  /// The long link; nil if it would be no URL.
  public var url: URL? {
    let state = state.copy
    var prefix = state.prefix
    while prefix.hasSuffix("/") { prefix.removeLast() }
    guard URL(string: prefix)?.host?.isEmpty == false, !state.link.absoluteString.isEmpty else { return nil }
    let parts: [LinkParameters?] = [
      state.ios, state.android, state.analytics, state.social, state.iTunes, state.navigation, state.others,
    ]
    var items = parts.compactMap(\.self).reduce(into: [String: String]()) { items, part in
      items.merge(part.items, uniquingKeysWith: { $1 })
    }
    items["link"] = state.link.absoluteString
    let query = items.sorted { $0.key < $1.key }.map { "\($0)=\(PercentEncoding.encode($1))" }
    return URL(string: "\(prefix)/?\(query.joined(separator: "&"))")
  }

  // MARK: Short links

  /// Makes a short link. A signed-in player is its inviter: who opens it can claim.
  ///
  /// - Returns: the link, and the server's warnings about it.
  public func shorten() async throws -> (URL, [String]) {
    guard let url else { throw DynamicLinksError(.builder, "The link cannot be built: link or domainURIPrefix is no URL.") }
    let made = try await DynamicLinks.current.shorten(url, options: options)
    return (made.url, made.warnings)
  }

  /// Makes a short link. The closure is called once, on the callback queue.
  public func shorten(completion: @escaping Completion) {
    let app = DynamicLinks.current
    Self.complete(app, for: completion) { try await self.shorten() }
  }

  /// Makes a short link of a long one.
  public static func shortenURL(_ url: URL, options: DynamicLinkComponentsOptions?) async throws -> (URL, [String]) {
    let made = try await DynamicLinks.current.shorten(url, options: options)
    return (made.url, made.warnings)
  }

  /// Makes a short link of a long one. The closure is called once, on the callback queue.
  public static func shortenURL(
    _ url: URL, options: DynamicLinkComponentsOptions?, completion: @escaping Completion
  ) {
    complete(DynamicLinks.current, for: completion) { try await shortenURL(url, options: options) }
  }

  /// Makes a short link of a long one. The closure is called once, on the callback queue.
  public static func shortenURL(
    url: URL, options: DynamicLinkComponentsOptions?, completion: @escaping Completion
  ) {
    shortenURL(url, options: options, completion: completion)
  }

  private static func complete(
    _ app: DynamicLinks, for completion: @escaping Completion, _ body: @escaping @Sendable () async throws -> (URL, [String])
  ) {
    let boxed = Boxed(completion)
    app.runtime.complete({ (made: (URL, [String])?, error: (any Error)?) in boxed.value(made?.0, made?.1, error) }, by: body)
  }
}

/// Why a link could not be made or read.
public struct DynamicLinksError: Error, CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
  /// Which part of Firebase's SDK has errors like it.
  public enum Kind: Sendable, Equatable {
    /// A link could not be made, or the server refused to.
    case builder
    /// A link could not be read.
    case links
  }

  /// Making or reading.
  public let kind: Kind
  /// 1 for what is no link of the server's; else the status of the server's answer, or 0.
  public let code: Int
  /// What happened, and what to do.
  public let message: String
  /// Google's word for a status, such as `PERMISSION_DENIED`; nil where the server was not asked.
  public let remoteStatus: String?

  init(_ kind: Kind, _ message: String, code: Int = 0, remoteStatus: String? = nil) {
    self.kind = kind
    self.code = code
    self.message = message
    self.remoteStatus = remoteStatus
  }

  /// As an `NSError` it has the domain of its kind; this is that of ``Kind/links``.
  public static var errorDomain: String { "com.firebase.dynamicLinks" }
  /// The status for links, 0 for building.
  public var errorCode: Int { kind == .links ? code : 0 }
  public var errorDescription: String? { message }
  public var description: String { message }
  /// The sentence, and the server's word.
  public var errorUserInfo: [String: Any] {
    var members: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let remoteStatus { (members["remoteStatus"], members["remoteErrorCode"]) = (remoteStatus, code) }
    return members
  }
}
