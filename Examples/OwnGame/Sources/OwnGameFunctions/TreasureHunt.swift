import FunctionsKit

/// The places of this game's tree.
public enum Pirates {
  public static let chest = TreePath<String, UserID, String>("/pirates/{uid}/chests/{chest}")
  public static let crew = TreePath<String, UserID>("/pirates/{uid}/captain")
  public static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
  public static let chestCount = TreePath<Int64, UserID>("/pirates/{uid}/chests_opened")
}

/// What a chest holds.
public struct TreasureHunt: FunctionSettings {
  public var share: Int64 = 10
  public var captainsShare: Int64 = 5

  public init() {}
}

/// Opening a chest pays the pirate, and the captain if there is one: both, or neither, and once for each chest.
public func treasureHunt(_ functions: Functions) {
  functions.onCreate(Pirates.chest, name: "shareTreasure", settings: TreasureHunt()) { event, context, settings in
    let (pirate, chest) = event.params
    try await context.credit(
      Pirates.gold, pirate, amount: settings.share, code: "treasure", once: "treasure/\(pirate)/\(chest)")
    try await context.increment(Pirates.chestCount, pirate, by: 1)
    if let captain = try await context.get(Pirates.crew, pirate).flatMap({ UserID($0) }), captain != pirate {
      try await context.credit(
        Pirates.gold, captain, amount: settings.captainsShare, code: "captain", once: "captain/\(pirate)/\(chest)",
        subject: "\(pirate)")
    }
    return .done
  }
}
