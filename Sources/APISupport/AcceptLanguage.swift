import MailContent
package import NIOHTTP1

/// The languages that a client reads, by its headers (RFC 9110 §12.5.4).
package enum AcceptLanguage {
  private static let bytesMax = 1024
  private static let rangesMax = 16

  /// The languages of a request, the best first: what a Firebase SDK was told to ask for, then what the browser reads.
  package static func locales(_ headers: HTTPHeaders) -> [String] {
    ["x-firebase-locale", "accept-language"].flatMap { name in headers.first(name: name).map(locales) ?? [] }
  }

  /// Reads `de-AT, de;q=0.9, en;q=0.5`; what is no language's name, and what is not wanted (`q=0`), is left out.
  package static func locales(_ header: String) -> [String] {
    guard header.utf8.count <= bytesMax else { return [] }
    var found: [(locale: String, weight: Double)] = []
    for range in header.split(separator: ",").prefix(rangesMax) {
      let parts = range.split(separator: ";").map { $0.filter { $0 != " " } }
      guard let locale = parts.first, TemplateCatalog.isLocale(locale) else { continue }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
      let weight = quality.map { Double($0) ?? 0 } ?? 1
      if weight > 0 { found.append((locale, weight)) }
    }
    // The first of equals stays the first.
    return found.enumerated().sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element.locale)
  }
}
