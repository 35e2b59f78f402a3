package import StorageCore

/// The configurations of identity providers: of a project, and of each of its tenants its own.
package struct ProviderConfigurationService: Sendable {
  /// How many a project, or a tenant, may have.
  package static let most = 100

  private let accounts: AccountService

  init(_ accounts: AccountService) {
    self.accounts = accounts
  }

  /// A configuration; nil if there is none.
  package func configuration(_ id: ProviderID, of project: AccountProject) throws -> ProviderConfiguration? {
    let stored = try accounts.read { snapshot in
      try snapshot.record(
        in: project.namespace, kind: ProviderConfiguration.kind, key: ProviderConfiguration.key(id, of: project))
    }
    return stored.flatMap { ProviderConfiguration(id, stored: $0) }
  }

  /// Configurations of one family by their names, behind the one given.
  package func page(
    _ family: ProviderConfiguration.Family, of project: AccountProject, after last: String?, limit: Int
  ) throws -> [ProviderConfiguration] {
    let prefix = "\(project.scope.tenant ?? "")/\(family.rawValue)"
    let records = try accounts.read { snapshot in
      try snapshot.records(
        in: project.namespace, kind: ProviderConfiguration.kind,
        after: last.map { "\(project.scope.tenant ?? "")/\($0)" } ?? prefix, isDescending: false, limit: limit)
    }
    return records.prefix { $0.key.hasPrefix(prefix) }.compactMap { record in
      let name = record.key.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init)
      return name.flatMap(ProviderID.init).flatMap { ProviderConfiguration($0, stored: record.value) }
    }
  }

  /// The keys of every configuration of a scope.
  func keys(of project: AccountProject) throws -> [String] {
    let prefix = "\(project.scope.tenant ?? "")/"
    let records = try accounts.read { snapshot in
      try snapshot.records(
        in: project.namespace, kind: ProviderConfiguration.kind, after: prefix, isDescending: false,
        limit: 2 * Self.most)
    }
    return records.map(\.key).filter { $0.hasPrefix(prefix) }
  }

  /// Stores a new configuration.
  ///
  /// - Throws: `AccountError/providerConfigurationTaken`
  package func create(_ configuration: ProviderConfiguration, of project: AccountProject, by actor: Actor) async throws {
    guard try keys(of: project).count < Self.most else {
      throw AccountError.rejected("There are at most \(Self.most) configurations of providers: delete one first.")
    }
    let key = ProviderConfiguration.key(configuration.id, of: project)
    try await accounts.change(project, by: actor) { transaction in
      guard try transaction.keyedRecord(of: ProviderConfiguration.kind, key: key) == nil else {
        throw AccountError.providerConfigurationTaken
      }
      _ = try transaction.settings
      transaction.putRecord(of: ProviderConfiguration.kind, key: key, value: configuration.storedText)
    }
  }

  /// Changes a configuration.
  ///
  /// - `edit`: runs on the writer, on the configuration as it is then.
  /// - Throws: `AccountError/unknownProviderConfiguration`
  package func update(
    _ id: ProviderID, of project: AccountProject, by actor: Actor,
    edit: @escaping @Sendable (ProviderConfiguration) throws -> ProviderConfiguration
  ) async throws -> ProviderConfiguration {
    let key = ProviderConfiguration.key(id, of: project)
    return try await accounts.change(project, by: actor) { transaction in
      let stored = try transaction.keyedRecord(of: ProviderConfiguration.kind, key: key).flatMap {
        ProviderConfiguration(id, stored: $0)
      }
      guard let stored else { throw AccountError.unknownProviderConfiguration }
      let configuration = try edit(stored)
      transaction.putRecord(of: ProviderConfiguration.kind, key: key, value: configuration.storedText)
      return configuration
    }
  }

  /// Removes a configuration; accounts keep their identities there.
  ///
  /// - Throws: `AccountError/unknownProviderConfiguration`
  package func delete(_ id: ProviderID, of project: AccountProject, by actor: Actor) async throws {
    let key = ProviderConfiguration.key(id, of: project)
    try await accounts.change(project, by: actor) { transaction in
      guard try transaction.keyedRecord(of: ProviderConfiguration.kind, key: key) != nil else {
        throw AccountError.unknownProviderConfiguration
      }
      transaction.putRecord(of: ProviderConfiguration.kind, key: key, value: nil)
    }
  }
}
