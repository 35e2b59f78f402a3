import TreeModel

extension Functions {
  /// Declares where the tree says who referred a player: the server keeps an index from it of who brought whom, for
  /// `GET /v1/referrals` and `doubloon referrals`.
  ///
  /// ```swift
  /// functions.referrer(at: TreePath<UserID, UserID>("/users/{uid}/referred_by"))
  /// ```
  /// There is one such place. What stands there counts if it is a legal key, no matter who wrote it.
  public func referrer<Value>(at place: TreePath<Value, UserID>) {
    if let known = referrerPlace, known != place.pattern {
      Misuse.stop("The referrer stands at \(known) already; \(place.pattern) cannot be a second place. Declare one.")
    }
    declare(referrerPlace: place.pattern)
  }
}
