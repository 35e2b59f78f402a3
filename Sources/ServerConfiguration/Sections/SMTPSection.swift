import Mail

/// `mail.smtp`: the server that takes the mail.
struct SMTPSection: ConfigurationSection {
  let configuration: SMTPConfiguration?

  init(_ reader: ConfigurationReader) {
    let host = reader.required("host", "smtp.example.com")
    let securities = ["starttls", "tls", "none"]
    let security = reader.choice("security", securities).flatMap(SMTPConfiguration.Security.init(rawValue:)) ?? .startTLS
    let port = reader.integer("port", 1...65_535) ?? security.usualPort
    let user = reader.text("user")
    let password = reader.secret("password")
    if (user == nil) != !reader.has("password") {
      reader.fault(user == nil ? "password" : "user", "\"user\" and \"password\" belong together; give both, or none.")
    }
    if security == .none, user != nil, let host, !SMTPConfiguration.isLoopback(host) {
      reader.fault("security", "A password is not sent without TLS; write \"security\": \"starttls\" or \"tls\".")
    }
    let authority = reader.path(of: "ca")
    let greeting = reader.text("hello")
    let timeout = reader.duration("timeout", 1000...600_000) ?? 60_000
    guard let host else {
      configuration = nil
      return
    }
    var configuration = SMTPConfiguration(host: host, port: port, security: security)
    if let user, let password { configuration.login = .init(user: user, password: password.revealed) }
    configuration.authorityFile = authority
    if let greeting { configuration.greeting = greeting }
    configuration.timeoutMilliseconds = timeout
    self.configuration = configuration
  }
}
