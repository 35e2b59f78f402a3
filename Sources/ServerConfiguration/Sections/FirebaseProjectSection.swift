import Credentials

/// One entry of `accounts.firebaseProjects`: a project at Firebase whose players are players here, with the same ids.
struct FirebaseProjectSection: ConfigurationSection {
  /// Nil if something is wrong.
  let issuer: TrustedIssuer?

  init(_ reader: ConfigurationReader) {
    let project = reader.required("project", "treasure-hunt")
    let keys = reader.address("keys")
    let authority = reader.path(of: "ca")
    guard let project else {
      issuer = nil
      return
    }
    if !ServeConfiguration.isProject(project) {
      reader.fault("project", "\"\(project)\" is no Firebase project's id: 1 to 48 letters, digits and hyphens.")
    }
    issuer = TrustedIssuer(
      provider: .firebase(project: project).with(keys: keys.map { .document($0) }), use: .firebase, authority: authority)
  }
}
