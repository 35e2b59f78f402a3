import StorageCore
public import TreeModel

/// Which second factors players may enrol (`mfa` of a project's configuration). What is enrolled is asked for whatever this
/// says: nobody's account becomes less safe by a setting.
public struct SecondFactorPolicy: Sendable, Hashable {
  /// By how many steps of thirty seconds an authenticator's clock may be wrong, unless it is said.
  private static let adjacentDefault = 5

  /// Whether codes may go to telephones.
  public var allowsPhone: Bool
  /// By how many steps an authenticator's clock may be wrong, 0 to 10; nil where authenticators are not allowed.
  public var adjacentSteps: Int?

  /// None: what Firebase begins with.
  public static let none = SecondFactorPolicy(allowsPhone: false, adjacentSteps: nil)
  /// All: what development begins with.
  public static let all = SecondFactorPolicy(allowsPhone: true, adjacentSteps: adjacentDefault)

  init(allowsPhone: Bool, adjacentSteps: Int?) {
    self.allowsPhone = allowsPhone
    self.adjacentSteps = adjacentSteps
  }

  /// Reads what ``json`` wrote, or an administrator: `{state, enabledProviders, providerConfigs}`; nil if nothing is said.
  init?(_ json: JSON?) {
    guard let json, ["state", "enabledProviders", "providerConfigs"].contains(where: { json[$0] != nil }) else { return nil }
    self = .none
    guard json["state"]?.string != "DISABLED" else { return }
    allowsPhone = json["enabledProviders"]?.array?.contains { $0.string == "PHONE_SMS" } ?? false
    for config in json["providerConfigs"]?.array ?? [] where config["state"]?.string != "DISABLED" {
      guard let own = config["totpProviderConfig"] else { continue }
      adjacentSteps = min(max(Int(own["adjacentIntervals"]?.int ?? Int64(Self.adjacentDefault)), 0), 10)
    }
  }

  /// As the protocol shows it.
  public var json: JSON {
    JSON(fields: [
      ("state", .string(allowsPhone || adjacentSteps != nil ? "ENABLED" : "DISABLED")),
      ("enabledProviders", allowsPhone ? ["PHONE_SMS"] : nil),
      (
        "providerConfigs",
        adjacentSteps.map { [["state": "ENABLED", "totpProviderConfig": ["adjacentIntervals": .int(Int64($0))]]] }
      ),
    ])
  }
}
