import ClientRuntime
import Foundation
import TreeModel

/// What happens in the app, for messages: an event shows the campaign that waits for it, and tells the server that a campaign
/// had its effect.
///
/// `first_open` and `session_start` are logged by themselves. Without the player's consent
/// (``InAppMessaging/automaticDataCollectionEnabled``) nothing is logged.
public enum Analytics {
  /// An event of the default app.
  ///
  /// - `name`: a letter, then letters, digits and `_`, at most 40; anything else is ignored, with a line in the log.
  /// - `parameters`: texts and numbers; other values are left out.
  public static func logEvent(_ name: String, parameters: [String: Any]? = nil) {
    logEvent(name, parameters: parameters, app: DoubloonApp.current)
  }

  /// An event of an app.
  public static func logEvent(_ name: String, parameters: [String: Any]?, app: DoubloonApp) {
    guard isName(name) else {
      return app.runtime.log(
        .warning, "The event \(name.prefix(60)) is not logged: a name is a letter, then letters, digits and _.")
    }
    let values = (parameters ?? [:]).compactMapValues(value).prefix(parametersMax)
    app.messages.apply { model, now in
      model.logEvent(name, parameters: Dictionary(uniqueKeysWithValues: values.map { ($0.key, $0.value) }), now: now)
    }
  }

  private static let parametersMax = 20
  private static let lettersMax = 100

  static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    guard let first = bytes.first, bytes.count <= 40, first < 0x80, Character(Unicode.Scalar(first)).isLetter else {
      return false
    }
    return bytes.allSatisfy {
      $0 == UInt8(ascii: "_") || $0 < 0x80 && Character(Unicode.Scalar($0)).isLetter || (48...57).contains($0)
    }
  }

  private static func value(_ any: Any) -> JSON? {
    switch any {
    case let text as String: .string(String(text.prefix(lettersMax)))
    case let isTrue as Bool: .bool(isTrue)
    case let number as Int: .int(Int64(number))
    case let number as Int64: .int(number)
    case let number as Double where number.isFinite: .double(number)
    case let number as Float where number.isFinite: .double(Double(number))
    default: nil
    }
  }
}
