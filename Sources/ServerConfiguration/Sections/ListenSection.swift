import HTTPServer
import StorageCore

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
    port = reader.integer("port", range: 0...65_535) ?? 9000
    isBehindProxy = reader.flag("behindProxy") ?? false
    // Without the proxy's word everybody would come from the proxy's address, and all players would share one limit.
    let isLocalProxy = isBehindProxy && ServerConfiguration.isLoopback(host)
    trustedProxies = (reader.texts("trustedProxies") ?? (isLocalProxy ? ["127.0.0.0/8", "::1"] : [])).compactMap { text in
      if let range = AddressRange(parsing: text) { return range }
      reader.report(
        "trustedProxies", message: "\"\(text)\" is no address; write \"10.0.0.5\", \"10.0.0.0/8\" or \"fd00::/8\".")
      return nil
    }
    drain = reader.duration("drain", range: 0...600_000) ?? 10_000
    connectionsMax = reader.integer("connections", range: 1...1_000_000) ?? 100_000
    let isUnlimited = if case .bool(false) = reader.value("connectionsPerNetwork")?.content { true } else { false }
    connectionsPerNetworkMax = isUnlimited ? nil : reader.integer("connectionsPerNetwork", range: 1...1_000_000) ?? 1000
  }
}

/// `metrics`: where this machine's own monitoring reads the metrics.
struct MetricsSection: ConfigurationSection {
  let host: String
  let port: Int

  init(_ reader: ConfigurationReader) {
    host = reader.text("host") ?? "127.0.0.1"
    // The port that Prometheus' registry has for exporters of this kind.
    port = reader.integer("port", range: 0...65_535) ?? 9464
    guard !ServerConfiguration.isLoopback(host) else { return }
    reader.report(
      "host",
      message:
        "Everybody who reaches \(host) would read the metrics without a key: name an address of this machine, such as 127.0.0.1, or "
        + "leave \"metrics\" out and send a key to the clients' port.")
  }
}

/// One entry of `tls`: the files of a certificate and its key.
struct CertificateSection: ConfigurationSection {
  let files: CertificateFiles?

  init(_ reader: ConfigurationReader) {
    for key in ["certificate", "key"] where !reader.has(key) {
      reader.report(key, message: "\"\(reader.path(key))\" is missing: a certificate and its key are two files in PEM form.")
    }
    // Both are asked for first: what is wrong with either is said at once.
    let certificate = reader.path(of: "certificate")
    let key = reader.path(of: "key")
    guard let certificate, let key else {
      files = nil
      return
    }
    files = CertificateFiles(certificate: certificate, key: key)
    reader.warnIfOpen(key, key: "key")
    do {
      _ = try CertificateFiles(certificate: certificate, key: key).load(with: reader.surroundings.file)
    } catch {
      reader.report(error.isAboutKey ? "key" : "certificate", message: error.message)
    }
  }
}

/// `rateLimits`: how often one address may ask for what.
struct RateLimitSection: ConfigurationSection {
  let limits: RequestLimits

  init(_ reader: ConfigurationReader) {
    let usual = RequestLimits()
    var limits = usual
    func read(_ key: String, _ field: WritableKeyPath<RequestLimits, RateLimit?>) {
      guard let fallback = usual[keyPath: field] else { return }
      limits[keyPath: field] = reader.rate(key, default: fallback)
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
    read("administrators", \.administrators)
    self.limits = limits
  }
}

/// `limits`: how much one request and one commit may do.
struct LimitsSection: ConfigurationSection {
  let writes: WriteLimits
  /// Bytes of body of a request; nil for the usual.
  let requestBytesMax: Int?
  /// Places and queries that all realtime clients of one network may listen to.
  let listensPerNetworkMax: Int
  /// Bytes of input that all clients together may leave unfinished; nil for the usual.
  let unfinishedInputMax: Int?
  /// Bytes of output that all clients together may leave unread; nil for the usual.
  let unreadOutputMax: Int?
  /// Threads that run functions; nil for the usual.
  let runners: Int?
  /// Threads that answer requests; nil for one for each core.
  let eventLoops: Int?

  init(_ reader: ConfigurationReader) {
    var writes = WriteLimits()
    writes.leavesMax = reader.integer("commitLeaves", range: 1...10_000_000) ?? writes.leavesMax
    writes.bytesMax = reader.size("commitBytes", range: 1024...(1 << 30)) ?? writes.bytesMax
    writes.eventsMax = reader.integer("commitEvents", range: 1...1_000_000) ?? writes.eventsMax
    writes.eventBytesMax = reader.size("eventBytes", range: 1024...(256 << 20)) ?? writes.eventBytesMax
    writes.hopsMax = reader.integer("hops", range: 1...64) ?? writes.hopsMax
    writes.queueMax = reader.integer("waitingWrites", range: 16...1_000_000) ?? writes.queueMax
    self.writes = writes
    requestBytesMax = reader.size("requestBytes", range: 1024...(1 << 30))
    listensPerNetworkMax = reader.integer("listensPerNetwork", range: 1...100_000_000) ?? 100_000
    unfinishedInputMax = reader.size("unfinishedInput", range: (1 << 20)...(64 << 30))
    unreadOutputMax = reader.size("unreadOutput", range: (1 << 20)...(64 << 30))
    runners = reader.integer("functionThreads", range: 1...256)
    eventLoops = reader.integer("requestThreads", range: 1...256)
  }
}
