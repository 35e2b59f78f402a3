import AdminClient
import NIOHTTP1
import TreeModel

/// Reads a part of the tree whole, in parts if it is too large for one answer.
struct DataExport {
  let client: AdminClient
  let query: [QueryItem]
  let isPretty: Bool
  private var progress: ProgressLine
  private var partCount = 0

  init(client: AdminClient, query: [QueryItem], isPretty: Bool, output: CommandOutput) {
    self.client = client
    self.query = query
    self.isPretty = isPretty
    progress = ProgressLine(output)
  }

  /// The JSON text, with priorities.
  mutating func read(_ place: TreeLocation) async throws -> [UInt8] {
    defer { progress.clear() }
    if let whole = try await whole(place, isPretty: isPretty) { return whole }
    var writer = JSONWriter(pretty: false, capacity: 1 << 24)
    try await append(place, to: &writer)
    return writer.bytes
  }

  /// One answer's worth; nil if there is more.
  private func whole(_ place: TreeLocation, isPretty: Bool = false) async throws -> [UInt8]? {
    var query = query + [QueryItem("format", "export")]
    if isPretty { query.append(QueryItem("print", "pretty")) }
    do {
      return try await client.send(
        .GET, place.urlPath, query: query, timeout: DataTransfer.timeout, responseBytesMax: DataTransfer.responseBytesMax
      ).checked().body
    } catch {
      guard error.isTooLarge else { throw error }
      return nil
    }
  }

  private mutating func append(_ place: TreeLocation, to writer: inout JSONWriter) async throws {
    writer.beginObject()
    for name in try await client.childNames(of: place, query: query) {
      let child = TreeLocation(place.target.path.child(name))
      writer.key(name.text)
      if let part = try await whole(child) {
        writer.raw(part)
      } else {
        try await append(child, to: &writer)
      }
      partCount += 1
      if partCount % 100 == 0 { progress.show("Read \(partCount.grouped) parts") }
    }
    if let priority = try await whole(TreeLocation(priorityOf: place)), priority != Array("null".utf8) {
      writer.key(".priority")
      writer.raw(priority)
    }
    writer.endObject()
  }
}
