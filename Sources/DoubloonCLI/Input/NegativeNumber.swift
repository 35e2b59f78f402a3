import ArgumentParser

/// Numbers below zero among the words of a command line.
///
/// The parser takes every word that begins with a hyphen for an option. With a space before it a number is taken for what it
/// is, and everything that reads numbers passes over the space.
enum NegativeNumber {
  /// The word as the parser is to see it.
  static func protected(_ word: String) -> String {
    word.hasPrefix("-") && Double(word) != nil && word.utf8.dropFirst().first.map(isNumeric) == true ? " \(word)" : word
  }

  /// Reads an integer that may have been protected.
  static func integer(_ word: String) throws -> Int64 {
    guard let number = Int64(word.drop { $0 == " " }) else {
      throw ValidationError("\"\(word.drop { $0 == " " })\" is no integer.")
    }
    return number
  }

  /// Not `-inf` and `-nan`, which are no JSON.
  private static func isNumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
  }
}
