import DoubloonTesting
import FunctionsKit
import RewardModel
import StorageCore
import TestSupport
import Testing
import TreeModel

@testable import ServerApp
@testable import ServerConfiguration

/// Coins of a studio's own, at places of its own.
struct CurrencyTests {
  private static let gems = TreePath<Int64, UserID>("/pirates/{uid}/gems")

  private static func game(_ functions: Functions) {
    functions.currency("gems", at: gems, holder: "pirate")
    functions.onCreate(TreePath<Bool, UserID>("/pirates/{uid}/arrived"), name: "welcomeGems") { event, context in
      try await context.credit(gems, event.params, amount: 7, code: "welcome", once: "welcome/\(event.params)")
      return .done
    }
  }

  @Test("A currency that is declared beside the functions is paid, adjusted and verified like pieces of eight")
  func declared() async throws {
    try await TestServer.run(Self.game) { server in
      let write = try await server.set("/pirates/anne/arrived", true)
      #expect(write.outcomes == ["welcomeGems": .done])
      #expect(try await server.balance("/pirates/anne/gems") == 7)
      // By hand, past every function: the ledger says who, and still adds up.
      try await server.set("/pirates/anne/gems", 10)
      let entries = try await server.entries()
      #expect(entries.map(\.transfer.amount) == [7, 3] && entries.allSatisfy { $0.transfer.unit == "gems" })
    }
  }

  @Test("Who opens the data later, with other currencies in mind, keeps the ledger of those that were declared")
  func remembered() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.path))
    configuration.currencies = [Currency(unit: "pearls", pattern: "boats/{boat}/pearls", holder: "boat")]
    #expect(try await Self.units(configuration, Self.game) == ["pearls", "gems"])
    configuration.currencies = [.piecesOfEight]
    configuration.dispatchesFunctions = false
    #expect(try await Self.units(configuration) { _ in } == ["pearls", "gems"])
    configuration.dispatchesFunctions = true
    #expect(try await Self.units(configuration) { _ in } == ["pieces_of_eight"])
  }

  /// What the ledger of a server with this configuration knows.
  private static func units(_ configuration: ServerConfiguration, _ functions: (Functions) -> Void) async throws -> [String] {
    let application = try Application(configuration: configuration, functions: functions)
    await application.stop()
    return application.configuration.currencies.map(\.unit)
  }

  @Test("Two currencies at one place are refused before anything is noted")
  func contradiction() async throws {
    let folder = TemporaryFolder()
    var configuration = ServerConfiguration(storage: .directory(folder.path))
    #expect(throws: (any Error).self) {
      try Application(configuration: configuration) { functions in
        functions.currency("coins", at: TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight"))
      }
    }
    configuration.dispatchesFunctions = false
    #expect(try await Self.units(configuration) { _ in } == ["pieces_of_eight"])
  }
}
