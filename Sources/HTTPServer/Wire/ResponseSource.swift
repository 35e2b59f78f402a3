/// What an answer is about: for counting it, and for who has to read it.
package struct ResponseSource: Sendable {
  /// Who asked.
  package let client: ClientAddress
  /// What the request counts as in the metrics.
  var routeClass = RouteClass.unknown
  /// What the credentials of who asked have shown.
  var standing = ClientStanding.stranger

  init(client: ClientAddress) {
    self.client = client
  }
}
