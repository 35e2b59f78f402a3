/// How much memory clients may take by what they leave unfinished, all together.
package struct MemoryBudgets: Sendable {
  /// What of both there may be, unless said otherwise.
  package static let usualBytesMax = 64 << 20

  /// Input: bodies, frames and segments that are not whole, and what was read and is not answered.
  package let input: ByteBudget
  /// Output that clients do not read.
  package let output: ByteBudget

  /// - Parameters:
  ///   - inputBytesMax: bytes of input.
  ///   - outputBytesMax: bytes of output.
  package init(inputBytesMax: Int = usualBytesMax, outputBytesMax: Int = usualBytesMax) {
    input = ByteBudget(bytesMax: inputBytesMax)
    output = ByteBudget(bytesMax: outputBytesMax)
  }
}
