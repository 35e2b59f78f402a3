package import Credentials
import NIOHTTP1
import StorageCore
import TreeModel

extension AdminClient {
  /// Buys an access token with a service account's key. To be asked of a client without a token.
  ///
  /// - Parameter now: milliseconds since 1970, by a clock that is nearly the server's.
  /// - Throws: ``AdminClientError`` with the server's own sentence if it refused.
  package func accessToken(for account: ServiceAccountKey, at now: Int64) async throws(AdminClientError) -> String {
    let assertion: String
    do throws(TokenFault) {
      assertion = try account.assertion(at: now)
    } catch {
      throw AdminClientError(.badRequest, "The key of \(account.name) cannot sign: \(error)")
    }
    let grant = PercentEncoding.segment(ServiceAccountAssertion.grantType)
    let response = try await send(
      .POST, "/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: Array("grant_type=\(grant)&assertion=\(assertion)".utf8))
    let answer = try? response.json()
    guard response.isSuccess, let token = answer?["access_token"]?.string else {
      let why = answer?["error_description"]?.string ?? "status \(response.status)"
      throw AdminClientError(.refused(status: response.status), "\(address) refused \(account.name): \(why)")
    }
    return token
  }
}
