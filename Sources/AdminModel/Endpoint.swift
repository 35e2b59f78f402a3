package import TreeModel

/// One address of the administrators' surface: how it is asked, by whom, and what it answers.
///
/// The server makes its route of it, clients their requests, and the OpenAPI document its entry.
package struct Endpoint<Query: AdminValue, Body: AdminValue, Answer: Codable & Sendable>: Sendable {
  package let method: EndpointMethod
  /// Such as `/admin/v1/functions/{name}/pause`; `{event...}` stands for several segments.
  package let template: String
  /// One sentence for the list of routes and the OpenAPI document.
  package let summary: String
  package let access: EndpointAccess
  /// Whether it is about one namespace, which the parameter `ns` names.
  package let isScoped: Bool
  /// What stands for the braces of the template, in their order.
  package let captures: [EndpointParameter]
  /// Other statuses than 200 whose body is an answer, with what they mean.
  package let others: [Int: String]
  /// The types of an answer that is no JSON.
  package let mediaTypes: [String]
  /// Whether it cannot be undone: who asks from one of the server's own pages must have shown the credential lately.
  package private(set) var needsProof = false

  package init(
    _ method: EndpointMethod, _ template: String, _ summary: String, access: EndpointAccess = .viewer, isScoped: Bool = false,
    captures: [EndpointParameter] = [], others: [Int: String] = [:], mediaTypes: [String] = []
  ) {
    self.method = method
    self.template = template
    self.summary = summary
    self.access = access
    self.isScoped = isScoped
    self.captures = captures
    self.others = others
    self.mediaTypes = mediaTypes
  }

  /// The same at another address, for surfaces that have two names for a thing.
  package func at(_ template: String) -> Endpoint {
    let moved = Endpoint(
      method, template, summary, access: access, isScoped: isScoped, captures: captures, others: others, mediaTypes: mediaTypes)
    return needsProof ? moved.withProof : moved
  }

  /// The same, for what cannot be undone.
  package var withProof: Endpoint {
    var endpoint = self
    endpoint.needsProof = true
    return endpoint
  }

  /// The parameters behind the `?`.
  package var query: [EndpointParameter] {
    let fields = JSONSchema.fields(of: Query.self)
    return (isScoped ? [.namespace] : [])
      + fields.map { EndpointParameter($0.name, $0.schema, isRequired: $0.isRequired, $0.text) }
  }

  /// The members of the body; nil if none is sent.
  package var body: [JSONSchema.Field]? { Body.self == NoBody.self ? nil : JSONSchema.fields(of: Body.self) }

  /// What a 200 holds.
  package var answer: JSONSchema { JSONSchema(of: Answer.self) }
}

/// How an endpoint is asked.
package enum EndpointMethod: String, Sendable {
  case get = "GET"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"
}

/// Who may ask.
package enum EndpointAccess: Sendable {
  /// Anybody.
  case open
  /// Who reads, and everybody above.
  case viewer
  /// Who repairs, and administrators.
  case support
  case admin
  /// Administrators, of a server in development.
  case adminInDevelopment
}

/// A parameter of the query, or a part of the path.
package struct EndpointParameter: Sendable {
  package let name: String
  package let schema: JSONSchema
  package let isRequired: Bool
  package let text: String

  package init(_ name: String, _ schema: JSONSchema, isRequired: Bool = false, _ text: String) {
    self.name = name
    self.schema = schema
    self.isRequired = isRequired
    self.text = text
  }

  /// Which database is meant.
  package static let namespace = EndpointParameter(
    "ns", .form("^[A-Za-z0-9-]{1,64}$"), "The namespace; the server's default if it is not given.")

  /// A part of the path, as text.
  package static func capture(_ name: String, text: String) -> EndpointParameter {
    EndpointParameter(name, .filled, isRequired: true, text)
  }
}

/// Of an endpoint without parameters.
package struct NoQuery: AdminValue {
  package init() {}
}

/// Of an endpoint that takes a reason and nothing else.
package struct ReasonQuery: AdminValue {
  package var reason: String?

  package init(reason: String? = nil) {
    self.reason = reason
  }

  package static let notes: [String: FieldNote] = ["reason": .only(.filled, text: "Why, for the record.")]
}

/// Of an endpoint to which no body is sent.
package struct NoBody: AdminValue {
  package init() {}
}

/// Of an endpoint whose body has no members: an empty object.
package struct EmptyBody: AdminValue {
  package init() {}
}

extension FieldNote {
  /// At most so many rows.
  package static func limit(_ fallback: Int, max: Int64 = 1000) -> FieldNote {
    .only(.integer(1...max), text: "At most so many rows; \(fallback) if it is not given.")
  }
  package static let cursor = FieldNote.only(.filled, text: "The \"next\" of an earlier page, to go on behind it.")
  package static let path = FieldNote.path("A path in the tree: /users/bob.")
  /// A path in the tree, with what it is for.
  package static func path(_ text: String) -> FieldNote { .only(.form(#"^[^.#$\[\]\x00-\x1F\x7F]*$"#), text: text) }
  package static let function = FieldNote.only(.filled, text: "Only of this function.")
  package static let since = FieldNote.text("Not before this time, in milliseconds since 1970.")
  package static let until = FieldNote.text("Not after this time, in milliseconds since 1970.")
  static let cut = FieldNote.only(
    .integer(16...65_536),
    text:
      "Texts are cut at so many bytes, and the answer holds no more changes than fit in 64 KB; whole texts if it is not given.")
}
