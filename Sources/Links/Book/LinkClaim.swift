public import TreeModel

/// Who invited whom, and what proves it: the evidence that is kept of a claim, for ever.
public struct LinkClaim: Sendable, Hashable {
  /// How a player showed where they come from.
  public enum Evidence: Sendable, Hashable {
    /// By the proof of a click.
    case click(id: String, at: Int64, platform: LinkPlatform)
    /// By typing the code.
    case code(String)
  }

  /// The player who was invited.
  public let player: String
  /// The player who invited: what is written to `referred_by`.
  public let inviter: String
  /// The link: prefix and suffix, or a whole long link.
  public let link: String
  /// What it rests on.
  public let evidence: Evidence
  /// In milliseconds since 1970.
  public let at: Int64

  /// As it is stored, and shown beside the rewards that it led to.
  public var json: JSON {
    var members: [JSON.Member] = [
      .init(key: "player", value: .string(player)), .init(key: "inviter", value: .string(inviter)),
      .init(key: "link", value: .string(link)), .init(key: "at", value: .int(at)),
    ]
    switch evidence {
    case .click(let id, let time, let platform):
      members.append(.init(key: "how", value: "click"))
      members.append(.init(key: "click", value: .string(id)))
      members.append(.init(key: "clickedAt", value: .int(time)))
      members.append(.init(key: "platform", value: .string(platform.rawValue)))
    case .code(let code):
      members.append(.init(key: "how", value: "code"))
      members.append(.init(key: "code", value: .string(code)))
    }
    return .object(members)
  }

  /// What the claim is called in the log: the request id of its commit.
  var requestID: String {
    switch evidence {
    case .click(let id, _, _): "click/\(id)"
    case .code(let code): "code/\(code)"
    }
  }
}
