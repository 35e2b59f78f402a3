/// One plain mail address: the only form of it that accounts, invitations and mails take.
///
/// A dot-atom, an at sign and the name of a host with at least two labels (RFC 5321 §4.1.2), in ASCII and in lower case:
///
/// ```swift
/// EmailAddress("Bob.B@Example.com")?.text  // "bob.b@example.com"
/// EmailAddress("n0<victim@example.com>")  // nil: a name in front of an address is another address for every name
/// ```
/// Quoted names, comments, lists, addresses in numbers and hosts in other alphabets (write them as `xn--…`) are none.
public struct EmailAddress: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The longest address (RFC 5321 §4.5.3.1.3), in bytes.
  public static let bytesMax = 254
  /// The longest part before the at sign, in bytes.
  public static let localBytesMax = 64
  /// The longest part of a host's name between dots, in bytes.
  public static let labelBytesMax = 63

  /// The address in lower case: accounts compare addresses by this and by nothing else, so `a+x@y.z` and `a@y.z` are two.
  public let text: String

  /// Reads an address.
  ///
  /// - Returns: nil for anything but one plain address, blanks around it included.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.bytesMax, let at = text.utf8.firstIndex(of: UInt8(ascii: "@")) else { return nil }
    guard Self.isLocal(text.utf8[..<at]), Self.isHost(text.utf8[text.utf8.index(after: at)...]) else { return nil }
    self.text = text.lowercased()
  }

  /// What is before the at sign.
  public var local: Substring { text.prefix { $0 != "@" } }

  /// What is behind the at sign.
  public var host: Substring { text.drop { $0 != "@" }.dropFirst() }

  /// The address that mail for this one is delivered to, as far as that is known: without `+tag`, and of Gmail without dots
  /// and under its first name.
  ///
  /// For limits and for who was paid already, where one person with many spellings must count once. Never to look up an
  /// account by, and never to send to: other hosts may give `+` another meaning.
  public var deliveryIdentity: String {
    var name = String(local)
    if let plus = name.firstIndex(of: "+"), plus != name.startIndex { name = String(name[..<plus]) }
    guard host == "gmail.com" || host == "googlemail.com" else { return "\(name)@\(host)" }
    name.removeAll { $0 == "." }
    return "\(name)@gmail.com"
  }

  public var description: String { text }

  public static func < (one: EmailAddress, other: EmailAddress) -> Bool { one.text < other.text }

  /// Atoms between dots, none of them empty.
  private static func isLocal(_ bytes: Substring.UTF8View.SubSequence) -> Bool {
    (1...localBytesMax).contains(bytes.count)
      && bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
        !atom.isEmpty && atom.allSatisfy { isLetterOrDigit($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
      }
  }

  /// Labels of letters, digits and inner hyphens; the last one is not a number, or the whole would be an address in numbers.
  private static func isHost(_ bytes: Substring.UTF8View.SubSequence) -> Bool {
    let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count >= 2, let last = labels.last, !last.allSatisfy({ (48...57).contains($0) }) else { return false }
    return labels.allSatisfy { label in
      (1...labelBytesMax).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
        && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (97...122).contains(byte | 0x20)
  }
}
