/// A key of the ring as a file: two lines that tell what it is, then PKCS #8 in PEM, which other tools read as it is.
///
/// The caller reads and writes the files, with mode 0600 in a folder of mode 0700; this knows their names and content.
public enum KeyFile {
  /// What the names of key files end with.
  public static let suffix = ".key.pem"

  /// The name of a key's file.
  public static func name(of id: KeyID) -> String { id.text + suffix }

  /// The content of a key's file.
  public static func text(of entry: KeyRing.Entry) -> String {
    "Doubloon signing key \(entry.key.id). Secret: whoever has it can be any user.\nsigns-from: \(entry.signsFrom)\n"
      + entry.key.pem + "\n"
  }

  /// Reads a file's content.
  ///
  /// - Throws: ``TokenFault/malformed(_:)``
  public static func entry(in text: String) throws(TokenFault) -> KeyRing.Entry {
    guard text.utf8.count <= WebToken.sizeMax else { throw .malformed("the key file is too long.") }
    let lines = text.split(whereSeparator: \.isNewline)
    let label = "signs-from: "
    guard let line = lines.first(where: { $0.hasPrefix(label) }), let start = Int64(line.dropFirst(label.count)), start >= 0
    else { throw .malformed("the key file has no line \"signs-from: \" with milliseconds since 1970.") }
    guard let begin = lines.firstIndex(where: { $0.hasPrefix("-----BEGIN ") }) else {
      throw .malformed("the key file has no key in PEM.")
    }
    let key = try SigningKey(pem: lines[begin...].joined(separator: "\n"))
    return KeyRing.Entry(key: key, signsFrom: start)
  }
}
