/// One entry of `tls`: the files of a certificate and its key.
struct CertificateSection: ConfigurationSection {
  let files: CertificateFiles?

  init(_ reader: ConfigurationReader) {
    for key in ["certificate", "key"] where !reader.has(key) {
      reader.fault(key, "\"\(reader.path(key))\" is missing: a certificate and its key are two files in PEM form.")
    }
    guard let certificate = reader.path(of: "certificate"), let key = reader.path(of: "key") else {
      files = nil
      return
    }
    files = CertificateFiles(certificate: certificate, key: key)
    reader.warnIfOpen(key, "key")
    do {
      _ = try CertificateFiles(certificate: certificate, key: key).load(with: reader.surroundings.file)
    } catch {
      reader.fault(error.isAboutKey ? "key" : "certificate", error.message)
    }
  }
}
