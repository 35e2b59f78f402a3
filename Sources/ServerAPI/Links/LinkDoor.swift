import Links
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Opens links: what stands below the prefixes of the link hosts (spec: links-messaging §3).
///
/// A link that is in memory is answered on the event loop: nothing waits, nothing is written. Other links are one point read
/// on a thread of the pool.
struct LinkDoor: Sendable {
  private let services: ServerServices
  private let book: LinkBook
  private let visitors = VisitorCache()

  /// Nil where no links are served.
  init?(services: ServerServices) {
    guard let book = services.links else { return nil }
    self.services = services
    self.book = book
  }

  /// One request for a link.
  private struct Visit: Sendable {
    let visitor: LinkVisitor
    let isHead: Bool
    let isDebug: Bool
    let client: ClientAddress
    let hosts: LinkHosts

    /// Where the visitor is; nil if that is not known.
    var address: String? { client == .unknown ? nil : client.household.description }
  }

  /// Answers if the address is a link's.
  ///
  /// - Returns: false if another surface is meant.
  func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool {
    let hosts = book.hosts
    guard !hosts.isEmpty, request.method == .GET, let header = request.headers.first(name: "host"),
      let site = hosts.site(header), let (prefix, rest) = site.place(String(decoding: target.path, as: UTF8.self))
    else { return false }
    let query = target.query.parameters.isEmpty ? [] : Self.parameters(of: request.uri)
    if rest.isEmpty, prefix.path.isEmpty, query?.contains(where: { $0.name == "link" }) != true { return false }
    var sink = sink
    sink.routeClass = .link
    let visit = Visit(
      visitor: visitors.visitor(request.headers.first(name: "user-agent") ?? ""), isHead: request.isHead,
      isDebug: query?.contains { $0.name == "d" && $0.value == "1" } ?? false,
      client: request.client, hosts: hosts)
    guard let query else {
      sink.send(Self.page(.invalid(LinkFault(.invalidArgument, "The link is not percent-encoded UTF-8.")), .badRequest))
      return true
    }
    if rest.isEmpty {
      openLong(query, below: prefix, visit, sink: sink)
    } else if LinkHosts.Site.isShort(rest) {
      openShort(prefix.key(of: rest), below: prefix, visit, sink: sink)
    } else {
      sink.send(Self.page(.notFound("https://\(prefix.key)/\(rest)"), .notFound))
    }
    return true
  }

  /// What the query says, by the links' own rules: `+` stays a plus. Nil if it is not percent-encoded UTF-8.
  private static func parameters(of uri: String) -> [(name: String, value: String)]? {
    guard let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    return LinkURL("https://link/\(uri[mark...])")?.parameters
  }

  // MARK: Finding

  private func openShort(_ key: String, below prefix: LinkPrefix, _ visit: Visit, sink: ResponseSink) {
    if let entry = book.cached(key) { return answer(entry, below: prefix, visit, sink: sink) }
    services.threadPool.submit { state in
      guard case .active = state else {
        return sink.send(Self.page(.invalid(LinkFault(.unavailable, "The server is shutting down.")), .serviceUnavailable))
      }
      do throws(LinkFault) {
        guard let entry = try book.entry(key) else { return sink.send(Self.page(.notFound("https://\(key)"), .notFound)) }
        answer(entry, below: prefix, visit, sink: sink)
      } catch {
        sink.send(Self.page(.invalid(error), HTTPResponseStatus(statusCode: error.status.code)))
      }
    }
  }

