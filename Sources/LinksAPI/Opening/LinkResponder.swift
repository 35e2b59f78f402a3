import APISupport
package import HTTPServer
import Links
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TextFormats

/// Opens links: answers requests below the prefixes of the link hosts.
///
/// A link that is in memory is answered on the event loop: nothing waits, nothing is written. Other links are one point read
/// on a thread of the pool.
package struct LinkResponder: RequestSurface {
  private let services: LinksServices
  private let links: LinkService
  private let visitors = VisitorCache()

  /// Nil where no links are served.
  package init?(services: LinksServices) {
    guard let links = services.links else { return nil }
    self.services = services
    self.links = links
  }

  /// One request for a link.
  private struct Visit: Sendable {
    let visitor: LinkVisitor
    let isHead: Bool
    let isDebug: Bool
    let client: ClientAddress
    let hosts: LinkHosts
    /// What was asked for, as it was sent.
    let uri: String
    /// The header `Accept-Language`.
    let languages: String?

    /// Chosen only where a page is shown: most openings redirect.
    var phrases: LinkPhrases { LinkPhrases.chosen(from: languages.map { AcceptLanguage.locales($0) } ?? []) }

    var query: String { uri.firstIndex(of: "?").map { String(uri[uri.index(after: $0)...]) } ?? "" }

    /// Where the visitor is; nil if that is not known.
    var address: String? { client == .unknown ? nil : client.clientNetwork.description }
  }

  /// Answers if the address is a link's.
  ///
  /// - Returns: false if another surface is meant.
  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool {
    let hosts = links.hosts
    guard !hosts.isEmpty, request.method == .GET, let header = request.headers.first(name: "host"),
      let site = hosts.site(header), let (prefix, rest) = site.match(String(decoding: target.path, as: UTF8.self))
    else { return false }
    let query = target.query.parameters.isEmpty ? [] : Self.parameters(of: request.uri)
    if rest.isEmpty, prefix.path.isEmpty, query?.contains(where: { $0.name == "link" }) != true { return false }
    var sink = sink
    sink.routeClass = .link
    var visitor = visitors.visitor(request.headers.first(name: "user-agent") ?? "")
    if let told = query?.first(where: { $0.name == "_ipad" }) { visitor = visitor.told(isIPad: told.value == "1") }
    let visit = Visit(
      visitor: visitor, isHead: request.isHead, isDebug: query?.contains { $0.name == "d" && $0.value == "1" } ?? false,
      client: request.client, hosts: hosts, uri: request.uri,
      languages: request.headers.first(name: "accept-language"))
    guard let query else {
      sink.send(Self.page(.invalid("The link is not percent-encoded UTF-8.", in: visit.phrases), status: .badRequest))
      return true
    }
    if rest.isEmpty {
      openLong(query, below: prefix, visit: visit, sink: sink)
    } else if LinkHosts.Site.isShort(rest) {
      openShort(prefix.key(of: rest), below: prefix, visit: visit, sink: sink)
    } else {
      sink.send(Self.page(.notFound("https://\(prefix.key)/\(rest)", in: visit.phrases), status: .notFound))
    }
    return true
  }

  /// What the query says, by the links' own rules: `+` stays a plus. Nil if it is not percent-encoded UTF-8.
  private static func parameters(of uri: String) -> [(name: String, value: String)]? {
    guard let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    return LinkURL("https://link/\(uri[mark...])")?.parameters
  }

  // MARK: Finding

  private func openShort(_ key: String, below prefix: LinkPrefix, visit: Visit, sink: ResponseSink) {
    if let entry = links.cached(key) { return answer(entry, below: prefix, visit: visit, sink: sink) }
    services.threadPool.submit { state in
      guard case .active = state else { return sink.send(Self.shuttingDown(visit)) }
      do {
        guard let entry = try links.entry(key) else {
          let address = "https://\(key)"
          return sink.send(
            try links.wasDeleted(key)
              ? Self.page(.deleted(address, in: visit.phrases), status: .gone)
              : Self.page(.notFound(address, in: visit.phrases), status: .notFound))
        }
        answer(entry, below: prefix, visit: visit, sink: sink)
      } catch {
        sink.send(Self.errorPage(error, visit: visit))
      }
    }
  }

  private func openLong(
    _ query: [(name: String, value: String)], below prefix: LinkPrefix, visit: Visit, sink: ResponseSink
  ) {
    let (opening, warnings): (LinkOpening, [LinkWarning])
    do throws(LinkError) {
      (opening, warnings) = try links.longLink(query, below: prefix)
    } catch {
      guard visit.isDebug else { return sink.send(Self.page(.invalid(error.message, in: visit.phrases), status: .badRequest)) }
      let opening = LinkOpening(LinkParameters(query), address: prefix.description, settings: visit.hosts.settings)
      return explain(opening, warnings: [], error: error, visit: visit, sink: sink)
    }
    guard links.hasDisabledForms else {
      return openLong(opening, warnings: warnings, isDisabled: false, visit: visit, sink: sink)
    }
    services.threadPool.submit { state in
      guard case .active = state else { return sink.send(Self.shuttingDown(visit)) }
      do {
        let isDisabled = try links.isDisabled(opening.parameters, below: prefix)
        openLong(opening, warnings: warnings, isDisabled: isDisabled, visit: visit, sink: sink)
      } catch {
        sink.send(Self.errorPage(error, visit: visit))
      }
    }
  }

  private func openLong(
    _ opening: LinkOpening, warnings: [LinkWarning], isDisabled: Bool, visit: Visit, sink: ResponseSink
  ) {
    if visit.isDebug {
      return explain(opening, warnings: warnings, error: isDisabled ? .disabled : nil, visit: visit, sink: sink)
    }
    guard !isDisabled else { return sink.send(Self.page(.disabled(opening.address, in: visit.phrases), status: .notFound)) }
    open(opening, of: nil, visit: visit, sink: sink)
  }

  // MARK: Answering

  /// The page of `d=1`.
  private func explain(
    _ opening: LinkOpening, warnings: [LinkWarning], error: LinkError?, visit: Visit, sink: ResponseSink
  ) {
    sink.send(Self.page(.debug(opening, warnings: warnings, error: error, in: visit.phrases), status: .ok))
  }

  private func answer(_ entry: LinkEntry, below prefix: LinkPrefix, visit: Visit, sink: ResponseSink) {
    if visit.isDebug {
      let settings = visit.hosts.settings
      let opened = entry.opening(settings: settings)
      let (warnings, error) = links.findings(opened, below: prefix)
      return explain(opened, warnings: warnings, error: error ?? entry.error, visit: visit, sink: sink)
    }
    if entry.isDisabled { return sink.send(Self.page(.disabled(entry.record.address, in: visit.phrases), status: .notFound)) }
    if let error = entry.error { return sink.send(Self.page(.invalid(error.message, in: visit.phrases), status: .badRequest)) }
    switch visit.visitor.device {
    case .desktop, .other:
      guard !visit.visitor.isCrawler, !visit.isHead, !(visit.visitor.mayBeIPad && entry.differsOnIPads) else { break }
      links.opened(
        entry.record.key, invite: entry.record.invite, by: visit.visitor, isFallback: entry.desktop.isFallback,
        address: visit.address, click: "")
      return sink.send(Self.redirect(entry.desktop.url))
    case .android, .iphone, .ipad: break
    }
    open(entry.opening(settings: visit.hosts.settings), of: entry, visit: visit, sink: sink)
  }

  private func open(_ opening: LinkOpening, of entry: LinkEntry?, visit: Visit, sink: ResponseSink) {
    if visit.isHead || visit.visitor.isCrawler {
      return sink.send(
        Self.page(LinkPage(cardOf: opening, settings: visit.hosts.settings, phrases: visit.phrases), status: .ok))
    }
    if visit.visitor.mayBeIPad, opening.differsOnIPads {
      return sink.send(Self.page(.asking(visit.query, in: visit.phrases), status: .ok))
    }
    if let click = links.clickNow(on: opening.binding, by: visit.visitor) {
      return finish(opening, of: entry, visit: visit, click: click, sink: sink)
    }
    // The first opening ever: the key of clicks is made.
    sink.eventLoop.makeFutureWithTask { () async throws -> String in
      try await links.click(on: opening.binding, by: visit.visitor)
    }.whenComplete { result in
      switch result {
      case .success(let click): finish(opening, of: entry, visit: visit, click: click, sink: sink)
      case .failure: sink.send(Self.redirect(opening.destination))
      }
    }
  }

  private func finish(_ opening: LinkOpening, of entry: LinkEntry?, visit: Visit, click: String, sink: ResponseSink) {
    let response: HTTPResponse
    var isFallback = false
    switch opening.outcome(for: visit.visitor, click: click) {
    case .redirect(let url, let fallback):
      isFallback = fallback
      response = Self.redirect(url)
    case .preview:
      let preview = LinkPage.Preview(
        opening: opening, device: visit.visitor.device, click: click, code: entry?.record.code, phrases: visit.phrases)
      response = Self.page(LinkPage(preview, settings: visit.hosts.settings), status: .ok)
    case .card:
      response = Self.page(LinkPage(cardOf: opening, settings: visit.hosts.settings, phrases: visit.phrases), status: .ok)
    }
    links.opened(
      entry?.record.key, invite: entry?.record.invite, by: visit.visitor, isFallback: isFallback, address: visit.address,
      click: click)
    sink.send(response)
  }

  private static func shuttingDown(_ visit: Visit) -> HTTPResponse {
    page(.invalid("The server is shutting down.", in: visit.phrases), status: .serviceUnavailable)
  }

  private static func errorPage(_ error: any Error, visit: Visit) -> HTTPResponse {
    let error = LinksAPIError(error)
    return page(.invalid(error.message, in: visit.phrases), status: HTTPResponseStatus(statusCode: error.status.code))
  }

  private static func redirect(_ url: String) -> HTTPResponse {
    var response = HTTPResponse(.found, content: .none, headers: [HTTPResponse.Header("Location", url)], body: [])
    response.isForOneVisitor = true
    return response
  }

  private static func page(_ page: LinkPage, status: HTTPResponseStatus) -> HTTPResponse {
    var response = HTTPResponse(
      status, content: .html,
      headers: [
        HTTPResponse.Header("Content-Security-Policy", page.policy), HTTPResponse.Header("Referrer-Policy", "no-referrer"),
      ], body: Array(page.html.utf8))
    response.isForOneVisitor = true
    return response
  }
}

/// Caches parsed user agents: there are few different ones, and every opening needs one.
final class VisitorCache: Sendable {
  private static let agentsMax = 4096
  private let known = Mutex<[String: LinkVisitor]>([:])

  func visitor(_ agent: String) -> LinkVisitor {
    // No browser sends a longer one.
    guard agent.utf8.count <= 512 else { return LinkVisitor(userAgent: agent) }
    return known.withLock { known in
      if let visitor = known[agent] { return visitor }
      let visitor = LinkVisitor(userAgent: agent)
      if known.count >= Self.agentsMax { known.removeAll(keepingCapacity: true) }
      known[agent] = visitor
      return visitor
    }
  }
}
