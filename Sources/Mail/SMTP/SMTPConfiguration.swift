/// Which server takes the mail, and how it is talked to.
public struct SMTPConfiguration: Sendable {
  /// How the connection is made private.
  public enum Security: String, Sendable, Hashable {
    /// TLS after a first exchange in the clear (RFC 3207); a server that does not offer it gets nothing.
    case startTLS = "starttls"
    /// TLS from the first byte (RFC 8314).
    case tls
    /// Not at all: for a server on the same machine.
    case none

    /// The port that is usual for it.
    public var usualPort: Int {
      switch self {
      case .startTLS: 587
      case .tls: 465
      case .none: 25
      }
    }
  }

  /// Who the server is told that this is.
  public struct Login: Sendable, CustomStringConvertible {
    let user: String
    let password: String

    /// Both may hold any character but NUL.
    public init(user: String, password: String) {
      self.user = user
      self.password = password
    }

    public var description: String { "(secret)" }
  }

  /// The server's name, which its certificate must be for.
  public var host: String
  /// 1 to 65535.
  public var port: Int
  /// How the connection is made private.
  public var security: Security
  /// Sent over TLS only, or to this machine; nil for none.
  public var login: Login?
  /// How this server names itself; nil for the connection's own address.
  public var greeting: String?
  /// A file of certificates in PEM form that vouch for the server's; nil for those that the system trusts.
  public var authorityFile: String?
  /// How long the server may take for one answer.
  public var timeoutMilliseconds: Int64 = 60_000
  /// How long a connection may take to be made.
  public var connectMilliseconds: Int64 = 10_000
  /// Connections that are kept for the next mail.
  public var idleConnectionsMax = 4
  /// How long they are kept: servers hang up after some minutes.
  public var idleMilliseconds: Int64 = 30_000

  public init(host: String, port: Int, security: Security) {
    self.host = host
    self.port = port
    self.security = security
  }

  /// Whether a host is this machine, where no one listens in.
  public static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || host.hasPrefix("127.")
  }
}
