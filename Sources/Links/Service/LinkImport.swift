import StorageCore

/// Links of another service, as a table: each keeps its suffix.
package struct LinkImport: Sendable {
  /// One row.
  package struct Row: Sendable, Hashable {
    /// Where it stands in the table, from 1 on.
    package let number: Int
    /// The short link, as it was written.
    package let short: String
    /// The long link, or just what it opens, as it was written.
    package let long: String
    package let name: String?
    /// Whether the table says that it is switched off.
    package var isDisabled = false
  }

  /// The result of a row.
  package enum Outcome: Sendable, Hashable {
    case created
    /// It was there, with the same content.
    case unchanged
    /// It was refused, with the reason.
    case refused(String)
  }

  /// The rows below the names of the columns.
  package let rows: [Row]

  private static let shortNames: Set<String> = ["shortlink", "shorturl", "short", "shortdynamiclink", "link", "url", "alias"]
  private static let longNames: Set<String> = [
    "longlink", "longurl", "long", "longdynamiclink", "dynamiclink", "destination", "deeplink", "target",
  ]
  private static let titleNames: Set<String> = ["name", "linkname", "title", "label"]
  private static let stateNames: Set<String> = ["state", "status"]
  /// What the column of states says of a link that is switched off.
  package static let disabledState = "disabled"

  /// Reads a table of comma-separated values. Its first row names the columns; without names the first is the short link
  /// and the second the long one.
  package init(csv text: String) throws(LinkError) {
    guard let table = LinkCSV.rows(text) else { throw .invalid("The table has a quote that is not closed.") }
    guard let first = table.first else { throw .invalid("The table is empty.") }
    var (short, long, name, state): (Int, Int, Int?, Int?) = (0, 1, nil, nil)
    let hasHeader = !first.contains { $0.contains("://") }
    if hasHeader {
      let names = first.map { $0.lowercased().filter { $0.isLetter } }
      guard let foundShort = names.firstIndex(where: Self.shortNames.contains),
        let foundLong = names.indices.first(where: { $0 != foundShort && Self.longNames.contains(names[$0]) })
      else {
        throw .invalid(
          "The first row must name a column \"short link\" and one \"long link\"; it names \(first.joined(separator: ", ").prefix(200))."
        )
      }
      (short, long, name) = (foundShort, foundLong, names.firstIndex(where: Self.titleNames.contains))
      state = names.firstIndex(where: Self.stateNames.contains)
    }
    rows = table.enumerated().dropFirst(hasHeader ? 1 : 0).map { index, fields in
      func field(_ column: Int?) -> String {
        guard let column, column < fields.count else { return "" }
        return fields[column].split(separator: " ").joined(separator: " ")
      }
      let title = field(name)
      return Row(
        number: index + 1, short: field(short), long: field(long), name: title.isEmpty ? nil : title,
        isDisabled: field(state).lowercased() == Self.disabledState)
    }
  }
}

/// One import of a table.
struct LinkImporter: Sendable {
  let links: LinkService
  let prefix: LinkPrefix?
  let isDryRun: Bool
  let actor: Actor

  /// How many rows are imported concurrently: they share transactions.
  private static let rowsAtOnce = 64

  /// What became of one row of the table.
  private struct Finished: Sendable {
    let index: Int
    let outcome: Result<LinkImport.Outcome, any Error>
  }

  func outcomes(of rows: [LinkImport.Row]) async throws -> [LinkImport.Outcome] {
    let outcomes = await withTaskGroup(of: Finished.self) { group in
      var outcomes: [Result<LinkImport.Outcome, any Error>?] = Array(repeating: nil, count: rows.count)
      var inFlight: Set<String> = []
      for (index, row) in rows.enumerated() {
        // Of rows with one address the first is imported.
        while inFlight.count >= Self.rowsAtOnce || inFlight.contains(row.short) {
          guard let finished = await group.next() else { break }
          outcomes[finished.index] = finished.outcome
          inFlight.remove(rows[finished.index].short)
        }
        inFlight.insert(row.short)
        group.addTask { await finish(row, at: index) }
      }
      while let finished = await group.next() { outcomes[finished.index] = finished.outcome }
      return outcomes
    }
    return try outcomes.compactMap { try $0?.get() }
  }

  // A function of its own, and no closure that catches: there the optimizer of Swift 6.3 loses the index.
  private func finish(_ row: LinkImport.Row, at index: Int) async -> Finished {
    do {
      return Finished(index: index, outcome: .success(try await outcome(of: row)))
    } catch {
      return Finished(index: index, outcome: .failure(error))
    }
  }

