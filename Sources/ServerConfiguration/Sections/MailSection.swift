import Glibc
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
    let address = reader.required("from", example: "Treasure Hunt <noreply@example.com>")
    var from: MailAddress?
    if let address {
      do {
        from = try MailAddress(parsing: address)
      } catch {
        reader.report("from", message: error.message)
      }
    }
    self.from = from
    if !reader.has("smtp") {
      reader.report("smtp", message: "\"\(reader.path("smtp"))\" is missing: it says which server takes the mail.")
    }
    server = reader.section("smtp", type: SMTPSection.self).configuration
    appName = reader.text("appName")
    let locale = reader.text("locale") ?? "en"
    if !TemplateCatalog.isLocale(locale) {
      reader.report("locale", message: "\"\(locale)\" is no language; write \"en\" or \"de-AT\".")
    }
    var templates = TemplateCatalog(defaultLocale: locale)
    if let folder = reader.path(of: "templates") {
      do {
        try TemplateFolder(folder).add(to: &templates)
      } catch {
        for problem in error.problems { reader.report("templates", message: problem) }
      }
    }
    self.templates = templates
  }
}

/// `mail.smtp`: the server that takes the mail.
struct SMTPSection: ConfigurationSection {
  let configuration: SMTPConfiguration?

  init(_ reader: ConfigurationReader) {
    let host = reader.required("host", example: "smtp.example.com")
    let securities = ["starttls", "tls", "none"]
    let security =
      reader.choice("security", choices: securities).flatMap(SMTPConfiguration.Security.init(rawValue:)) ?? .startTLS
    let port = reader.integer("port", range: 1...65_535) ?? security.usualPort
    let user = reader.text("user")
    let password = reader.secret("password")
    if (user == nil) != !reader.has("password") {
      reader.report(
        user == nil ? "password" : "user", message: "\"user\" and \"password\" belong together; give both, or none.")
    }
    if security == .none, user != nil, let host, !SMTPConfiguration.isLoopback(host) {
      reader.report("security", message: "A password is not sent without TLS; write \"security\": \"starttls\" or \"tls\".")
    }
    let authority = reader.path(of: "ca")
    let greeting = reader.text("hello")
    let timeout = reader.duration("timeout", range: 1000...600_000) ?? 60_000
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

/// A folder of files that override the words of mails: `resetPassword.de.txt` and, beside it, `resetPassword.de.html`.
struct TemplateFolder {
  private let folder: String

  init(_ folder: String) {
    self.folder = folder.last == "/" ? String(folder.dropLast()) : folder
  }

  /// Reads every file and puts the templates into the catalogue.
  ///
  /// - Throws: ``TemplateFolderError`` with what is wrong in all files.
  func add(to catalog: inout TemplateCatalog) throws(TemplateFolderError) {
    guard let names = Self.names(in: folder) else {
      throw TemplateFolderError(problems: ["\(folder) cannot be read as a folder."])
    }
    var problems: [String] = []
    for name in names.sorted() {
      do {
        try add(name, names: names, to: &catalog)
      } catch {
        problems.append(error.message)
      }
    }
    if !problems.isEmpty { throw TemplateFolderError(problems: problems) }
  }

  private func add(_ name: String, names: Set<String>, to catalog: inout TemplateCatalog) throws(FileError) {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, ["txt", "html"].contains(parts[2]), TemplateCatalog.isLocale(parts[1]) else {
      throw FileError("\(folder)/\(name): a template's files are called KIND.LANGUAGE.txt and KIND.LANGUAGE.html.")
    }
    guard let kind = MailKind(rawValue: parts[0]), MailKind.templated.contains(kind) else {
      let kinds = MailKind.templated.map(\.rawValue).joined(separator: ", ")
      throw FileError("\(folder)/\(name): there is no mail \"\(parts[0])\"; there are \(kinds).")
    }
    let text = "\(parts[0]).\(parts[1]).txt"
    let html = "\(parts[0]).\(parts[1]).html"
    guard parts[2] == "txt" else {
      if !names.contains(text) {
        throw FileError("\(folder)/\(name): \(text), with the subject and the text, is missing.")
      }
      return
    }
    let source = try read(text)
    let markup = names.contains(html) ? try read(html) : nil
    do {
      catalog.set(try MailTemplate(kind: kind, textFile: source, htmlFile: markup), for: kind, locale: parts[1])
    } catch {
      throw FileError("\(folder)/\(error.isInHTML ? html : text):\(error)")
    }
  }

  private func read(_ name: String) throws(FileError) -> String {
    guard let text = String(validating: try FileBytes.read("\(folder)/\(name)"), as: UTF8.self) else {
      throw FileError("\(folder)/\(name): the file is not UTF-8.")
    }
    return text
  }

  /// The files of a folder that are not hidden; nil if it cannot be read.
  private static func names(in folder: String) -> Set<String>? {
    guard let directory = opendir(folder) else { return nil }
    defer { closedir(directory) }
    var names: Set<String> = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.first != "." { names.insert(name) }
    }
    return names
  }
}

/// What is wrong with the files of a template folder.
struct TemplateFolderError: Error {
  /// Sentences that begin with the file's name.
  let problems: [String]
}
