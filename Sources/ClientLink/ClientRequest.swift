import SyncModel
package import TreeModel

/// The requests of the protocol, as texts.
enum ClientRequest {
  /// A request: `{"t":"d","d":{"r":N,"a":A,"b":{…}}}`.
  static func text(_ number: Int, _ action: String, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("t")
    writer.string("d")
    writer.key("d")
    writer.beginObject()
    writer.key("r")
    writer.int(Int64(number))
    writer.key("a")
    writer.string(action)
    writer.key("b")
    writer.beginObject()
    body(&writer)
    writer.endObject()
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// The place and, of a window, what is in it.
  static func listened(_ listened: ListenSpec, tag: Int?, to writer: inout JSONWriter) {
    place(listened.path, to: &writer)
    guard let tag else { return }
    writer.key("q")
    writer.write(listened.query.wire)
    writer.key("t")
    writer.int(Int64(tag))
  }

  static func place(_ path: Path, to writer: inout JSONWriter) {
    writer.key("p")
    writer.string(path.description)
  }

  static func text(_ value: String, _ name: String, to writer: inout JSONWriter) {
    writer.key(name)
    writer.string(value)
  }
}

extension WriteOperation {
  /// The word for what is to be done: now `p` or `m`, when the link is lost `o` or `om`.
  func action(onDisconnect: Bool) -> String {
    if kind == .update { return onDisconnect ? "om" : "m" }
    return onDisconnect ? "o" : "p"
  }

  /// The place and the data, as a request has them.
  func write(to writer: inout JSONWriter) {
    guard kind == .update else {
      let assignment = assignments.first
      if case .priority = assignment?.value {
        place(path, isPriority: true, to: &writer)
      } else {
        ClientRequest.place(path, to: &writer)
      }
      writer.key("d")
      writer.write(assignment?.json ?? .null)
      return
    }
    ClientRequest.place(path, to: &writer)
    writer.key("d")
    writer.beginObject()
    for assignment in assignments {
      let below = assignment.path.relative(to: path)
      var name = below.keys.map(\.text).joined(separator: "/")
      if case .priority = assignment.value { name += name.isEmpty ? ".priority" : "/.priority" }
      writer.key(name)
      writer.write(assignment.json)
    }
    writer.endObject()
  }

  private func place(_ path: Path, isPriority: Bool, to writer: inout JSONWriter) {
    writer.key("p")
    writer.string(PathTarget(path: path, isPriority: isPriority).description)
  }

  /// The operation as a record: what ``init(record:)`` reads.
  package var record: JSON {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("a")
    writer.string(action(onDisconnect: false))
    write(to: &writer)
    writer.endObject()
    return (try? JSONParser.parse(writer.bytes, depthMax: 128)) ?? .null
  }

  /// Reads a record; nil if it is none.
  package init?(record: JSON) {
    guard let place = record["p"]?.string, let data = record["d"], let target = try? PathTarget(parsing: place) else {
      return nil
    }
    let operation =
      record["a"] == "m" ? try? WriteOperation.update(target.path, json: data) : try? WriteOperation.set(target, json: data)
    guard let operation else { return nil }
    self = operation
  }
}
