package import TreeModel

/// What a route takes and gives, in types: what the OpenAPI document says of it, and what a request is judged by before the
/// route sees it.
package struct RouteDescription: Sendable {
  /// A parameter of the query, or a part of the path.
  package struct Parameter: Sendable {
    package let name: String
    package let schema: JSONSchema
    package let isRequired: Bool
    package let text: String

    package init(_ name: String, _ schema: JSONSchema, required: Bool = false, _ text: String) {
      self.name = name
      self.schema = schema
      isRequired = required
      self.text = text
    }
  }

  /// Behind the `?`.
  package let query: [Parameter]
  /// The captures of the template, in their order.
  package let captures: [Parameter]
  /// The body's members; nil if the route takes no body.
  package let body: [JSONSchema.Field]?
  /// What a 200 holds.
  package let answer: JSONSchema
  /// Other statuses than 200 and the refusals that every route has, with what they mean; their body is `answer`.
  package let others: [Int: String]
  /// The types of an answer that is no JSON, such as pictures; empty: JSON.
  package let mediaTypes: [String]
  /// Whether the route itself judges members of the body that are not described, to tell of them together with all other faults.
  package private(set) var isBodyOpen = false

  /// The same for a route that judges the members of its body itself.
  package var withOpenBody: RouteDescription {
    var description = self
    description.isBodyOpen = true
    return description
  }

  package init(
    query: [Parameter] = [], captures: [Parameter] = [], body: [JSONSchema.Field]? = nil, answer: JSONSchema,
    others: [Int: String] = [:], mediaTypes: [String] = []
  ) {
    self.query = query
    self.captures = captures
    self.body = body
    self.answer = answer
    self.others = others
    self.mediaTypes = mediaTypes
  }

  /// Parameters that every route understands: the namespace, and the credentials.
  static let everywhere: Set<String> = ["ns", "auth", "access_token"]

  /// What is wrong with a request's parameters, before the route looks at them.
  func check<Services>(_ call: APICall<Services>) throws {
    for item in call.query.parameters where !Self.everywhere.contains(item.name) {
      guard let parameter = query.first(where: { $0.name == item.name }) else {
        let known = query.isEmpty ? "none but ns" : query.map(\.name).joined(separator: ", ")
        throw APIError.badRequest("There is no parameter \"\(item.name.prefix(80))\" here; there is \(known).")
      }
      if let problem = parameter.schema.problem(inParameter: item.value, at: item.name) { throw APIError.badRequest(problem) }
    }
    for parameter in query where parameter.isRequired {
      if call.query[parameter.name]?.isEmpty ?? true {
        throw APIError.badRequest("The parameter \(parameter.name) is missing.")
      }
    }
    guard let body else { return }
    if let problem = JSONSchema.object(body, isClosed: !isBodyOpen).problem(in: try call.body(), at: "The body") {
      throw APIError.badRequest(problem)
    }
  }
}

extension RouteDescription.Parameter {
  /// Which database is meant.
  package static let namespace = Self(
    "ns", .form("^[A-Za-z0-9-]{1,64}$"), "The namespace; the server's default if it is not given.")
  /// At most so many rows.
  package static func limit(_ fallback: Int, max: Int64 = 1000) -> Self {
    Self("limit", .integer(1...max), "At most so many rows; \(fallback) if it is not given.")
  }
  package static let cursor = Self("cursor", .filled, "The \"next\" of an earlier page, to go on behind it.")
  package static let path = Self(
    "path", .form(#"^[^.#$\[\]\x00-\x1F\x7F]*$"#), required: true, "A place in the tree: /users/bob.")
  package static let uid = Self("uid", .form(JSONSchema.keyForm), required: true, "The player.")
  package static let function = Self("function", .filled, "Only of this function.")
  package static let since = Self("since", .time, "Not before this time, in milliseconds since 1970.")
  package static let until = Self("until", .time, "Not after this time, in milliseconds since 1970.")
}
