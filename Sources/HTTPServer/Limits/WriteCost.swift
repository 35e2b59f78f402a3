/// What a write takes out of a client's bucket: one token, and one more for each 16 KB.
///
/// A write of one leaf and one of 16 MB are both one request, but not the same work for the server.
package enum WriteCost {
  private static let bytesPerToken = 16 << 10

  package static func tokens(bytes: Int) -> Int { 1 + bytes / bytesPerToken }
}
