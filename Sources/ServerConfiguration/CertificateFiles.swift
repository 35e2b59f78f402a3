package import HTTPServer
import NIOSSL

/// Where a certificate and its key are kept, both in PEM form.
package struct CertificateFiles: Sendable, Hashable {
  /// The certificate, with those that vouch for it behind it.
  package let certificate: String
  package let key: String

  /// Reads both and finds out whether they belong together.
  ///
  /// - Parameter read: reads a file, whole.
  package func load(
    with read: (String) throws(FileError) -> [UInt8] = { (path) throws(FileError) in try FileBytes.read(path) }
  )
    throws(CertificateError) -> TLSIdentity.Pair
  {
    let chain: [NIOSSLCertificate]
    let secret: NIOSSLPrivateKey
    do {
      chain = try NIOSSLCertificate.fromPEMBytes(try read(certificate))
    } catch let error as FileError {
      throw CertificateError(isAboutKey: false, message: error.message)
    } catch {
      throw CertificateError(
        isAboutKey: false, message: "\(certificate) holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).")
    }
    guard let first = chain.first else {
      throw CertificateError(
        isAboutKey: false, message: "\(certificate) holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).")
    }
    do {
      secret = try NIOSSLPrivateKey(bytes: try read(key), format: .pem)
    } catch let error as FileError {
      throw CertificateError(isAboutKey: true, message: error.message)
    } catch {
      throw CertificateError(
        isAboutKey: true, message: "\(key) holds no private key in PEM form without a passphrase (-----BEGIN PRIVATE KEY-----)."
      )
    }
    let pair = TLSIdentity.Pair(chain: chain, key: secret, hosts: Self.hosts(of: first))
    do {
      _ = try TLSIdentity([pair])
    } catch {
      throw CertificateError(
        isAboutKey: true, message: "The key in \(key) is not the key of the certificate in \(certificate).")
    }
    return pair
  }

  /// When the certificate ends, in milliseconds since 1970; nil if it cannot be read.
  package var validUntil: Int64? {
    (try? load())?.chain.first.map { Int64($0.notValidAfter) * 1000 }
  }

  /// What tells one state of the files from another: time, size and number of both.
  package var stamp: [Int64] { [certificate, key].flatMap(FileBytes.stamp) }

  private static func hosts(of certificate: NIOSSLCertificate) -> [String] {
    certificate._subjectAlternativeNames().filter { $0.nameType == .dnsName }.map { name in
      name.contents.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }.lowercased()
    }
  }
}

/// Why a certificate and its key cannot be used.
package struct CertificateError: Error {
  let isAboutKey: Bool
  /// A sentence that names the file.
  package let message: String

  package init(isAboutKey: Bool, message: String) {
    self.isAboutKey = isAboutKey
    self.message = message
  }
}
