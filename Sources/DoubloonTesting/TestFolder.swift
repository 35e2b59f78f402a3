import Synchronization
import Triggers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder of a test's own, on a memory file system where there is one; removed when the value goes away.
final class TestFolder: Sendable {
  let path: String

  init() throws(TestServerError) {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(base)/doubloon-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw TestServerError("No temporary folder could be made in \(base): \(String(cString: strerror(errno))).")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// A folder with the same files, as they are at this moment.
  func copy() throws(TestServerError) -> TestFolder {
    let copy = try TestFolder()
    try Self.copyFiles(path, target: copy.path)
    return copy
  }

  private static func copyFiles(_ source: String, target: String) throws(TestServerError) {
    for name in names(in: source) {
      if isFolder("\(source)/\(name)") {
        mkdir("\(target)/\(name)", 0o700)
        try copyFiles("\(source)/\(name)", target: "\(target)/\(name)")
      } else {
        try copyFile("\(source)/\(name)", target: "\(target)/\(name)")
      }
    }
  }

  private static func copyFile(_ source: String, target: String) throws(TestServerError) {
    let input = open(source, O_RDONLY)
    let output = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer {
      close(input)
      close(output)
    }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(input, &buffer, buffer.count)
      if count == 0 { return }
      guard count > 0, write(output, buffer, count) == count else {
        throw TestServerError("\(source) could not be copied: \(String(cString: strerror(errno))).")
      }
    }
  }

  private static func isFolder(_ path: String) -> Bool {
    guard let directory = opendir(path) else { return false }
    closedir(directory)
    return true
  }

  private static func names(in path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func remove(_ path: String) {
    guard isFolder(path) else {
      unlink(path)
      return
    }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }

  deinit {
    Self.remove(path)
  }
}

/// Takes a copy of the data at the moment a failpoint is reached: what a process that died there would leave behind.
final class CrashTrigger: Sendable {
  private struct State {
    var armed: (point: Failpoint.Point, folder: TestFolder)?
    var result: Result<TestFolder, TestServerError>?
  }

  private let state = Mutex(State())

  func arm(_ point: Failpoint.Point, copying folder: TestFolder) {
    state.withLock { $0 = State(armed: (point, folder)) }
  }

  /// The copy, if the place was reached since the trigger was armed; it is then no longer armed.
  func disarm() -> Result<TestFolder, TestServerError>? {
    state.withLock { state in
      defer { state = State() }
      return state.result
    }
  }

  /// Called where the process could die; only the first call at the armed place counts.
  func reach(_ point: Failpoint.Point) {
    state.withLock { state in
      guard let armed = state.armed, armed.point == point, state.result == nil else { return }
      do throws(TestServerError) {
        state.result = .success(try armed.folder.copy())
      } catch {
        state.result = .failure(error)
      }
    }
  }
}
