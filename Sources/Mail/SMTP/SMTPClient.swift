import NIOCore
import NIOSSL
import Synchronization

/// Sends mail through one server; connections are kept for a burst.
package final class SMTPClient: Sendable {
  private struct Idle {
    let connection: SMTPConnection
    let since: NIODeadline
  }

  /// Which server.
  package let configuration: SMTPConfiguration
  private let tls: NIOSSLContext
  private let idle = Mutex<[Idle]>([])

  /// - Throws: what the TLS library says against the file of certificates.
  package init(_ configuration: SMTPConfiguration) throws {
    self.configuration = configuration
    var settings = TLSConfiguration.makeClientConfiguration()
    settings.minimumTLSVersion = .tlsv12
    if let file = configuration.authorityFile {
      settings.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file))
    }
    tls = try NIOSSLContext(configuration: settings)
  }

  /// Hands a mail to the server; returns when the server has taken it.
  ///
  /// A task that is cancelled gives up at once, and then it is not known whether the mail was taken.
  package func send(_ mail: EncodedMail) async throws(MailError) {
    if let kept = take() {
      do throws(MailError) {
        return try await send(mail, on: kept)
      } catch {
        // The server may have hung up meanwhile: the mail deserves a fresh connection before it waits.
        guard error.kind == .temporary, !kept.channel.isActive, !Task.isCancelled else { throw error }
      }
    }
    try await send(mail, on: try await SMTPConnection.open(configuration, tls: tls))
  }

  /// Closes the connections that were kept.
  package func close() {
    for one in idle.withLock({ idle in
      defer { idle = [] }
      return idle
    }) { one.connection.channel.close(promise: nil) }
  }

  private func send(_ mail: EncodedMail, on connection: SMTPConnection) async throws(MailError) {
    let result: Result<Void, MailError> = await withTaskCancellationHandler {
      do throws(MailError) {
        return .success(try await connection.send(mail))
      } catch {
        return .failure(error)
      }
    } onCancel: {
      connection.channel.close(promise: nil)
    }
    switch result {
    case .success: keep(connection)
    case .failure(let failure):
      if failure.kind == .permanent, (try? await connection.reset()) != nil {
        keep(connection)
      } else {
        connection.channel.close(promise: nil)
      }
      throw failure
    }
  }

  private func take() -> SMTPConnection? {
    let age = TimeAmount.milliseconds(configuration.idleMilliseconds)
    return idle.withLock { idle in
      while let last = idle.popLast() {
        if last.connection.channel.isActive, NIODeadline.now() - last.since < age { return last.connection }
        last.connection.channel.close(promise: nil)
      }
      return nil
    }
  }

  private func keep(_ connection: SMTPConnection) {
    let isKept = idle.withLock { idle in
      guard idle.count < configuration.idleConnectionsMax, connection.channel.isActive else { return false }
      idle.append(Idle(connection: connection, since: .now()))
      return true
    }
    if !isKept { connection.channel.close(promise: nil) }
  }
}

/// Which server takes the mail, and how it is talked to.
package struct SMTPConfiguration: Sendable {
  /// How the connection is made private.
  package enum Security: String, Sendable, Hashable {
    /// TLS after a first exchange in the clear (RFC 3207); a server that does not offer it gets nothing.
    case startTLS = "starttls"
    /// TLS from the first byte (RFC 8314).
    case tls
    /// Not at all: for a server on the same machine.
    case none

    /// The port that is usual for it.
    package var usualPort: Int {
      switch self {
      case .startTLS: 587
      case .tls: 465
      case .none: 25
      }
    }
  }

  /// Who the server is told that this is.
  package struct Login: Sendable, CustomStringConvertible {
    let user: String
    let password: String

    /// Both may hold any character but NUL.
    package init(user: String, password: String) {
      self.user = user
      self.password = password
    }

    package var description: String { "(secret)" }
  }

  /// The server's name, which its certificate must be for.
  package var host: String
  /// 1 to 65535.
  package var port: Int
  /// How the connection is made private.
  package var security: Security
  /// Sent over TLS only, or to this machine; nil for none.
  package var login: Login?
  /// How this server names itself; nil for the connection's own address.
  package var greeting: String?
  /// A file of certificates in PEM form that vouch for the server's; nil for those that the system trusts.
  package var authorityFile: String?
  /// How long the server may take for one answer.
  package var timeoutMilliseconds: Int64 = 60_000
  /// How long a connection may take to be made.
  package var connectMilliseconds: Int64 = 10_000
  /// Connections that are kept for the next mail.
  package var idleConnectionsMax = 4
  /// How long they are kept: servers hang up after some minutes.
  package var idleMilliseconds: Int64 = 30_000

  package init(host: String, port: Int, security: Security) {
    self.host = host
    self.port = port
    self.security = security
  }

  /// Whether a host is this machine, where no one listens in.
  package static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}
