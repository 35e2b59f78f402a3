import APISupport
import HTTPServer
import NIOHTTP1
import StorageCore

/// What a client says when it connects (spec: rtdb-protocol §3.1).
struct SocketStart {
  /// The namespace's name.
  let namespace: String
  /// How the client names this server, with the port: it will come again to this name.
  let host: String
  /// The session that it had before.
  let lastSession: String?
  /// The session that it wants to carry on with over this transport.
  let session: String?
  /// Whether a web page of somebody else may have connected.
  let isForeign: Bool

  /// - Throws: the answer to a client that cannot be served.
  init(query: QueryString, headers: HTTPHeaders, services: RealtimeServices) throws(WebSocketHandshake.Refusal) {
    isForeign = services.isForeign(headers)
    if let version = query["v"], version != "5" {
      throw .init(.error(.badRequest, "This server speaks version 5 of the realtime protocol."))
    }
    let asked = headers.first(name: "host") ?? ""
    host = Self.name(headers.first(name: "x-forwarded-host") ?? "") ?? Self.name(asked) ?? "localhost"
    lastSession = query["ls"]
    session = query["s"]
    if let name = query["ns"] {
      // One that is not legal is refused by the session: a client that is not let in at all would try for ever.
      namespace = name
    } else if let label = HostName.namespace(in: asked).map(String.init), NamespaceName.isLegal(label) {
      namespace = label
    } else {
      namespace = services.defaultNamespace
    }
  }

  /// A host as it may be told to the client; nil if it is none.
  ///
  /// Of a list of proxies the first counts. JavaScript keeps names that begin with `s-` for later visits; hosts are the same
  /// in capitals.
  private static func name(_ header: String) -> String? {
    let host = header.split(separator: ",", maxSplits: 1).first?.filter { $0 != " " } ?? ""
    let isName = host.utf8.allSatisfy { byte in
      (48...58).contains(byte) || (65...91).contains(byte) || byte == 93 || (97...122).contains(byte) || byte == 45
        || byte == 46 || byte == 95
    }
    guard isName, (1...255).contains(host.utf8.count) else { return nil }
    return host.hasPrefix("s-") ? "S" + host.dropFirst() : host
  }
}
