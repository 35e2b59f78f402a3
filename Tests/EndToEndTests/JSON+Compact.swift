import TreeModel

extension JSON {
  /// The value as text without spaces, for what must be somewhere in it, or nowhere.
  var compact: String {
    var writer = JSONWriter()
    writer.write(self)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
