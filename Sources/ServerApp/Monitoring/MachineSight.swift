import APISupport
import AdminAPI
import Glibc
import ServerConfiguration

/// What was seen of the process and of the machine that it runs on.
struct MachineSight: Sendable {
  struct Certificate: Sendable, Hashable {
    let file: String
    /// Milliseconds since 1970.
    let validUntil: Int64
  }

  /// Bytes in memory, and of address space.
  var residentBytes: Int64 = 0
  var virtualBytes: Int64 = 0
  /// Seconds that the process has computed.
  var cpuSeconds = 0.0
  var threads = 0
  var openFiles = 0
  var filesMax = 0
  /// The disk that the data are on; nil for data that are on none.
  var disk: DiskSpace?
  /// Bytes of the store's file, and of its log.
  var storeBytes: Int64?
  var logBytes: Int64?
  var certificates: [Certificate] = []

  /// Asks the system.
  ///
  /// - Parameter folder: where the data are; nil for data that are in memory.
  init(folder: String?) {
    let pages = Self.words("/proc/self/statm").compactMap { Int64($0) }
    let pageBytes = Int64(sysconf(Int32(_SC_PAGESIZE)))
    if pages.count > 1 { (virtualBytes, residentBytes) = (pages[0] * pageBytes, pages[1] * pageBytes) }
    readUsage()
    openFiles = Self.count("/proc/self/fd")
    threads = Self.count("/proc/self/task")
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 { filesMax = Int(clamping: limit.rlim_cur) }
    guard let folder else { return }
    disk = DiskSpace(of: folder)
    storeBytes = Self.size("\(folder)/doubloon.db")
    logBytes = Self.size("\(folder)/doubloon.db-wal") ?? 0
  }

  private mutating func readUsage() {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return }
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    cpuSeconds = Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
  }

  private static func words(_ path: String) -> [Substring] {
    guard let bytes = try? FileBytes.read(path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
  }

  /// The entries of a folder, without the two that every folder has; without the one, too, that looking opens.
  private static func count(_ path: String) -> Int {
    guard let folder = opendir(path) else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return max(0, count - 2)
  }

  private static func size(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }
}

extension MachineSight {
  /// What was seen, as metrics. Those of a process have the names that all Prometheus clients give them.
  var families: [MetricFamily] {
    [
      .gauge("process_resident_memory_bytes", help: "Memory of the process, in bytes.", value: Double(residentBytes)),
      .gauge("process_virtual_memory_bytes", help: "Address space of the process, in bytes.", value: Double(virtualBytes)),
      .counter("process_cpu_seconds_total", help: "Seconds that the process has computed.").with(cpuSeconds),
      .gauge("process_open_fds", help: "File descriptors that are open.", value: openFiles),
      .gauge("process_max_fds", help: "File descriptors that may be open.", value: filesMax),
      .gauge("process_threads", help: "Threads of the process.", value: threads),
      .gauge(
        "doubloon_disk_free_bytes", help: "Bytes that the server can still write to the disk of its data.",
        value: disk.map { Double($0.freeBytes) }),
      .gauge("doubloon_disk_size_bytes", help: "Bytes of that disk in all.", value: disk.map { Double($0.totalBytes) }),
      .gauge("doubloon_store_bytes", help: "Bytes of the store's file.", value: storeBytes.map(Double.init)),
      .gauge(
        "doubloon_log_bytes", help: "Bytes of the write-ahead log, which a checkpoint moves into the store's file.",
        value: logBytes.map(Double.init)),
      .gauge("doubloon_certificate_expiry_time_seconds", help: "When a certificate ends, in seconds since 1970.")
        .with(certificates, label: "certificate") { ($0.file, Double($0.validUntil / 1000)) },
    ]
  }
}
