import TreeModel

enum JSONWriterText {
  static func of(_ json: JSON) -> String {
    var writer = JSONWriter()
    writer.write(json)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
