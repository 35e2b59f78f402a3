import AdminModel
import Credentials
import HTTPServer
import NIOHTTP1
import TreeModel

/// The administrators' surface as an OpenAPI 3.1 document, made of the route table and the types of its requests and answers.
enum OpenAPIDocument {
  /// The document.
  static func json(of routes: [RouteHead]) -> JSON {
    .record([
      ("openapi", "3.1.0"),
      (
        "info",
        [
          "title": "Doubloon: the administrators' surface", "version": "1",
          "description":
            "Errors are objects with \"error\", a sentence, and \"code\", a word for programs. Times are milliseconds since 1970.",
          "license": ["name": "Apache 2.0", "identifier": "Apache-2.0"],
        ]
      ),
      ("servers", [["url": "/"]]), ("security", [["bearer": []]]), ("paths", paths(of: routes)),
      (
        "components",
        [
          "securitySchemes": [
            "bearer": [
              "type": "http", "scheme": "bearer",
              "description":
                "An administrator's token, in development owner; or a service account's access token, from POST /token.",
            ]
          ],
          "schemas": .object(AnswerSchemas.all.map { .init(key: $0.name, value: $0.schema.document) }),
        ]
      ),
    ])
  }

  /// One entry for each path, with what is to be done there by method.
  private static func paths(of routes: [RouteHead]) -> JSON {
    var names: [String] = []
    var operations: [String: [JSON.Member]] = [:]
    for route in routes {
      let name = path(of: route.template)
      if operations[name] == nil { names.append(name) }
      operations[name, default: []].append(
        .init(key: route.method.rawValue.lowercased(), value: operation(of: route)))
    }
    return .object(names.map { .init(key: $0, value: .object(operations[$0] ?? [])) })
  }

  /// `/admin/v1/events/{event...}` as `/admin/v1/events/{event}`: that a part may hold slashes cannot be said.
  private static func path(of template: RouteTemplate) -> String {
    template.text.split(separator: "/").map { "/" + ($0.hasSuffix("...}") ? $0.dropLast(4) + "}" : $0) }.joined()
  }

  private static func operation(of route: RouteHead) -> JSON {
    guard let description = route.description else { return ["summary": .string(route.summary)] }
    let captures = description.captures.map { parameter(of: $0, in: "path") }
    let query = description.query.map { parameter(of: $0, in: "query") }
    return .record([
      ("operationId", .string(identifier(of: route))), ("summary", .string(route.summary)),
      ("x-role", (route.role?.rawValue).map(JSON.string)),
      ("x-proof", route.needsProof ? .bool(true) : nil), ("security", route.role == nil ? .array([]) : nil),
      ("parameters", captures.isEmpty && query.isEmpty ? nil : .array(captures + query)),
      ("requestBody", description.body.map { body($0, isOpen: description.isBodyOpen) }),
      ("responses", responses(of: description)),
    ])
  }

  /// `get_events_event`: unique, for those who make clients of the document.
  private static func identifier(of route: RouteHead) -> String {
    let words = route.template.text.split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "_" }.dropFirst(2)
    return ([route.method.rawValue.lowercased()] + words.map(String.init)).joined(separator: "_")
  }

  private static func parameter(of parameter: RouteDescription.Parameter, in place: String) -> JSON {
    [
      "name": .string(parameter.name), "in": .string(place), "required": .bool(parameter.isRequired || place == "path"),
      "description": .string(parameter.text), "schema": parameter.schema.document,
    ]
  }

  private static func body(_ fields: [JSONSchema.Field], isOpen: Bool) -> JSON {
    // A member that may be missing may as well be null.
    let taken = fields.map { field in
      field.isRequired ? field : JSONSchema.Field.maybe(field.name, schema: .nullable(field.schema), text: field.text)
    }
    return [
      "required": .bool(fields.contains(where: \.isRequired)),
      "content": ["application/json": ["schema": JSONSchema.object(taken, isClosed: !isOpen).document]],
    ]
  }

  private static func responses(of description: RouteDescription) -> JSON {
    var answers = [JSON.Member(key: "200", value: done(description))]
    for (status, text) in description.others.sorted(by: { $0.key < $1.key }) {
      answers.append(.init(key: "\(status)", value: response(text, schema: description.answer)))
    }
    for (status, text) in [
      ("400", "The request is not valid; the sentence says what to do."), ("401", "An administrator's credentials are needed."),
      (
        "403",
        "The credentials' role is too low; x-role says which is needed. With x-proof: a page's sign-in is too long ago."
      ),
      (
        "default",
        "Refused: what is asked for is not there (404), stands against it (409), is gone (410), or cannot be had now."
      ),
    ] {
      answers.append(.init(key: status, value: response(text, schema: .named("Error"))))
    }
    return .object(answers)
  }

  private static func done(_ description: RouteDescription) -> JSON {
    guard !description.mediaTypes.isEmpty else { return response("Done.", schema: description.answer) }
    return [
      "description": "Done.", "content": .object(description.mediaTypes.map { JSON.Member(key: $0, value: .object([])) }),
    ]
  }

  private static func response(_ text: String, schema: JSONSchema) -> JSON {
    ["description": .string(text), "content": ["application/json": ["schema": schema.document]]]
  }
}

/// The shapes that several routes answer with, by name.
enum AnswerSchemas {
  static let all: [(name: String, schema: JSONSchema)] = types.compactMap { type in
    type.schemaName.map { ($0, .object(JSONSchema.fields(of: type))) }
  }

  static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0.schema) })

  private static let types: [any AdminValue.Type] = [
    AdminRefusal.self, Done.self, AdminEvents.Event.self, AdminEvents.Execution.self, AdminEvents.Delivery.self,
    AdminLedger.Entry.self, AdminFunctions.Function.self, AdminEvents.Cause.self, AdminEvents.Change.self,
    AdminLogs.AuditRecord.self, AdminTree.Child.self,
  ]
}
