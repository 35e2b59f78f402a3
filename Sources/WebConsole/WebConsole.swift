package import APISupport
package import HTTPServer
import NIOHTTP1

/// The console's pages: `/console/…`, and the way there from `/`.
///
/// Every address below `/console/` is answered with one page, which reads from its address what to show; the files that it
/// needs are below `/console/~VERSION/`, where browsers may keep them for ever. What the pages show comes from
/// `/admin/v1` alone, and is judged there.
package struct WebConsole: RequestSurface {
  private let files: ConsoleFiles
  private let settings: ConsoleSettings
  private let isDevelopment: Bool
  private let shell: HTTPResponse
  private let etag: String

  /// - `isDevelopment`: whether `/` leads browsers to the console.
  /// - `isSecure`: whether the server itself speaks TLS.
  package init(files: ConsoleFiles, settings: ConsoleSettings, isDevelopment: Bool, isSecure: Bool) {
    self.files = files
    self.settings = settings
    self.isDevelopment = isDevelopment
    etag = "\"\(files.build)\""
    shell = Self.page(
      .html, headers: Self.headers(isSecure: isSecure) + [.init("Cache-Control", "no-cache"), .init("ETag", etag)])
  }

  package func respond(to request: HTTPRequest, _ target: RequestTarget, sink: ResponseSink) -> Bool {
    guard let path = target.segments else { return false }
    if path.isEmpty { return respondAtRoot(request, sink: sink) }
    guard path.first == "console" else { return false }
    var sink = sink
    sink.routeClass = .operation
    sink.send(response(to: request, path: path.dropFirst().map(\.self)))
    return true
  }

  private func response(to request: HTTPRequest, path: [String]) -> HTTPResponse {
    guard settings.allows(host: request.headers.first(name: "host")) else {
      return missing("There is no console here: \"console.hosts\" of the configuration lists the names that it has.")
    }
    guard request.method == .GET else {
      var response = missing("The console's pages are read with GET.")
      response.status = .methodNotAllowed
      response.headers.append(.init("Allow", "GET, HEAD"))
      return response
    }
    guard let first = path.first, first.hasPrefix("~") else { return page(for: request) }
    guard first == "~\(files.build)", path.count == 2, let file = files[path[1]], path[1] != ConsoleFiles.shellName else {
      return missing("This file belongs to another version of the console: load the page again.")
    }
    var response = shell
    response.content = file.content
    response.headers.removeAll { $0.name == "ETag" || $0.name == "Cache-Control" }
    response.headers.append(
      .init("Cache-Control", files.areFixed ? "public, max-age=31536000, immutable" : "no-store"))
    response.body = file.bytes
    if let packed = files.packed(path[1]) {
      response.headers.append(.init("Vary", "Accept-Encoding"))
      if Self.takesGzip(request) {
        response.headers.append(.init("Content-Encoding", "gzip"))
        response.body = packed
      }
    }
    return response
  }

  /// Whether the client named gzip, without a weight: as browsers do.
  private static func takesGzip(_ request: HTTPRequest) -> Bool {
    (request.headers.first(name: "accept-encoding") ?? "").split(separator: ",").contains { $0.filter { $0 != " " } == "gzip" }
  }

  private func page(for request: HTTPRequest) -> HTTPResponse {
    var response = shell
    if files.areFixed, request.headers.first(name: "if-none-match") == etag {
      response.status = .notModified
      response.content = .none
      return response
    }
    response.body = files.shell
    return response
  }

  private func missing(_ message: String) -> HTTPResponse {
    var response = shell
    response.status = .notFound
    response.content = .text
    response.headers.removeAll { $0.name == "ETag" || $0.name == "Cache-Control" }
    response.body = Array("\(message)\n".utf8)
    return response
  }
}

// MARK: - The root

extension WebConsole {
  /// Leads a browser on: to the console in development; in production nobody is told what this is but that it works.
  private func respondAtRoot(_ request: HTTPRequest, sink: ResponseSink) -> Bool {
    guard request.method == .GET, request.head.first("accept")?.contains("text/html") == true else { return false }
    var sink = sink
    sink.routeClass = .operation
    if isDevelopment, settings.isEnabled {
      sink.send(.empty(.seeOther, headers: [.init("Location", "/console/")]))
    } else {
      var response = shell
      response.headers.removeAll { $0.name == "ETag" }
      response.body = Array(Self.plainPage.utf8)
      sink.send(response)
    }
    return true
  }

  private static let plainPage = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>A game server</title>
    <p>This is a game's server. It works; there is nothing to see here.</p>

    """
}

// MARK: - Headers

extension WebConsole {
  /// What browsers let the pages do: load this server's own scripts and styles, ask this server, and nothing else. Texts never
  /// become markup or code (Trusted Types).
  package static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob: data:", "connect-src 'self'",
    "manifest-src 'self'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].joined(separator: "; ")

  private static func headers(isSecure: Bool) -> [HTTPResponse.Header] {
    [
      .init("Content-Security-Policy", policy), .init("X-Frame-Options", "DENY"), .init("Referrer-Policy", "no-referrer"),
      .init("Cross-Origin-Opener-Policy", "same-origin"),
      .init("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()"),
    ] + (isSecure ? [.init("Strict-Transport-Security", "max-age=31536000")] : [])
  }

  private static func page(_ content: HTTPResponse.Content, headers: [HTTPResponse.Header]) -> HTTPResponse {
    var response = HTTPResponse(.ok, content: content, headers: headers, body: [])
    response.isForOwnPages = true
    return response
  }
}
