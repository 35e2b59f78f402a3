import Credentials
import StorageCore

/// Everything that hashes goes through here: it is counted for the client's network, and waits its turn there.
extension AccountBook {
  /// Hashes a new password.
  ///
  /// - Parameter account: whose it becomes, as the client named it: an address or a uid.
  func hash(_ password: String, of account: String, _ call: IdentityCall) async throws(AccountError) -> String {
    try countPassword(call)
    return try await passwords.hash(password, for: PasswordDesk.Client(network: call.address, account: account))
  }

  /// Checks a password; whatever is known of the account, it counts as much and takes as long.
  func check(_ password: String, against stored: String?, of account: String, _ call: IdentityCall)
    async throws(AccountError) -> PasswordHasher.Verdict
  {
    try countPassword(call)
    return try await passwords.check(
      password, against: stored, for: PasswordDesk.Client(network: call.address, account: account))
  }

  /// Hashes the password that was just found right once more, at today's cost; nil where no turn is to be had: the next
  /// sign-in tries again.
  func upgraded(_ password: String, of account: String, _ call: IdentityCall) async -> String? {
    try? await passwords.hash(password, for: PasswordDesk.Client(network: call.address, account: account))
  }

  private func countPassword(_ call: IdentityCall) throws(AccountError) {
    guard !options.isDevelopment, !call.isPrivileged else { return }
    try throttle.countPassword(from: call.address, at: clock.now())
  }
}
