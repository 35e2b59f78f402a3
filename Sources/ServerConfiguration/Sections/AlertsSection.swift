package import Mail
import TextFormats

/// `alerts`: whom the server tells when something needs a person.
struct AlertsSection: ConfigurationSection {
  let settings: AlertSettings

  init(_ reader: ConfigurationReader) {
    var settings = AlertSettings()
    settings.webhook = reader.optionalSection("webhook", type: WebhookSection.self)?.webhook
    settings.mail = (reader.texts("mail") ?? []).compactMap { text in
      do throws(MailAddressError) {
        return try MailAddress(parsing: text)
      } catch {
        reader.report("mail", message: "\"\(text)\": \(error.message)")
        return nil
      }
    }
    settings.minimumInterval = reader.duration("minimumInterval", range: 1000...604_800_000) ?? settings.minimumInterval
    settings.diskFreeMin = reader.size("diskFree", range: 0...(1 << 50)).map { Int64($0) } ?? settings.diskFreeMin
    settings.certificateLeftMin = reader.duration("certificateLeft", range: 0...31_536_000_000) ?? settings.certificateLeftMin
    settings.backupAgeMax = reader.duration("backupAge", range: 60_000...31_536_000_000)
    if !reader.has("webhook"), !reader.has("mail") {
      reader.report("webhook", message: "\"alerts\" tells nobody: give it a \"webhook\", \"mail\", or both.")
    }
    self.settings = settings
  }
}

/// `alerts.webhook`: an address that alerts are posted to.
struct WebhookSection: ConfigurationSection {
  /// Shorter ones could be guessed, and alerts forged.
  static let secretMin = 16

  /// Nil if something is wrong.
  let webhook: AlertSettings.Webhook?

  init(_ reader: ConfigurationReader) {
    let url = reader.required("url", example: "https://alerts.example.com/doubloon")
    let isUsable = url.map(Self.isUsable) ?? false
    if url != nil, !isUsable {
      reader.report(
        "url",
        message:
          "\"\(reader.path("url"))\" must be an address that begins with https://, or with http:// where it is one of this "
          + "machine, without # and without a name and a password.")
    }
    if !reader.has("secret") {
      reader.report(
        "secret",
        message:
          "\"\(reader.path("secret"))\" is missing: what signs alerts, so that the receiver knows them; write {\"file\": \"path\"} "
          + "or {\"env\": \"NAME\"}.")
    }
    let secret = reader.secret("secret")
    if let secret, secret.revealed.utf8.count < Self.secretMin {
      reader.report(
        "secret",
        message:
          "This secret is shorter than \(Self.secretMin) characters, and could be guessed; make one with \"openssl rand -hex 32\"."
      )
    }
    let authority = reader.path(of: "ca")
    guard let url, isUsable, let secret else {
      webhook = nil
      return
    }
    webhook = AlertSettings.Webhook(url: url, secret: secret.revealed, authority: authority)
  }

  private static func isUsable(_ text: String) -> Bool {
    let url = URLParts(text)
    guard text.utf8.count <= 1024, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: "\"") }),
      let authority = url.authority.flatMap({ URLAuthority($0) }), authority.userInfo == nil, !authority.host.isEmpty,
      url.fragment == nil
    else { return false }
    switch url.scheme?.lowercased() {
    case "https": return true
    case "http": return ServerConfiguration.isLoopback(String(authority.host))
    default: return false
    }
  }
}

/// Whom a server tells when something needs a person, and when it does.
package struct AlertSettings: Sendable {
  /// An address that alerts are posted to.
  package struct Webhook: Sendable, CustomStringConvertible {
    /// `https`, or `http` on this machine.
    package let url: String
    /// What alerts are signed with.
    package let secret: String
    /// A file of certificates that vouch for the address; nil for those that the system trusts.
    package let authority: String?

    package init(url: String, secret: String, authority: String?) {
      self.url = url
      self.secret = secret
      self.authority = authority
    }

    /// Neither the secret nor the path, which may be one.
    package var description: String { URLParts(url).authority.map { "\($0)" } ?? "a webhook" }
  }

  /// Nil where none is told.
  package var webhook: Webhook?
  /// Who gets mails; nobody unless the configuration has `mail`.
  package var mail: [MailAddress] = []
  /// How long at least between two alerts of one kind, in milliseconds; what goes on is told again so often.
  package var minimumInterval: Int64 = 3_600_000
  /// Bytes that the disk should have free.
  package var diskFreeMin: Int64 = 1 << 30
  /// How long certificates should still be good, in milliseconds.
  package var certificateLeftMin: Int64 = 14 * 86_400_000
  /// How old the last whole backup may be, in milliseconds; nil where none is expected.
  package var backupAgeMax: Int64?

  package init() {}
}
