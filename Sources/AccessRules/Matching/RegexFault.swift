/// What is wrong with a regular expression, and at which byte of it.
struct RegexFault: Error {
  let offset: Int
  let message: String
}
