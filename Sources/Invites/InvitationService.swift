import MailContent
package import StorageCore
import Synchronization
import TextFormats
import TreeModel

/// All invitations of a project: what they say, to whom they go, how far they came.
package final class InvitationService: Sendable {
  /// Kinds of records.
  enum Kind {
    static let invite = "invite"
    static let setting = "invite_setting"
    /// Addresses that get nothing any more.
    static let suppressed = "invite_suppressed"
    /// What was sent lately: `sender/UID/DAY`, `recipient/ADDRESS`.
    static let quota = "invite_quota"
    /// How far an invitation came: `ID/clicked`. Links write some of them.
    static let mark = "invite_mark"
  }

  let engine: any StorageEngine
  let writer: any TreeWriter
  let home: any InvitationNamespace
  let clock: any WallClock
  private let random: Mutex<any RandomNumberGenerator & Sendable>
  private let state: Mutex<InvitationSettings>

  /// Opens the invitations of a project, with the settings that were stored last.
  package init(
    engine: any StorageEngine, writer: any TreeWriter, home: any InvitationNamespace, clock: any WallClock,
    random: any RandomNumberGenerator & Sendable
  ) throws {
    self.engine = engine
    self.writer = writer
    self.home = home
    self.clock = clock
    self.random = Mutex(random)
    var settings = InvitationSettings()
    if let namespace = home.known() {
      let stored = try engine.read { snapshot in
        try snapshot.record(in: namespace, kind: Kind.setting, key: "settings")
      }
      if let stored {
        do {
          settings = try InvitationSettings(stored: stored)
        } catch {
          throw StorageError(.damaged, "The stored settings of invitations cannot be read: \(error)")
        }
      }
    }
    state = Mutex(settings)
  }

  /// The settings as they are now.
  package var settings: InvitationSettings { state.withLock { $0 } }

  /// Replaces the settings.
  package func put(_ settings: InvitationSettings) async throws {
    try await commit { request in
      request.rows.records = [KeyedRecordChange(kind: Kind.setting, key: "settings", value: settings.document)]
    }
    state.withLock { $0 = settings }
  }

  /// A name for an invitation: sorts by time, and nobody guesses one (95 random bits).
  package func newID() -> String {
    let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    var rest = clock.now()
    var bytes: [UInt8] = []
    for _ in 0..<8 {
      bytes.append(alphabet[Int(rest % 62)])
      rest /= 62
    }
    bytes.reverse()
    random.withLock { random in
      for _ in 0..<16 { bytes.append(alphabet[Int.random(in: 0..<62, using: &random)]) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Words

  /// What an invitation says.
  ///
  /// - `locales`: the languages of the player, the best first.
  /// - `inviter`: the player's name, as others see it; cut to 40 characters, escaped where it stands.
  /// - `message`: the player's own words, cut to 500 characters.
  package func content(
    _ channel: InvitationChannel, campaign name: String, locales: [String], inviter: String, message: String?, link: String
  ) throws -> InvitationContent {
    let settings = settings
    let campaign = try self.campaign(name)
    guard campaign.channels.contains(channel) else {
      throw InvitationError.invalid("The campaign \(name) does not offer \(channel.rawValue).")
    }
    let known = DisplayName.oneLine(inviter)
    let values = [
      "inviter": known.isEmpty ? InvitationPhrases.chosen(from: locales).friend : known, "appName": settings.appName,
      "link": link,
      "message": String((message ?? "").prefix(500)), "image": campaign.image ?? "",
    ]
    return try settings.templates(campaign, locales: locales).content(channel, values: values, partner: campaign.partner)
  }

  /// What a mail that the server itself sends says.
  ///
  /// It speaks in the game's name, so it says no more of the player than who invites: a name with an address in it is left out,
  /// and words with one are refused.
  ///
  /// - `sender`: the display name of the player's account; empty if it has none.
  /// - `unsubscribe`: the https address that takes the recipient off the list; the text shows it.
  package func mail(
    campaign: String, locales: [String], sender: String, message: String?, link: String, unsubscribe: String
  ) throws -> InvitationContent {
    try checkMail(message: message)
    let content = try content(
      .email, campaign: campaign, locales: locales, inviter: DisplayName.of(sender), message: message,
      link: link)
    let words = InvitationPhrases.chosen(from: locales)
    return content.unsubscribable(by: "\(unsubscribe)?lang=\(words.language)", words: words.unsubscribe)
  }

  /// Refuses words that the server does not mail: with an address of the web or of mail in them.
  package func checkMail(message: String?) throws {
    guard let message, AddressDetector.finds(in: message) else { return }
    throw InvitationError.invalid(
      "\"message\" must not hold an address of the web or of mail: the mail has the invitation's own link. Put a blank behind "
        + "every full stop.")
  }

  /// What a game shows before a player invites: the campaign's reasons and picture.
  package struct Screen: Sendable {
    /// On one line.
    package let title: String
    /// A sentence or two.
    package let text: String
    /// An https URL; nil if the campaign has no picture.
    package let image: String?
  }

  /// The screen of a campaign, in the first of a reader's languages that it speaks.
  package func screen(campaign name: String, locales: [String]) throws -> Screen {
    let settings = settings
    let campaign = try self.campaign(name)
    let values = ["appName": settings.appName, "image": campaign.image ?? ""]
    let (title, text) = try settings.templates(campaign, locales: locales).screen(values)
    return Screen(title: title, text: text, image: campaign.image)
  }

  /// A campaign of the settings.
  package func campaign(_ name: String) throws -> InvitationSettings.Campaign {
    let campaigns = settings.campaigns
    guard let campaign = campaigns[name] else {
      throw InvitationError.unknownCampaign(name, known: campaigns.keys.sorted())
    }
    return campaign
  }

  // MARK: Storage

  /// Reads from a snapshot; nil if there is no namespace yet.
  func read<Value>(_ body: (any Snapshot, NamespaceID) throws -> Value) throws -> Value? {
    guard let namespace = home.known() else { return nil }
    do {
      return try engine.read { snapshot in try body(snapshot, namespace) }
    } catch let error as StorageError {
      throw InvitationError.unavailable(error.message)
    }
  }

  /// Commits a request of the invitations' own.
  ///
  /// - Returns: false if a record was not what was expected.
  @discardableResult
  func commit(_ fill: (inout CommitRequest) -> Void) async throws -> Bool {
    do throws(CommitError) {
      var request = CommitRequest(namespace: try await home.open(), actor: .system("invites"))
      fill(&request)
      _ = try await writer.commit(request)
      return true
    } catch {
      if case .recordChanged = error.code { return false }
      throw InvitationError.unavailable(error.message)
    }
  }
}

/// Why an invitation is refused; nothing was sent or recorded.
///
/// The invitations' API chooses the status and the wire code of each case.
package enum InvitationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A text, an address or a document is wrong: what, and what to do.
  case invalid(String)
  /// The settings have no campaign of this name.
  case unknownCampaign(String, known: [String])
  /// The recipient wants no invitations.
  case suppressed
  /// The sender has sent as many as are allowed in a day.
  case tooManyFromSender(max: Int)
  /// The recipient has got as many as are allowed in a week.
  case tooManyToRecipient(max: Int)
  /// The store cannot be read or written at present.
  case unavailable(String)

  /// For people: what is wrong, and what to do.
  package var message: String {
    switch self {
    case .invalid(let message), .unavailable(let message): message
    case .unknownCampaign(let name, let known):
      "There is no campaign \(name.prefix(80)); there is \(known.joined(separator: ", "))."
    case .suppressed: "This address gets no invitations any more; pass the link on another way."
    case .tooManyFromSender(let max): "\(max) invitations a day are enough; go on tomorrow."
    case .tooManyToRecipient(let max): "This address got \(max) invitations within a week; that is enough."
    }
  }

  package var description: String { message }
}

/// Where invitations are kept: the namespace of the project, which may not be there before the first.
package protocol InvitationNamespace: Sendable {
  /// The namespace, if it exists.
  func known() -> NamespaceID?
  /// The namespace, made if it does not exist.
  func open() async throws(CommitError) -> NamespaceID
}
