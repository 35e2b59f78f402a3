import HTTPServer

/// `listen`: where clients find the server, and who stands between.
struct ListenSection: ConfigurationSection {
  let host: String
  let port: Int
  /// Whether a proxy in front of the server speaks TLS with the clients.
  let isBehindProxy: Bool
  /// Whose word counts for who the client is; unless said otherwise, a proxy on this machine.
  let trustedProxies: [AddressRange]
  /// Milliseconds that requests in flight get when the server stops.
  let drain: Int64
  let connectionsMax: Int
  /// Connections of one client network; nil for as many as there may be altogether.
  let connectionsPerNetworkMax: Int?

  init(_ reader: ConfigurationReader) {
    host = reader.text("host") ?? "127.0.0.1"
    port = reader.integer("port", 0...65_535) ?? 9000
    isBehindProxy = reader.flag("behindProxy") ?? false
    // Without the proxy's word everybody would come from the proxy's address, and all players would share one limit.
    let isLocalProxy = isBehindProxy && ServerConfiguration.isLoopback(host)
    trustedProxies = (reader.texts("trustedProxies") ?? (isLocalProxy ? ["127.0.0.0/8", "::1"] : [])).compactMap { text in
      if let range = AddressRange(parsing: text) { return range }
      reader.fault(
        "trustedProxies", "\"\(text)\" is no address; write \"10.0.0.5\", \"10.0.0.0/8\" or \"fd00::/8\".")
      return nil
    }
    drain = reader.duration("drain", 0...600_000) ?? 10_000
    connectionsMax = reader.integer("connections", 1...1_000_000) ?? 100_000
    let isUnlimited = if case .bool(false) = reader.value("connectionsPerNetwork")?.content { true } else { false }
    connectionsPerNetworkMax = isUnlimited ? nil : reader.integer("connectionsPerNetwork", 1...1_000_000) ?? 1000
  }
}
