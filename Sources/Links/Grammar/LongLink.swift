/// A long link: a prefix and what it says.
public struct LongLink: Sendable, Hashable {
  /// The longest of the project's prefixes that holds it.
  public let prefix: LinkPrefix
  /// What it says, decoded.
  public let parameters: LinkParameters
  /// Whether something stood behind a `#`.
  public let hasFragment: Bool

  /// The longest link that is taken, in bytes.
  public static let lengthMax = 7168

  /// Reads `https://go.acme.test/r/?link=…`.
  ///
  /// - Parameter settings: knows the prefixes; the longest that holds the link is meant.
  /// - Throws: as the service answered (spec: links-messaging §2, failures).
  public init(_ text: String, settings: LinkSettings) throws(LinkFault) {
    guard text.utf8.count <= Self.lengthMax else {
      throw .invalid("The link is longer than \(Self.lengthMax) characters; shorten its texts.")
    }
    guard let url = LinkURL(text), url.scheme == "https", let query = url.parameters else {
      throw .invalid(
        "Long link is not parsable: \(text.prefix(200)). It must be https://PREFIX/?link=URL, percent-encoded.")
    }
    guard let prefix = settings.prefix(host: url.host + url.port, path: url.path) else {
      throw .invalid(
        "Your project does not own Dynamic Links domain: https://\(url.host)\(url.port). Add it to \"domains\" of the link settings."
      )
    }
    guard prefix.remainder(of: url.path)?.isEmpty == true else {
      throw .invalid("Long link is not parsable: \(text.prefix(200)). Its path must end with the prefix \(prefix).")
    }
    self.prefix = prefix
    parameters = LinkParameters(query)
    hasFragment = url.fragment != nil
  }
}
