package import Credentials
package import StorageCore
package import TreeModel

/// What an administrator says about an account: only what is there is set.
package struct AccountDraft: Sendable {
  package var email: EmailAddress?
  package var isEmailVerified: Bool?
  package var displayName: String?
  package var photoURL: String?
  package var phoneNumber: PhoneNumber?
  package var isDisabled: Bool?
  /// The claims as JSON text; an inner nil takes them away.
  package var claims: String??
  /// Milliseconds since 1970.
  package var createdAt: Int64?
  /// Milliseconds since 1970.
  package var lastLoginAt: Int64?
  /// Seconds since 1970.
  package var validSince: Int64?
  /// Nil leaves them; an empty list takes them away.
  package var secondFactors: [SecondFactorDraft]?

  package init() {}

  func fill(_ record: inout AccountRecord, at time: Int64) throws {
    if let secondFactors {
      let present = record.secondFactors
      record.secondFactors = try secondFactors.map { try $0.factor(beside: present, at: time) }
    }
    if let email = email?.text {
      if email != record.email { record.isEmailVerified = false }
      record.email = email
    }
    record.isEmailVerified = isEmailVerified ?? record.isEmailVerified
    record.displayName = displayName ?? record.displayName
    record.photoURL = photoURL ?? record.photoURL
    record.phoneNumber = phoneNumber?.text ?? record.phoneNumber
    record.isDisabled = isDisabled ?? record.isDisabled
    if let claims { record.claims = claims }
    record.createdAt = createdAt ?? record.createdAt
    record.lastLoginAt = lastLoginAt ?? record.lastLoginAt
    record.validSince = validSince ?? record.validSince
  }
}

/// What an update does beside setting an address: profile, attributes and providers to remove, an identity to add.
package struct AccountEdits: Sendable {
  /// What can be taken from an account.
  package enum Attribute: Sendable, Hashable {
    case email
    case displayName
    case photoURL
    case password
  }

  package var password: String?
  /// An empty text takes the name away.
  package var displayName: String?
  /// An empty text takes the picture away.
  package var photoURL: String?
  package var deletedAttributes: Set<Attribute> = []
  /// By the names of the providers; `password` and `phone` take the address or the number away.
  package var deletedProviders: Set<String> = []
  /// An identity that an administrator adds.
  package var link: AccountRecord.Provider?

  package init() {}

  func apply(to record: inout AccountRecord) {
    // Clients that cannot name attributes to delete send an empty text.
    if let displayName { record.displayName = displayName.isEmpty ? nil : displayName }
    if let photoURL { record.photoURL = photoURL.isEmpty ? nil : photoURL }
    if let link { record.upsert(link) }
    for attribute in deletedAttributes {
      switch attribute {
      case .email: record.removeEmail()
      case .displayName: record.displayName = nil
      case .photoURL: record.photoURL = nil
      case .password: record.password = nil
      }
    }
    for provider in deletedProviders {
      switch provider {
      case "password":
        record.removeEmail()
        record.password = nil
      case "phone": record.phoneNumber = nil
      default: record.providers.removeAll { $0.id == provider }
      }
    }
  }
}

/// A second factor as an administrator or an import gives it.
package struct SecondFactorDraft: Sendable, Hashable {
  /// How the player proves it.
  package enum Proof: Sendable, Hashable {
    case phone(PhoneNumber)
    /// The secret is known only from an export of this server; without it the account must have the authenticator already.
    case authenticator(AuthenticatorSecret?)
  }

  /// How many a list may name before those that say the same are taken out.
  package static let listMax = 10 * SecondFactor.most

  /// Its id; nil or empty for a new one.
  package var id: String?
  package var displayName: String?
  /// Milliseconds since 1970.
  package var enrolledAt: Int64?
  package let proof: Proof

  package init(_ proof: Proof, id: String? = nil, displayName: String? = nil, enrolledAt: Int64? = nil) {
    self.proof = proof
    self.id = id
    self.displayName = displayName
    self.enrolledAt = enrolledAt
  }

  /// The drafts of one account with an id each, the same number once.
  ///
  /// - `newID`: makes the id of a factor that has none.
  /// - Throws: `AccountError/tooManySecondFactors`, `AccountError/duplicateSecondFactorID`
  static func checked(_ drafts: [SecondFactorDraft], newID: () -> String) throws -> [SecondFactorDraft] {
    guard drafts.count <= listMax else { throw AccountError.tooManySecondFactors }
    var kept: [SecondFactorDraft] = []
    for var draft in drafts {
      draft.id = draft.id.flatMap { $0.isEmpty ? nil : $0 } ?? newID()
      // The same number twice is one factor: the first.
      if case .phone = draft.proof, kept.contains(where: { $0.proof == draft.proof }) { continue }
      guard !kept.contains(where: { $0.id == draft.id }) else { throw AccountError.duplicateSecondFactorID }
      kept.append(draft)
    }
    guard kept.count <= SecondFactor.most else { throw AccountError.tooManySecondFactors }
    return kept
  }

  /// The factor, where an account has others now.
  ///
  /// - Throws: `AccountError/missingAuthenticatorSecret` if neither the draft nor the account has it.
  func factor(beside present: [SecondFactor], at time: Int64) throws -> SecondFactor {
    let before = present.first { $0.id == id }
    let stored: SecondFactor.Proof
    switch proof {
    case .phone(let number): stored = .phone(number: number.text)
    case .authenticator(let secret?):
      // A code that was used stays used.
      if case .authenticator(secret.bytes, let lastStep)? = before?.proof {
        stored = .authenticator(secret: secret.bytes, lastStep: lastStep)
      } else {
        stored = .authenticator(secret: secret.bytes, lastStep: -1)
      }
    case .authenticator(nil):
      guard let before, before.kind == .authenticator else { throw AccountError.missingAuthenticatorSecret }
      stored = before.proof
    }
    return SecondFactor(
      id: id ?? "", displayName: displayName, enrolledAt: enrolledAt ?? before?.enrolledAt ?? time, proof: stored)
  }
}

extension AccountRecord {
  /// Adds an identity, in the place of an earlier one of the same provider.
  package mutating func upsert(_ provider: Provider) {
    if let index = providers.firstIndex(where: { $0.id == provider.id }) {
      providers[index] = provider
    } else {
      providers.append(provider)
    }
  }

  /// Takes away every way in that was set by somebody who had not shown to own the address: the owner has come. Second
  /// factors stay, and are asked for: to enrol one takes a confirmed address.
  ///
  /// - Parameter seconds: since 1970; tokens from before are void.
  mutating func dropUnproved(at seconds: Int64) {
    password = nil
    phoneNumber = nil
    providers = []
    signsInByLink = false
    validSince = seconds
  }

  mutating func removeEmail() {
    email = nil
    isEmailVerified = false
    signsInByLink = false
  }
}
