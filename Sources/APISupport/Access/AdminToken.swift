/// A secret that makes whoever knows it an administrator.
package struct AdminToken: Sendable {
  /// Under what name the actions are recorded.
  package let name: String
  private let secret: [UInt8]

  package init(name: String, secret: String) {
    self.name = name
    self.secret = Array(secret.utf8)
  }

  /// Whether it is the word that emulators know, and with them every web page.
  var isPublic: Bool { matches("owner") }

  /// Compares without telling by its duration how much was right.
  func matches(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == secret.count, !secret.isEmpty else { return false }
    return zip(bytes, secret).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
