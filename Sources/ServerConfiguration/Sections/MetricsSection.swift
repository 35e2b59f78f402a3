/// `metrics`: where this machine's own monitoring reads the metrics.
struct MetricsSection: ConfigurationSection {
  let host: String
  let port: Int

  init(_ reader: ConfigurationReader) {
    host = reader.text("host") ?? "127.0.0.1"
    // The port that Prometheus' registry has for exporters of this kind.
    port = reader.integer("port", 0...65_535) ?? 9464
    guard !ServerConfiguration.isLoopback(host) else { return }
    reader.fault(
      "host",
      "Whoever reaches \(host) would read the metrics without a key: name an address of this machine, such as 127.0.0.1, or "
        + "leave \"metrics\" out and send a key to the clients' port.")
  }
}
