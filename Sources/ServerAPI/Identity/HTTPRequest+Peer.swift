extension HTTPRequest {
  /// Who sent it, for limits by address.
  var peerText: String { "unknown" }
}
