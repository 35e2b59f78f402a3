import HTTPServer
import NIOHTTP1

/// The JavaScript and HTML that long-polling clients load (spec: rtdb-protocol §3.11).
enum LongPollScript {
  /// Defines how later answers reach the page, and greets it.
  ///
  /// - Parameter callback: the page's number for the connection: digits only, checked where it enters.
  static func start(callback: String, id: String, password: String, _ messages: [[UInt8]]) -> [UInt8] {
    var text = Array(
      """
      function pLPCommand(c,a1,a2,a3,a4){var f=parent.window["pLPCommand\(callback)"];f&&f(c,a1,a2,a3,a4);}
      function pRTLPCB(n,d){var f=parent.window["pRTLPCB\(callback)"];f&&f(n,d);}
      pLPCommand('start','\(id)','\(password)');

      """.utf8)
    text += answer(0, messages, closesAfter: nil)
    return text
  }

  /// Hands messages to the page.
  ///
  /// - Parameter closesAfter: the number of the last answer, if this is it.
  static func answer(_ number: Int, _ messages: [[UInt8]], closesAfter: Int?) -> [UInt8] {
    var text = Array("pRTLPCB(\(number),[".utf8)
    for (index, message) in messages.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      append(message, to: &text)
    }
    text += "]);\n".utf8
    if let closesAfter { text += close(after: closesAfter) }
    return text
  }

  /// The connection is over: once the page has had the answer of this number, or now.
  static func close(after last: Int?) -> [UInt8] { Array("pLPCommand('close'\(last.map { ",\($0)" } ?? ""));\n".utf8) }

  /// A frame that says goodbye when its page is left.
  static func farewell(id: String, password: String) -> [UInt8] {
    Array(
      """
      <!DOCTYPE html><html><body><script>
      addEventListener("pagehide",function(){fetch("/.lp?disconn=t&id=\(id)&pw=\(password)",{keepalive:true})});
      </script></body></html>
      """.utf8)
  }

  /// JSON is JavaScript but for two line separators, which older browsers do not take in strings.
  private static func append(_ message: [UInt8], to text: inout [UInt8]) {
    guard message.contains(0xE2) else { return text += message }
    var index = 0
    while index < message.count {
      if message[index] == 0xE2, index + 2 < message.count, message[index + 1] == 0x80, message[index + 2] & 0xFE == 0xA8 {
        text += (message[index + 2] == 0xA8 ? #"\u2028"# : #"\u2029"#).utf8
        index += 3
      } else {
        text.append(message[index])
        index += 1
      }
    }
  }
}

extension HTTPResponse {
  /// A script for a long-polling page.
  static func longPoll(_ script: [UInt8]) -> HTTPResponse { HTTPResponse(.ok, content: .javaScript, body: script) }
}
