/// Why a request about links is refused; nothing was created, changed or counted.
///
/// The links' API chooses the status and the wire code of each case.
package enum LinkError: Error, Sendable, Hashable {
  // MARK: What was sent

  /// A parameter, a document or a table is wrong: what, and what to do.
  case invalid(String)
  /// No link is known by the text that an app presented.
  case unknownLink(String)
  /// There is no short link with this key.
  case unknownShortLink(key: String)
  /// There is no invitation with this id.
  case unknownInvitation(id: String)

  // MARK: Creating and changing

  /// An administrator switched the link off.
  case disabled
  /// The short link that says the same is switched off.
  case duplicateIsDisabled(address: String)
  /// Only administrators choose suffixes.
  case suffixNeedsAdministrator
  /// Another link has the suffix.
  case suffixTaken(String)
  /// The stored parameters of the link cannot be read.
  case unreadableParameters
  /// The configuration file holds the settings.
  case settingsInFile

  // MARK: Claiming

  /// A link came without the proof of a click, or with one that is not good or too old.
  case badProof
  /// The referrer of Google's store names no link and no click of this server.
  case badReferrer
  /// No link has this invitation code.
  case unknownCode
  /// Nobody invites with the link.
  case noInviter
  /// The player is the inviter.
  case selfReferral
  /// The player was here before the invitation.
  case existingPlayer
  /// Somebody is already recorded as having invited the player.
  case alreadyReferred
  /// Another player claimed the click.
  case clickUsed
  /// The player, or the client's network, tried too many codes.
  case tooManyCodes
  /// The settings' path to the inviter cannot be filled with the player: the path, and why.
  case referralPath(String, reason: String)

  // MARK: The store

  /// Too many writes wait.
  case overloaded(String)
  /// The store cannot be read or written at present.
  case unavailable(String)
  /// The writer refused the change.
  case refused(String)
}

extension LinkError: CustomStringConvertible {
  /// For people: what is wrong, and what to do.
  package var message: String {
    switch self {
    case .invalid(let message), .overloaded(let message), .unavailable(let message), .refused(let message): message
    case .unknownLink(let text): "No link is known as \(text.prefix(200))."
    case .unknownShortLink(let key): "There is no short link https://\(key.prefix(200))."
    case .unknownInvitation(let id): "There is no invitation \(id.prefix(80))."
    case .disabled: "The link was disabled by an administrator."
    case .duplicateIsDisabled(let address):
      "The link that says this, \(address), is disabled. An administrator can enable it; another content makes another link."
    case .suffixNeedsAdministrator: "A suffix of one's own choice needs an administrator's credentials."
    case .suffixTaken(let suffix): "The suffix \"\(suffix)\" is taken; choose another."
    case .unreadableParameters: "What this link says cannot be read; delete it and create another."
    case .settingsInFile: "The link settings are in the configuration file; change them there and start again."
    case .badProof: "The link comes without the proof of a click, or with one that is not good or too old."
    case .badReferrer: "The referrer holds no link and no click of this server."
    case .unknownCode: "No invitation has this code; look at it again."
    case .noInviter: "Nobody invites with this link."
    case .selfReferral: "Nobody can invite themselves."
    case .existingPlayer: "The player was here before the invitation; only new players can be invited."
    case .alreadyReferred: "Somebody is already recorded as having invited this player."
    case .clickUsed: "This click was claimed by another player."
    case .tooManyCodes: "Too many codes were tried; wait a minute."
    case .referralPath(let path, let reason): "The path \(path) of the link settings cannot be filled: \(reason)"
    }
  }

  package var description: String { message }
}
