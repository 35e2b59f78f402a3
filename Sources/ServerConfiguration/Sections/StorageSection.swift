/// `storage`: a store that is kept in PostgreSQL, so that several machines can serve it, one after the other.
struct StorageSection: ConfigurationSection {
  /// Shorter ones could be guessed.
  private static let keyLengthMin = 32

  /// Nil if something is wrong.
  let settings: ClusterSettings?

  init(_ reader: ConfigurationReader) {
    if !reader.has("postgres") {
      reader.report(
        "postgres",
        message:
          "\"\(reader.path("postgres"))\" is missing: a connection string such as postgresql://doubloon@db1,db2/doubloon, as "
          + "{\"file\": \"path\"}, {\"env\": \"NAME\"} or {\"credential\": \"NAME\"}.")
    }
    if !reader.has("sealingKey") {
      reader.report(
        "sealingKey",
        message:
          "\"\(reader.path("sealingKey"))\" is missing: what signing keys are sealed with in PostgreSQL, the same on all nodes. Make one "
          + "with \"openssl rand -hex 32\", and write {\"file\": \"path\"}.")
    }
    let url = reader.secret("postgres")
    let key = reader.secret("sealingKey")
    if let key, key.revealed.utf8.count < Self.keyLengthMin {
      reader.report("sealingKey", message: "This key is shorter than \(Self.keyLengthMin) characters, and could be guessed.")
    }
    let schema = reader.text("schema") ?? "doubloon"
    if !ClusterSettings.isSchema(schema) {
      reader.report("schema", message: "A schema's name is 1 to 40 lower-case letters, digits and underscores.")
    }
    let standbys = reader.text("standbys") ?? "required"
    if standbys != "required", standbys != "managed" {
      reader.report(
        "standbys",
        message:
          "\"\(reader.path("standbys"))\" is \"required\", or \"managed\" where the server's disk is kept on several machines.")
    }
    let address = reader.text("address")
    if let address, PortAddress(address) == nil {
      reader.report(
        "address", message: "\"\(reader.path("address"))\" is where other nodes reach this one, such as 10.0.0.1:9000.")
    }
    let reads = reader.text("staleReads")
    if let reads, PortAddress(reads) == nil {
      reader.report(
        "staleReads",
        message: "\"\(reader.path("staleReads"))\" is where this node answers reads that may be old, such as 0.0.0.0:9001.")
    }
    guard let url, let key else {
      settings = nil
      return
    }
    var settings = ClusterSettings(url: url.revealed)
    settings.schema = schema
    settings.allowsSingle = standbys == "managed"
    settings.address = address
    settings.staleReads = reads.flatMap(PortAddress.init)
    settings.sealingKey = Array(key.revealed.utf8)
    self.settings = settings
  }
}
