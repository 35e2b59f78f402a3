/// What a code that went to a telephone is for.
enum PhoneCodePurpose: Sendable, Hashable {
  case signIn
  /// To enrol the number as a second factor of an account.
  case enrollment(uid: String)
  /// To show a second factor.
  case secondFactor(uid: String, id: String)
}
