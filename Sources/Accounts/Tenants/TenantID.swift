/// The name of a tenant: one brand's players of a project, apart from all others'.
package struct TenantID: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  /// Reads a name; nil for anything but 1 to 64 letters, digits, hyphens and underscores: names of tenants are part of paths
  /// and of stored keys.
  package init?(_ text: String) {
    let isLegal =
      (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
          || byte == 0x5F
      }
    guard isLegal else { return nil }
    self.text = text
  }

  package var description: String { text }
}

/// Which accounts of a namespace are meant.
package enum AccountScope: Sendable, Hashable {
  /// All: uids are those of every account; addresses, numbers and identities lead to accounts of no tenant.
  case all
  /// Those of no tenant.
  case project
  /// Those of one tenant.
  case tenant(TenantID)

  /// The tenant, as accounts name theirs; nil where none is meant.
  package var tenant: String? {
    guard case .tenant(let id) = self else { return nil }
    return id.text
  }

  /// Whether what bears the name of this tenant, or of none, is meant.
  package func admits(_ tenant: String?) -> Bool {
    switch self {
    case .all: true
    case .project: tenant == nil
    case .tenant(let id): tenant == id.text
    }
  }
}
