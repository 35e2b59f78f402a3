import DoubloonTesting
import Functions
import TreeModel

/// Shorthand for the places of the game.
enum Game {
  static func user(_ uid: String) -> Path { Path(keys: [Key(unchecked: "users"), Key(unchecked: uid)]) }
  static func level(_ uid: String) -> Path { user(uid).child(Key(unchecked: "level")) }
  static func signIn(_ uid: String) -> Path { user(uid).child(Key(unchecked: "last_signin_at")) }
  static func referredBy(_ uid: String) -> Path { user(uid).child(Key(unchecked: "referred_by")) }
  static func gold(_ uid: String) -> Path {
    user(uid).appending(Path(keys: [Key(unchecked: "inventory"), Key(unchecked: "pieces_of_eight")]))
  }

  /// Alice, and Bob whom she referred, at level 4.
  static let bobAtFour: TreeNode = ["users": ["alice": ["level": 9], "bob": ["level": 4, "referred_by": "alice"]]]
}
