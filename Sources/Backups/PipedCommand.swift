import Glibc

/// A command that takes a backup on its standard input: started without a shell, ended when its time is up.
///
/// It gets the server's environment and no open file but its own three; what it prints is thrown away, of its errors the last
/// line is kept. For one thread, on which it blocks the signal of broken pipes: a command that ends early is an error, not the
/// end of the server.
final class PipedCommand: BackupOutput {
  private static let errorBytesMax = 4096

  private let name: String
  private let pid: pid_t
  private let timeout: Int64
  private let deadline: Int64
  private let isStopping: () -> Bool
  private var input: Int32
  private let errors: Int32
  private var errorText: [UInt8] = []
  private var hasEnded = false

  /// Starts it.
  ///
  /// - `words`: the program, looked up in `PATH`, and its arguments.
  /// - `timeout`: how long it may take, in milliseconds.
  /// - `isStopping`: whether nobody waits for it any more; asked a few times a second.
  init(_ words: [String], timeout: Int64, isStopping: @escaping () -> Bool = { false }) throws(BackupError) {
    precondition(!words.isEmpty, "A command has a name.")
    name = words[0]
    self.timeout = timeout
    self.isStopping = isStopping
    deadline = Self.now() + timeout
    var blocked = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
    let data = try Self.pipe()
    let words: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    let failures = try Self.pipe()
    let (pid, code) = Self.spawn(words, input: data.reading, errors: failures.writing)
    close(data.reading)
    close(failures.writing)
    guard code == 0 else {
      close(data.writing)
      close(failures.reading)
      throw BackupError(
        .failed, "The command \(name) cannot be started: \(String(cString: strerror(code))). Check \"backups.command\".")
    }
    self.pid = pid
    input = data.writing
    errors = failures.reading
    for descriptor in [input, errors] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
  }

  deinit {
    end()
    close(errors)
  }

  func write(_ bytes: [UInt8]) throws {
    var done = 0
    while done < bytes.count {
      try wait(for: input, events: Int16(POLLOUT))
      let written = bytes.withUnsafeBytes { Glibc.write(input, $0.baseAddress! + done, bytes.count - done) }
      if written < 0, errno == EAGAIN || errno == EINTR { continue }
      guard written > 0 else {
        let status = try exitStatus()
        throw BackupError(.failed, "The command \(name) ended before it had read the backup\(Self.words(status)).\(lastError)")
      }
      done += written
    }
  }

  /// Ends its input, and waits until it has ended.
  ///
  /// - Throws: ``BackupError`` if that takes too long, or its exit code is not 0.
  func finish() throws(BackupError) {
    close(input)
    input = -1
    let status = try exitStatus()
    guard status == 0 else { throw BackupError(.failed, "The command \(name) failed\(Self.words(status)).\(lastError)") }
  }

  /// Stops it with everything that it has started, if it has not ended by itself.
  func end() {
    if input >= 0 {
      close(input)
      input = -1
    }
    guard !hasEnded else { return }
    kill(-pid, SIGKILL)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    hasEnded = true
  }

  // MARK: Waiting

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// How long it may still take, in milliseconds. Stops it when that is nothing, or nobody waits for it any more: a server that
  /// is told to end must not wait for a command that does not read, or is slow to end.
  private func timeLeft() throws(BackupError) -> Int64 {
    guard !isStopping() else {
      end()
      throw Self.stopping
    }
    let left = deadline - Self.now()
    guard left > 0 else {
      end()
      throw BackupError(
        .failed, "The command \(name) was stopped: it took longer than \(timeout / 1000) s (\"backups.timeout\").\(lastError)")
    }
    return left
  }

  static let stopping = BackupError(.failed, "The server is stopping; the next start makes the backup.")

  /// Waits until a descriptor is ready, and reads what was said of errors meanwhile.
  private func wait(for descriptor: Int32, events: Int16) throws(BackupError) {
    while true {
      let left = try timeLeft()
      var polled = [pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0)]
      // Errors that are at their end would wake it again and again.
      let count = isErrorsOpen ? 2 : 1
      poll(&polled, nfds_t(count), Int32(clamping: min(left, 200)))
      if polled[1].revents != 0 { readErrors() }
      if polled[0].revents != 0 { return }
    }
  }

  private var isErrorsOpen = true

  private func readErrors() {
    var buffer = [UInt8](repeating: 0, count: Self.errorBytesMax)
    let count = read(errors, &buffer, buffer.count)
    if count > 0 { errorText = (errorText + buffer[..<count]).suffix(Self.errorBytesMax) }
    if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { isErrorsOpen = false }
  }

  /// The last line that it said of errors, as one sentence more; bounded, and without control characters.
  private var lastError: String {
    let lines = String(decoding: errorText, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let line = lines.last else { return "" }
    return " It said: " + String(line.prefix(300).map { $0.isASCII && ($0.asciiValue ?? 0) < 0x20 ? " " : $0 })
  }

  /// Waits until it has ended; its status as `waitpid` has it.
  private func exitStatus() throws(BackupError) -> Int32 {
    var status: Int32 = 0
    while true {
      let found = waitpid(pid, &status, WNOHANG)
      if found == pid { break }
      _ = try timeLeft()
      var polled = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
      poll(&polled, isErrorsOpen ? 1 : 0, 10)
      if polled.revents != 0 { readErrors() }
    }
    hasEnded = true
    if isErrorsOpen { readErrors() }
    return status
  }

  private static func words(_ status: Int32) -> String {
    if status == 0 { return "" }
    let signal = status & 0x7F
    return signal == 0 ? " with exit code \((status >> 8) & 0xFF)" : " by signal \(signal)"
  }

  // MARK: Starting

  private static func pipe() throws(BackupError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw FileSystem.failed("making", path: "a pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func spawn(_ words: [UnsafeMutablePointer<CChar>?], input: Int32, errors: Int32) -> (pid_t, Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    // What a library has opened without saying that it ends with the program.
    for descriptor in (FileSystem.names(in: "/proc/self/fd") ?? []).compactMap({ Int32($0) }) where descriptor > 2 {
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0, flags & FD_CLOEXEC == 0 { posix_spawn_file_actions_addclose(&actions, descriptor) }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A group of its own, so that all of it can be stopped; signals as in a fresh process.
    posix_spawnattr_setpgroup(&attributes, 0)
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    let variables: [UnsafeMutablePointer<CChar>?] = environment().map { strdup($0) } + [nil]
    defer { for variable in variables { free(variable) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, words[0]!, &actions, &attributes, words, variables)
    return (pid, code)
  }

  /// The environment that the process was started with. The C library's own list may be changed by others while it is read.
  private static func environment() -> [String] {
    guard let file = fopen("/proc/self/environ", "r") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
