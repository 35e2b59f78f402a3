import Glibc
import MailContent

/// A folder of files that override the words of mails: `resetPassword.de.txt` and, beside it, `resetPassword.de.html`.
struct TemplateFolder {
  /// What is wrong with the files.
  struct Failure: Error {
    /// Sentences that begin with the file's name.
    let faults: [String]
  }

  private let folder: String

  init(_ folder: String) {
    self.folder = folder.last == "/" ? String(folder.dropLast()) : folder
  }

  /// Reads every file and puts the templates into the catalogue.
  ///
  /// - Throws: ``Failure`` with all faults of all files.
  func add(to catalog: inout TemplateCatalog) throws(Failure) {
    guard let names = Self.names(in: folder) else { throw Failure(faults: ["\(folder) cannot be read as a folder."]) }
    var faults: [String] = []
    for name in names.sorted() {
      do {
        try add(name, names, to: &catalog)
      } catch {
        faults.append(error.message)
      }
    }
    if !faults.isEmpty { throw Failure(faults: faults) }
  }

  private func add(_ name: String, _ names: Set<String>, to catalog: inout TemplateCatalog) throws(FileError) {
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
