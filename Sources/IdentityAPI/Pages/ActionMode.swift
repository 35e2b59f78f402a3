/// What a link in a mail is for, as its `mode` says it.
enum ActionMode: String, Sendable, Hashable, CaseIterable {
  case verifyEmail, resetPassword, verifyAndChangeEmail, recoverEmail, signIn
}
