import HTTPServer
import Links
import TreeModel

/// Changing and deleting short links.
extension LinkAdminRoutes {
  static func edit(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let book = try book(call)
    let changes = try linkEdit(call.body())
    let record = try record(call, book)
    return try await answering { () async throws(LinkFault) in
      let edited = try await book.edit(record.key, changes, actor: call.caller.actor)
      return .json(["link": edited.record.json, "warning": .array(edited.warnings.map(\.json))])
    }
  }

  static func remove(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
    let book = try book(call)
    let record = try record(call, book)
    return try await answering { () async throws(LinkFault) in
      .json(try await book.delete(record.key, actor: call.caller.actor).json)
    }
  }

  private static func linkEdit(_ body: JSON) throws(APIError) -> LinkEdit {
    var edit = LinkEdit()
    if let name = try body.optional("name") {
      guard name.utf8.count <= 200 else { throw .badRequest("name must be a text of at most 200 bytes.") }
      edit.name = .some(name.isEmpty ? nil : name)
    }
    if let value = body["disabled"], !value.isNull {
      guard let isDisabled = value.bool else { throw .badRequest("disabled must be true or false.") }
      edit.isDisabled = isDisabled
    }
    guard let parameters = body["parameters"], !parameters.isNull else { return edit }
    guard let members = parameters.object else { throw .badRequest("parameters must be an object.") }
    for member in members {
      guard let parameter = LinkParameter(rawValue: member.key) else {
        throw .badRequest("\(member.key.prefix(80)) is no parameter of a long link.")
      }
      guard member.value.isNull || member.value.string != nil else {
        throw .badRequest("The parameter \(member.key) must be a text, or null.")
      }
      edit.parameters[parameter] = .some(member.value.string)
    }
    return edit
  }
}
