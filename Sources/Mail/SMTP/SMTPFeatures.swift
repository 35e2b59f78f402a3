/// What a server says that it can, in its answer to EHLO.
struct SMTPFeatures: Sendable, Hashable {
  private(set) var startsTLS = false
  /// In capitals.
  private(set) var mechanisms: Set<String> = []
  /// Bytes of the largest mail; nil if it does not say.
  private(set) var sizeMax: Int?

  init() {}

  init(_ reply: SMTPReply) {
    for line in reply.lines.dropFirst() {
      let words = line.uppercased().split { $0 == " " || $0 == "=" }.map(String.init)
      switch words.first {
      case "STARTTLS": startsTLS = true
      case "AUTH": mechanisms.formUnion(words.dropFirst())
      case "SIZE": sizeMax = words.dropFirst().first.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
      default: break
      }
    }
  }
}
