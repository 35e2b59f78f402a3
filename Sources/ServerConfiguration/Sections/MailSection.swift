import Mail
import MailContent

/// `mail`: how mail is sent, and what it says.
struct MailSection: ConfigurationSection {
  /// Nil if something is wrong, or no server is named.
  let server: SMTPConfiguration?
  /// The sender of mails that name none.
  let from: MailAddress?
  let templates: TemplateCatalog
  /// How mails call the game; nil for the project's name.
  let appName: String?

  init(_ reader: ConfigurationReader) {
    let address = reader.required("from", "Treasure Hunt <noreply@example.com>")
    var from: MailAddress?
    if let address {
      do {
        from = try MailAddress(parsing: address)
      } catch {
        reader.fault("from", error.message)
      }
    }
    self.from = from
    if !reader.has("smtp") {
      reader.fault("smtp", "\"\(reader.path("smtp"))\" is missing: it says which server takes the mail.")
    }
    server = reader.section("smtp", SMTPSection.self).configuration
    appName = reader.text("appName")
    let locale = reader.text("locale") ?? "en"
    if !TemplateCatalog.isLocale(locale) { reader.fault("locale", "\"\(locale)\" is no language; write \"en\" or \"de-AT\".") }
    var templates = TemplateCatalog(defaultLocale: locale)
    if let folder = reader.path(of: "templates") {
      do {
        try TemplateFolder(folder).add(to: &templates)
      } catch {
        for fault in error.faults { reader.fault("templates", fault) }
      }
    }
    self.templates = templates
  }
}
