import Credentials
import StorageCore
import Testing
import TreeModel

@testable import Accounts

/// Errors of tenants and of providers' configurations.
extension Provocation {
  private static func tenant(_ fixture: AccountFixture, edit: @escaping @Sendable (inout AccountTenant) -> Void = { _ in })
    async throws -> AccountContext
  {
    let made = try await fixture.accounts.tenants.create(of: fixture.project, by: .admin("test"), edit: edit)
    return fixture.client.within(.tenant(made.id))
  }

  private static func configuration(isEnabled: Bool = true) throws -> ProviderConfiguration {
    let own = ProviderConfiguration.OpenIDConnect(clientID: "game", issuer: "https://guild.example")
    var configuration = ProviderConfiguration(try #require(ProviderID("oidc.guild")), kind: .openIDConnect(own))
    configuration.isEnabled = isEnabled
    return configuration
  }

  static let unknownTenant = Provocation(as: .production) { fixture in
    try await fixture.configure { $0.allowsTenants = true }
    return { _ = try await fixture.accounts.tenants.scope(of: "nowhere", in: fixture.project) }
  }

  static let tenantMismatch = Provocation { fixture in
    let player = try await fixture.signUp("jim@x.io")
    let context = try await tenant(fixture)
    return { _ = try fixture.accounts.profiles.account(idToken: player.idToken, of: context.project) }
  }

  static let disabledTenant = Provocation { fixture in
    let context = try await tenant(fixture) { $0.isDisabled = true }
    let name = try #require(context.project.scope.tenant)
    return { _ = try await fixture.accounts.tenants.scope(of: name, in: fixture.project) }
  }

  static let tenantsOff = Provocation(as: .production) { fixture in
    { _ = try await fixture.accounts.tenants.create(of: fixture.project, by: .admin("test")) { _ in } }
  }

  static let notForTenants = Provocation { fixture in
    let context = try await tenant(fixture)
    let number = try fixture.number()
    return { _ = try fixture.accounts.phones.sendCode(to: number, of: context.project) }
  }

  static let emailLinksDisabled = Provocation { fixture in
    let context = try await tenant(fixture)
    let email = try fixture.email("jim@x.io")
    return { _ = try await fixture.accounts.emailCodes.send(CodeRequest(.signIn(email)), context) }
  }

  static let providerConfigurationTaken = Provocation { fixture in
    let configuration = try configuration()
    try await fixture.accounts.providers.create(configuration, of: fixture.project, by: .admin("test"))
    return { try await fixture.accounts.providers.create(configuration, of: fixture.project, by: .admin("test")) }
  }

  static let unknownProviderConfiguration = Provocation { fixture in
    let id = try configuration().id
    return { try await fixture.accounts.providers.delete(id, of: fixture.project, by: .admin("test")) }
  }

  static let disabledProvider = Provocation { fixture in
    try await fixture.accounts.providers.create(
      configuration(isEnabled: false), of: fixture.project, by: .admin("test"))
    return { try await fixture.signIn(as: ["sub": "g1"], at: "oidc.guild") }
  }
}
