import APISupport
import Accounts
import HTTPServer
import NIOHTTP1
import StorageCore
import TreeModel

extension IdentitySurface {
  /// Puts on record that somebody was refused what is an administrator's.
  ///
  /// - Parameters:
  ///   - action: what was asked for: `accounts.batchCreate`.
  ///   - project: the project that the path named.
  ///   - error: only what is about credentials is recorded; the rest is the asker's own mistake.
  func recordRefusal(_ action: String, _ headers: HTTPHeaders, project: String?, _ error: AccountError) {
    guard error.status == 401 || error.status == 403 else { return }
    let credentials = headers.bearer.map {
      RequestCredentials(accessToken: $0, isForeign: services.isForeign(headers))
    }
    let caller = credentials.flatMap { try? services.authenticator.caller($0) } ?? .anonymous
    guard caller.role != nil else { return audit.recordStranger(action, by: caller.actor, result: error.message) }
    audit.record(
      action, by: caller.actor, ["project": project ?? defaultProject], QueryString(), nil, result: error.message)
  }
}
