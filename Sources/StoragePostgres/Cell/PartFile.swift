#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif
internal import StorageCore

/// A file that is read or written from its beginning, part by part.
final class PartFile {
  private let path: String
  private let descriptor: Int32
  private var isOpen = true

  /// An empty file, in place of what is there.
  init(creating path: String) throws(StorageError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw failure("creating") }
  }

  init(reading path: String) throws(StorageError) {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw failure("opening") }
  }

  deinit {
    close()
  }

  /// The next bytes, as many as there are; nil at the end.
  func read(_ count: Int) throws(StorageError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let found = bytes.withUnsafeMutableBytes { buffer in
        #if canImport(Glibc)
          Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
        #elseif canImport(Musl)
          Musl.read(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
        #elseif canImport(Darwin)
          Darwin.read(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
        #endif
      }
      if found < 0 { throw failure("reading") }
      if found == 0 { break }
      filled += found
    }
    return filled == 0 ? nil : Array(bytes.prefix(filled))
  }

  func write(_ bytes: [UInt8]) throws(StorageError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { buffer in
        #if canImport(Glibc)
          Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Musl)
          Musl.write(descriptor, buffer.baseAddress, buffer.count)
        #elseif canImport(Darwin)
          Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        #endif
      }
      guard written > 0 else { throw failure("writing") }
      rest = rest.dropFirst(written)
    }
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    #if canImport(Glibc)
      _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #elseif canImport(Darwin)
      _ = Darwin.close(descriptor)
    #endif
  }

  private func failure(_ action: String) -> StorageError {
    let code: StorageError.Code = errno == ENOSPC || errno == EDQUOT ? .full : .failed
    return StorageError(code, "\(action) \(path) failed: \(String(cString: strerror(errno))). Check the disk and its space.")
  }
}
