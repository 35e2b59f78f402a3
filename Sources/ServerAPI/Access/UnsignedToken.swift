import StorageCore
import TreeModel

/// An ID token as emulators accept it: whatever it claims is believed, its signature is not looked at.
enum UnsignedToken {
  /// The user that the token names, with its claims; nil if it is no token.
  static func user(of token: String) -> AuthVariable? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64.decode(parts[1]), let claims = try? JSONParser.parse(payload),
      let uid = claims["user_id"]?.string ?? claims["sub"]?.string ?? claims["uid"]?.string, !uid.isEmpty
    else { return nil }
    return AuthVariable(uid: uid, claims: claims)
  }
}
