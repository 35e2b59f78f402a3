import HTTPServer
import NIOHTTP1

/// The few pages that a link in a mail shows: no script, nothing from elsewhere.
package enum ActionText {
  /// Asks before it does something; the form goes to the same address.
  ///
  /// - Parameters:
  ///   - fault: why it is asked once more; empty at first.
  ///   - lengthMin: the least number of characters of a password.
  static func question(
    _ words: ActionWords, _ mode: ActionMode, fault: String, lengthMin: Int, status: HTTPResponseStatus
  ) -> HTTPResponse {
    let field = """
      <p><label>\(HTMLText.escaped(words.newPassword)) <input type="password" name="newPassword" autocomplete="new-password"
      minlength="\(lengthMin)" required></label></p>
      """
    let title = words.title(mode)
    let form = """
      <form method="post">\(mode == .resetPassword ? field : "")<p><button>\(HTMLText.escaped(title))</button></p></form>
      """
    return page(title, fault, words, form: form, status: status)
  }

  /// A link to go on by.
  package static func link(_ location: String, _ text: String) -> String {
    "<p><a href=\"\(HTMLText.escaped(location))\">\(HTMLText.escaped(text))</a></p>"
  }

  static func page(
    _ title: String, _ text: String, _ words: ActionWords, form: String = "", status: HTTPResponseStatus = .ok
  ) -> HTTPResponse {
    let html = """
      <!doctype html><html lang="\(words.locale)"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <meta name="robots" content="noindex"><title>\(HTMLText.escaped(title))</title>
      <body style="font-family:sans-serif;max-width:32em;margin:4em auto;padding:0 1em">
      <h1>\(HTMLText.escaped(title))</h1><p role="status">\(HTMLText.escaped(text))</p>\(form)</body></html>
      """
    return HTTPResponse(status, content: .html, body: Array(html.utf8))
      .adding("Referrer-Policy", "no-referrer").adding("X-Frame-Options", "DENY")
      .adding("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
  }

  /// An address to go on to; nil for one that would run something, or break a header.
  static func location(_ text: String) -> String? {
    let lower = text.lowercased()
    guard text.utf8.count <= 4096, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 < 0x80 }),
      let colon = lower.firstIndex(of: ":"), !["javascript", "data", "vbscript", "file"].contains(String(lower[..<colon]))
    else { return nil }
    return text
  }

  /// For a query: everything but letters, digits and `-._~` as `%XX`.
  package static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      let isPlain =
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "-._~".utf8.contains(byte)
      if isPlain { bytes.append(byte) } else { bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
