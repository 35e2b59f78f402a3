import SwiftASN1
import TextFormats

/// A certificate that says nothing but a public key (X.509, RFC 5280): the form in which Google publishes its token keys.
///
/// Its issuer is itself; its reader trusts the place where it was found. The same key gives the same certificate.
struct SelfSignedCertificate {
  /// How long a certificate is valid, in milliseconds: longer than its key is on the ring.
  private static let validity: Int64 = 400 * 86_400_000

  let der: [UInt8]

  init(of key: SigningKey, from start: Int64) throws(TokenError) {
    let built = Result { () throws -> [UInt8] in
      let body = try Self.body(of: key, from: start)
      let signature = try key.sign(body)
      var certificate = DER.Serializer()
      try certificate.appendConstructedNode(identifier: .sequence) { coder in
        coder.serializeRawBytes(body)
        try Self.appendAlgorithm(to: &coder)
        try coder.serialize(ASN1BitString(bytes: signature[...]))
      }
      return certificate.serializedBytes
    }
    guard case .success(let der) = built else { throw .malformed("the certificate of the key \(key.id) could not be made.") }
    self.der = der
  }

  var pem: String { PEMDocument(type: "CERTIFICATE", derBytes: der).pemString + "\n" }

  /// What the signature is over (RFC 5280 §4.1.2).
  private static func body(of key: SigningKey, from start: Int64) throws -> [UInt8] {
    // The serial number is the name's first bytes, made positive.
    let serial = key.id.text.utf8.prefix(15).reduce(into: UInt64(1)) { $0 = ($0 &* 31 &+ UInt64($1)) & (UInt64.max >> 2) }
    var coder = DER.Serializer()
    try coder.appendConstructedNode(identifier: .sequence) { coder in
      try coder.serialize(2, explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific)  // version 3
      try coder.serialize(serial)
      try appendAlgorithm(to: &coder)
      try appendName(to: &coder)
      try coder.appendConstructedNode(identifier: .sequence) { coder in
        try appendTime(start - 86_400_000, to: &coder)
        try appendTime(start + validity, to: &coder)
      }
      try appendName(to: &coder)
      coder.serializeRawBytes(key.publicDER)
    }
    return coder.serializedBytes
  }

  /// sha256WithRSAEncryption (RFC 4055).
  private static func appendAlgorithm(to coder: inout DER.Serializer) throws {
    try coder.appendConstructedNode(identifier: .sequence) { coder in
      try coder.serialize(try ASN1ObjectIdentifier(elements: [1, 2, 840, 113549, 1, 1, 11]))
      try coder.serialize(ASN1Null())
    }
  }

  /// CN=securetoken.doubloon
  private static func appendName(to coder: inout DER.Serializer) throws {
    try coder.appendConstructedNode(identifier: .sequence) { coder in
      try coder.appendConstructedNode(identifier: .set) { coder in
        try coder.appendConstructedNode(identifier: .sequence) { coder in
          try coder.serialize(try ASN1ObjectIdentifier(elements: [2, 5, 4, 3]))
          try coder.serialize(ASN1UTF8String("securetoken.doubloon"))
        }
      }
    }
  }

  /// UTCTime before 2050, GeneralizedTime from then on (RFC 5280 §4.1.2.5).
  private static func appendTime(_ milliseconds: Int64, to coder: inout DER.Serializer) throws {
    let time = CalendarTime(milliseconds: max(0, min(milliseconds, 253_402_300_799_000)))
    if time.year < 2050 {
      try coder.serialize(
        try UTCTime(
          year: time.year, month: time.month, day: time.day, hours: time.hour, minutes: time.minute, seconds: time.second))
    } else {
      try coder.serialize(
        try GeneralizedTime(
          year: time.year, month: time.month, day: time.day, hours: time.hour, minutes: time.minute, seconds: time.second,
          fractionalSeconds: 0))
    }
  }
}
