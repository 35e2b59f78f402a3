import FunctionsKit

/// The places of the game's tree that the functions know.
enum Users {
  static let signIn = TreePath<Int64, UserID>("/users/{uid}/last_signin_at")
  static let level = TreePath<Int64, UserID>("/users/{uid}/level")
  static let referredBy = TreePath<String, UserID>("/users/{uid}/referred_by")
  static let gold = TreePath<Int64, UserID>("/users/{uid}/inventory/pieces_of_eight")
  static let record: PathPattern = "/users/{uid}"
}
