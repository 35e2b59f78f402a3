/// A regular expression as it was read.
indirect enum RegexSyntax {
  /// One character of a set.
  case set(ScalarRanges)
  case sequence([RegexSyntax])
  case either([RegexSyntax])
  /// At least `min` times; without `max` as often as one likes.
  case repeated(RegexSyntax, min: Int, max: Int?)
  /// `^`: only where the text begins.
  case start
  /// `$`: only where the text ends.
  case end
}
