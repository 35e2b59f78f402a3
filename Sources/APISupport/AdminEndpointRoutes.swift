package import AdminModel
import Credentials
package import HTTPServer
import NIOHTTP1
import TreeModel

/// Routes that are declared by an endpoint: its address, its words and its role, and values instead of JSON.
extension APIRoute {
  /// Reads the store, on a thread of the pool.
  package static func reading<Query, Answer>(
    _ endpoint: Endpoint<Query, NoBody, Answer>,
    by answer: @escaping @Sendable (APICall<Services>, Query) throws -> Answer
  ) -> APIRoute {
    APIRoute.list(RouteTemplate(stringLiteral: endpoint.template), endpoint.summary) { call in
      .json(JSON(encoding: try answer(call, try call.query(as: Query.self))))
    }.described(RouteDescription(of: endpoint))
  }

  /// The same for what has its answer as JSON already.
  package static func responding<Query, Answer>(
    _ endpoint: Endpoint<Query, NoBody, Answer>,
    by response: @escaping @Sendable (APICall<Services>, Query) throws -> HTTPResponse
  ) -> APIRoute {
    APIRoute.list(RouteTemplate(stringLiteral: endpoint.template), endpoint.summary) { call in
      try response(call, try call.query(as: Query.self))
    }.described(RouteDescription(of: endpoint))
  }

  /// Changes something, or waits for others.
  ///
  /// - `audit`: under what name the action is recorded; nil if it changes nothing.
  package static func changing<Query, Body, Answer>(
    _ endpoint: Endpoint<Query, Body, Answer>, audit: String?,
    answer: @escaping @Sendable (APICall<Services>, Body) async throws -> Answer
  ) -> APIRoute {
    responding(to: endpoint, audit: audit) { call, body in
      .json(JSON(encoding: try await answer(call, body)))
    }
  }

  /// The same for what chooses its status and its headers.
  package static func responding<Query, Body, Answer>(
    to endpoint: Endpoint<Query, Body, Answer>, audit: String?,
    response: @escaping @Sendable (APICall<Services>, Body) async throws -> HTTPResponse
  ) -> APIRoute {
    APIRoute.mutate(
      HTTPMethod(rawValue: endpoint.method.rawValue), template: RouteTemplate(stringLiteral: endpoint.template), audit: audit,
      summary: endpoint.summary, access: RouteAccess(endpoint.access)
    ) { call in try await response(call, try call.body(as: Body.self)) }
    .described(RouteDescription(of: endpoint)).proved(endpoint.needsProof)
  }
}

extension APICall {
  /// The parameters behind the `?` as a value. They fit: the route's description was asked before.
  package func query<Query: AdminValue>(as type: Query.Type) throws -> Query {
    do {
      let members = query.parameters.map { JSON.Member(key: $0.name, value: .string($0.value)) }
      return try JSON.object(members).decoded(parsesText: true)
    } catch {
      throw APIError.badRequest("The parameters do not fit: \(error)")
    }
  }

  /// The body as a value. It fits: the route's description was asked before.
  package func body<Body: AdminValue>(as type: Body.Type) throws -> Body {
    let json = try type == NoBody.self ? [:] : body()
    do {
      return try json.decoded()
    } catch {
      throw APIError.badRequest("The body does not fit: \(error)")
    }
  }
}

extension RouteAccess {
  package init(_ access: EndpointAccess) {
    switch access {
    case .open: self = .open
    case .viewer: self = .viewer
    case .support: self = .support
    case .admin: self = .role(.admin)
    case .adminInDevelopment: self = .adminInDevelopment
    }
  }
}

extension RouteDescription {
  /// What an endpoint says of itself.
  package init<Query, Body, Answer>(of endpoint: Endpoint<Query, Body, Answer>) {
    self.init(
      query: endpoint.query.map(Parameter.init), captures: endpoint.captures.map(Parameter.init), body: endpoint.body,
      answer: endpoint.answer, others: endpoint.others, mediaTypes: endpoint.mediaTypes)
  }
}

extension RouteDescription.Parameter {
  fileprivate init(_ parameter: EndpointParameter) {
    self.init(parameter.name, parameter.schema, required: parameter.isRequired, parameter.text)
  }
}
