import APISupport

/// One entry of `admins`: a token that opens the administrators' surface, and the name its actions are recorded under.
struct AdminSection: ConfigurationSection {
  /// Shorter ones could be guessed.
  static let lengthMin = 20

  let token: AdminToken?

  init(_ reader: ConfigurationReader) {
    let name = reader.required("name", "ann")
    if !reader.has("token") {
      reader.fault("token", "\"\(reader.path("token"))\" is missing: write {\"file\": \"path\"} or {\"env\": \"NAME\"}.")
    }
    let secret = reader.secret("token")
    if let secret, secret.revealed.utf8.count < Self.lengthMin {
      reader.fault(
        "token",
        "This token is shorter than \(Self.lengthMin) characters, and could be guessed; make one with \"openssl rand -hex 32\"."
      )
    }
    if let secret, !secret.revealed.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) {
      reader.fault("token", "A token is letters, digits and punctuation of ASCII, without blanks.")
    }
    if let name, !name.utf8.allSatisfy({ (48...57).contains($0) || (97...122).contains($0 | 0x20) || "-_.@".utf8.contains($0) })
    {
      reader.fault("name", "An administrator's name is letters, digits, and - _ . @.")
    }
    if let name, let secret { token = AdminToken(name: name, secret: secret.revealed) } else { token = nil }
  }
}
