/// Something that must not be seen: however it is printed, it does not show.
struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The secret itself, for whoever sends or compares it.
  let revealed: String

  init(_ text: String) {
    revealed = text
  }

  var description: String { "(secret)" }
  var debugDescription: String { "(secret)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
