import HTTPServer
import StorageCore

/// `rateLimits`: how often one address may ask for what.
struct RateLimitSection: ConfigurationSection {
  let limits: RequestLimits

  init(_ reader: ConfigurationReader) {
    let usual = RequestLimits()
    var limits = usual
    func read(_ key: String, _ place: WritableKeyPath<RequestLimits, RateLimit?>) {
      guard let fallback = usual[keyPath: place] else { return }
      limits[keyPath: place] = reader.rate(key, default: fallback)
    }
    read("reads", \.reads)
    read("writes", \.writes)
    read("socketWrites", \.socketWrites)
    read("socketWritesOfNetwork", \.socketWritesOfNetwork)
    read("connections", \.connections)
    read("admin", \.admin)
    read("accounts", \.accounts)
    read("links", \.links)
    read("others", \.others)
    self.limits = limits
  }
}