  private func outcome(of row: LinkImport.Row) async throws -> LinkImport.Outcome {
    let link: LinkDraft
    do throws(LinkError) {
      link = try newLink(row)
      _ = try LinkChecker(settings: links.settings).check(link.parameters, below: link.prefix)
    } catch {
      return .refused(error.message)
    }
    if let outcome = try outcomeForExisting(link) { return outcome }
    guard !isDryRun else { return .created }
    do {
      _ = try await links.create(link, isAdmin: true, actor: actor)
      return .created
    } catch let error as LinkError {
      switch error {
      // Another row of the same table came first.
      case .suffixTaken: return try outcomeForExisting(link) ?? .refused(error.message)
      case .invalid: return .refused(error.message)
      default: throw error
      }
    }
  }

  /// The result of a row whose suffix is taken; nil if it is free.
  private func outcomeForExisting(_ link: LinkDraft) throws -> LinkImport.Outcome? {
    guard let existing = try links.entry("\(link.prefix.key)/\(link.customSuffix ?? "")")?.record else { return nil }
    return existing.canonical == link.parameters.canonical
      ? .unchanged : .refused("https://\(existing.key) is there and leads elsewhere; remove the row, or the link.")
  }

  private func newLink(_ row: LinkImport.Row) throws(LinkError) -> LinkDraft {
    guard let short = LinkURL(row.short.contains("://") ? row.short : "https://\(row.short)"), !short.path.isEmpty else {
      throw .invalid("\"\(row.short.prefix(100))\" is no short link.")
    }
    let segments = short.path.split(separator: "/")
    guard let suffix = segments.last.map(String.init) else { throw .invalid("\"\(row.short.prefix(100))\" has no suffix.") }
    let domains = links.settings.domains
    let own = domains.first {
      $0.remainder(of: short.path).map(String.init) == suffix && $0.host == short.host + short.port
    }
    guard let prefix = prefix ?? own else {
      throw .invalid(
        "\(row.short.prefix(100)) is below none of the \"domains\"; name the prefix that its suffix is to live under.")
    }
    guard domains.contains(prefix) else { throw .invalid("\(prefix) is not among the \"domains\".") }
    guard let long = LinkURL(row.long) else { throw .invalid("\"\(row.long.prefix(100))\" is no link.") }
    var parameters = LinkParameters()
    if let query = long.parameters, query.contains(where: { $0.name == "link" }) {
      parameters = LinkParameters(query)
    } else {
      // Not a long link, but what it would open.
      parameters[.link] = long.text
    }
    var link = LinkDraft(prefix: prefix, parameters: parameters)
    link.option = .custom
    link.customSuffix = suffix
    link.name = row.name
    link.isDisabled = row.isDisabled
    return link
  }
}

/// Comma-separated values (RFC 4180): as spreadsheets write them, quoted or not, with any line end.
package enum LinkCSV {
  /// Reads the rows; nil if a quote is not closed.
  package static func rows(_ text: String) -> [[String]]? {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var wasQuoted = false
    let bytes = Array(text.utf8)
    var at = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    func decoded(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if isQuoted {
        guard byte == UInt8(ascii: "\"") else {
          field.append(byte)
          continue
        }
        if at < bytes.count, bytes[at] == byte {
          field.append(byte)
          at += 1
        } else {
          isQuoted = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\"") where field.isEmpty && !wasQuoted: (isQuoted, wasQuoted) = (true, true)
      case UInt8(ascii: ","):
        row.append(decoded(field))
        (field, wasQuoted) = ([], false)
      case 13 where at < bytes.count && bytes[at] == 10: break
      case 10, 13:
        if !row.isEmpty || !field.isEmpty || wasQuoted { rows.append(row + [decoded(field)]) }
        (row, field, wasQuoted) = ([], [], false)
      default: field.append(byte)
      }
    }
    guard !isQuoted else { return nil }
    if !row.isEmpty || !field.isEmpty || wasQuoted { rows.append(row + [decoded(field)]) }
    return rows
  }

  /// One row with its line end. What a spreadsheet would take for a formula gets an apostrophe in front.
  package static func line(_ fields: [String]) -> String {
    fields.map { field in
      let isFormula = field.utf8.first.map { [0x3D, 0x2B, 0x2D, 0x40].contains($0) } ?? false
      let text = isFormula ? "'" + field : field
      let needsQuotes = text.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
      return needsQuotes
        ? "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" : text
    }.joined(separator: ",") + "\r\n"
  }
}
