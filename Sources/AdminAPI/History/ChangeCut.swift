import AdminModel
import TreeModel

/// Shows changes in an answer that stays small whatever the values are: long texts are cut, and what does not fit is left out.
struct ChangeCut {
  /// Bytes of the changes that one answer holds; what surrounds them is small.
  static let bytesMax = 44 << 10

  /// Bytes of a text that are shown.
  let textMax: Int
  private var rest = Self.bytesMax

  /// - `textMax`: bytes of a text that are shown.
  init(textMax: Int) {
    self.textMax = textMax
  }

  /// The first of these changes: those that there is room for, behind those that were shown before.
  mutating func shown(_ changes: [AdminEvents.Change]) -> [AdminEvents.Change] {
    var shown: [AdminEvents.Change] = []
    for change in changes {
      var change = change
      let (before, after) = (cut(change.before), cut(change.after))
      if before.isCut || after.isCut { change.cut = true }
      (change.before, change.after) = (before.value, after.value)
      // Beside the values: names of members, signs, a number.
      let size = change.path.utf8.count + change.before.compactText.utf8.count + change.after.compactText.utf8.count + 64
      guard size <= rest else {
        rest = 0
        return shown
      }
      rest -= size
      shown.append(change)
    }
    return shown
  }

  private func cut(_ value: JSON) -> (value: JSON, isCut: Bool) {
    guard let text = value.string, text.utf8.count > textMax else { return (value, false) }
    return (.string(text.prefix(bytes: textMax)), true)
  }
}
