import NIOCore
import NIOSSL
import Synchronization

/// Sends mail through one server; connections are kept for a burst.
public final class SMTPClient: Sendable {
  private struct Idle {
    let connection: SMTPConnection
    let since: NIODeadline
  }

  /// Which server.
  public let configuration: SMTPConfiguration
  private let tls: NIOSSLContext
  private let idle = Mutex<[Idle]>([])

  /// - Throws: what the TLS library says against the file of certificates.
  public init(_ configuration: SMTPConfiguration) throws {
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
  public func send(_ mail: EncodedMail) async throws(MailFailure) {
    if let kept = take() {
      do throws(MailFailure) {
        return try await send(mail, on: kept)
      } catch {
        // The server may have hung up meanwhile: the mail deserves a fresh connection before it waits.
        guard error.kind == .temporary, !kept.channel.isActive, !Task.isCancelled else { throw error }
      }
    }
    try await send(mail, on: try await SMTPConnection.open(configuration, tls: tls))
  }

  /// Closes the connections that were kept.
  public func close() {
    for one in idle.withLock({ idle in
      defer { idle = [] }
      return idle
    }) { one.connection.channel.close(promise: nil) }
  }

  private func send(_ mail: EncodedMail, on connection: SMTPConnection) async throws(MailFailure) {
    let result: Result<Void, MailFailure> = await withTaskCancellationHandler {
      do throws(MailFailure) {
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
