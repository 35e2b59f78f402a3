/// What is wrong with an expression, and at which byte of its text.
struct ExpressionFault: Error {
  let offset: Int
  let message: String

  init(at offset: Int, _ message: String) {
    self.offset = offset
    self.message = message
  }
}
