import HTTPServer
import StorageCore
import TreeModel

/// An ID token as emulators accept it: whatever it claims is believed, its signature is not looked at.
enum UnsignedToken {
  /// Who sends the token; nil if it is none.
  ///
  /// Tokens of the database's first years (`v` is 0) hold in `d` what rules see as `auth`, whatever it is; one that says
  /// `admin` is an administrator's, where administrators need no secret (spec: rtdb-protocol §4.4).
  static func caller(of token: String, trustsAdmins: Bool) -> Caller? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64.decode(parts[1]), let claims = try? JSONParser.parse(payload) else {
      return nil
    }
    if claims["v"]?.int == 0 {
      if claims["admin"]?.bool == true {
        return trustsAdmins ? Caller(actor: .admin(claims["d"]?["uid"]?.string ?? "legacy"), isAdmin: true) : nil
      }
      guard let auth = claims["d"], auth.object != nil else { return nil }
      return Caller(user: AuthVariable(json: auth))
    }
    guard let uid = claims["user_id"]?.string ?? claims["sub"]?.string ?? claims["uid"]?.string, !uid.isEmpty else {
      return nil
    }
    return Caller(user: AuthVariable(uid: uid, claims: claims))
  }
}