  private func openLong(
    _ query: [(name: String, value: String)], below prefix: LinkPrefix, _ visit: Visit, sink: ResponseSink
  ) {
    switch book.longLink(query, below: prefix) {
    case .invalid(let fault) where !visit.isDebug: sink.send(Self.page(.invalid(fault), .badRequest))
    case .invalid(let fault):
      let opening = LinkOpening(LinkParameters(query), address: prefix.description, settings: visit.hosts.settings)
      sink.send(Self.page(.debug(opening, settings: visit.hosts.settings, warnings: [], fault: fault), .ok))
    case .long(let opening, let warnings):
      if visit.isDebug {
        return sink.send(Self.page(.debug(opening, settings: visit.hosts.settings, warnings: warnings, fault: nil), .ok))
      }
      open(opening, of: nil, visit, sink: sink)
    case .short, .unknown: sink.send(Self.page(.notFound(prefix.description), .notFound))
    }
  }

  // MARK: Answering

  private func answer(_ entry: LinkEntry, below prefix: LinkPrefix, _ visit: Visit, sink: ResponseSink) {
    if visit.isDebug {
      let settings = visit.hosts.settings
      let opened = entry.opening(settings: settings)
      let (warnings, fault) = book.findings(opened, below: prefix)
      return sink.send(Self.page(.debug(opened, settings: settings, warnings: warnings, fault: fault), .ok))
    }
    if let fault = entry.fault { return sink.send(Self.page(.invalid(fault), .badRequest)) }
    switch visit.visitor.device {
    case .desktop, .other:
      guard !visit.visitor.isCrawler, !visit.isHead else { break }
      book.opened(
        entry.record.key, invite: entry.record.invite, by: visit.visitor, isFallback: entry.desktop.isFallback,
        address: visit.address, click: "")
      return sink.send(Self.redirect(entry.desktop.url))
    case .android, .iphone, .ipad: break
    }
    open(entry.opening(settings: visit.hosts.settings), of: entry, visit, sink: sink)
  }

  private func open(_ opening: LinkOpening, of entry: LinkEntry?, _ visit: Visit, sink: ResponseSink) {
    if visit.isHead || visit.visitor.isCrawler {
      return sink.send(Self.page(LinkPage(cardOf: opening, settings: visit.hosts.settings), .ok))
    }
    if let click = book.clickNow(on: opening.binding, by: visit.visitor) {
      return finish(opening, of: entry, visit, click: click, sink: sink)
    }
    // The first opening ever: the key of clicks is made.
    sink.eventLoop.makeFutureWithTask { () async throws -> String in
      try await book.click(on: opening.binding, by: visit.visitor)
    }.whenComplete { result in
      switch result {
      case .success(let click): finish(opening, of: entry, visit, click: click, sink: sink)
      case .failure: sink.send(Self.redirect(opening.destination))
      }
    }
  }

  private func finish(_ opening: LinkOpening, of entry: LinkEntry?, _ visit: Visit, click: String, sink: ResponseSink) {
    let response: HTTPResponse
    var isFallback = false
    switch opening.outcome(for: visit.visitor, click: click) {
    case .redirect(let url, let fallback):
      isFallback = fallback
      response = Self.redirect(url)
    case .preview:
      let preview = LinkPage.Preview(
        opening: opening, device: visit.visitor.device, click: click, code: entry?.record.code)
      response = Self.page(LinkPage(preview, settings: visit.hosts.settings), .ok)
    case .card: response = Self.page(LinkPage(cardOf: opening, settings: visit.hosts.settings), .ok)
    }
    book.opened(
      entry?.record.key, invite: entry?.record.invite, by: visit.visitor, isFallback: isFallback, address: visit.address,
      click: click)
    sink.send(response)
  }

  private static func redirect(_ url: String) -> HTTPResponse {
    var response = HTTPResponse(.found, content: .none, headers: [HTTPResponse.Header("Location", url)], body: [])
    response.isForOneVisitor = true
    return response
  }

  private static func page(_ page: LinkPage, _ status: HTTPResponseStatus) -> HTTPResponse {
    var response = HTTPResponse(
      status, content: .html,
      headers: [
        HTTPResponse.Header("Content-Security-Policy", page.policy), HTTPResponse.Header("Referrer-Policy", "no-referrer"),
      ], body: Array(page.html.utf8))
    response.isForOneVisitor = true
    return response
  }
}
