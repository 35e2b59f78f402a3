import AdminClient
import AdminModel
import ServerApp
import ServerConfiguration
import TextFormats
import TreeModel

/// A file of campaigns, as people keep it: JSON with comments. `{"campaigns": […]}`, or one campaign alone.
struct MessageFile: Sendable {
  /// The largest file, in bytes: a thousand campaigns of the largest size are more than anybody writes by hand.
  private static let bytesMax = 8 << 20
  private static let dialect = CommentedJSON.Dialect(
    nestingMax: 32, allowsControlCharacters: false, refusesDuplicateKeys: true)

  let campaigns: [JSON]

  /// - `path`: the file; `-` reads the standard input.
  /// - Throws: ``CommandError`` with `FILE:LINE:COLUMN: text` for what is no JSON.
  init(_ path: String) throws {
    let document = try Self.document(path)
    guard let listed = document["campaigns"] else {
      campaigns = [document]
      return
    }
    guard let campaigns = listed.array else { throw CommandError("\(path): \"campaigns\" must be a list.") }
    if let other = document.object?.first(where: { $0.key != "campaigns" }) {
      throw CommandError("\(path): \"\(other.key)\" means nothing beside \"campaigns\".")
    }
    self.campaigns = campaigns
  }

  /// The only campaign of a file that must hold one.
  static func one(_ path: String) throws -> JSON {
    let campaigns = try MessageFile(path).campaigns
    guard let campaign = campaigns.first, campaigns.count == 1 else {
      throw CommandError(
        "\(path) should hold one campaign, and has \(campaigns.count); \"messages apply\" takes many.")
    }
    return campaign
  }

  /// A file's JSON with comments as JSON.
  static func document(_ path: String) throws -> JSON {
    let source = try FileBytes.read(path)
    guard source.count <= bytesMax else { throw CommandError("\(path) is larger than 8 MB.") }
    guard String(validating: source, as: UTF8.self) != nil else { throw CommandError("\(path):1:1: The file is not UTF-8.") }
    do throws(CommentedJSONError) {
      return try json(try CommentedJSON.parse(CommentedJSON.withoutByteOrderMark(source), as: dialect))
    } catch {
      throw CommandError("\(path):\(error.position.line):\(error.position.column): \(sentence(error.reason))")
    }
  }

  private static func json(_ value: CommentedJSON) throws(CommentedJSONError) -> JSON {
    switch value.content {
    case .null: return .null
    case .bool(let bool): return .bool(bool)
    case .number(let text):
      guard let number = try? JSONParser.parse(text) else {
        throw CommentedJSONError(reason: .notAValue(text), position: value.position)
      }
      return number
    case .string(let text): return .string(text.text)
    case .array(let elements):
      var values: [JSON] = []
      for element in elements { values.append(try json(element)) }
      return .array(values)
    case .object(let members):
      var values: [JSON.Member] = []
      for member in members { values.append(JSON.Member(key: member.key, value: try json(member.value))) }
      return .object(values)
    }
  }

  private static func sentence(_ reason: CommentedJSONError.Reason) -> String {
    switch reason {
    case .trailingContent: "The file ends with its last bracket; remove what comes behind it."
    case .commentNotClosed: "This comment does not end; close it with */."
    case .unexpectedSlash: "Unexpected \"/\"; a comment begins with // or /*."
    case .nestedTooDeeply: "Objects and lists stand inside each other too deeply."
    case .valueMissing: "The file ends too early: a value is missing."
    case .notAValue(let text): text.isEmpty ? "Expected a value." : "\(text) is no value; texts stand in double quotes."
    case .expectedKey: "Expected a name in double quotes, or \"}\"."
    case .expectedColon(let key): "Expected \":\" behind \"\(key)\"."
    case .expectedSeparator(let closing): "Expected \",\" or \"\(closing)\"."
    case .duplicateKey(let key): "\"\(key)\" is written twice; keep one."
    case .stringNotClosed: "This text does not end on its line; close it with a double quote."
    case .controlCharacter: "A text cannot hold control characters; write a line break as \\n."
    case .unknownEscape: "Unknown escape in a text; double a backslash that is meant as one."
    case .badUnicodeEscape: "\\u needs four hexadecimal digits."
    case .loneSurrogate: "Half of a surrogate pair in a text."
    }
  }
}

extension MessageFile {
  /// Runs `body`; if the server refuses what campaigns say, all of their faults are told, not the first alone.
  static func explaining<Result>(
    _ campaigns: [JSON], asking client: AdminClient, of server: ServerOptions, body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch let error as AdminClientError where error.status == 400 {
      for (index, campaign) in campaigns.enumerated() {
        let check = try await client.call(
          AdminMessages.check, query: NoQuery(), document: campaign, namespace: server.namespace
        ).value
        for fault in check.faults {
          DoubloonCommandLine.output.error("\(name(of: campaign, at: index)): \(fault.text)".printable)
        }
      }
      throw error
    }
  }

  /// What a campaign of a file is called where it is told of.
  static func name(of campaign: JSON, at index: Int) -> String { campaign["id"]?.string ?? "campaigns[\(index)]" }

  /// A campaign as a file has it: without what only the server says, and with `publish` where it is published.
  static func kept(_ campaign: JSON) -> JSON {
    let members = (campaign.object ?? []).filter { !AdminMessages.Document.readOnly.contains($0.key) }
    let isPublished = campaign["state"]?.string == "published"
    return .object(members + (isPublished ? [JSON.Member(key: "publish", value: true)] : []))
  }
}
