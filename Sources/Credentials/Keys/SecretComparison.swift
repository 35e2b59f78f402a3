/// Comparing without telling by the duration how much was right.
public enum SecretComparison {
  /// Whether the bytes are the same. Takes as long whatever differs; only the lengths show.
  public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
