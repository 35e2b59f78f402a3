import FunctionsKit
import NIOCore
import NIOHTTP1
import ServerTestSupport
import StorageCore
import TestSupport
import Testing
import TreeDatabase
import TreeModel
import Triggers

@testable import APISupport
@testable import AdminAPI
@testable import AdminClient
@testable import HTTPServer
@testable import ServerApp
@testable import ServerConfiguration

/// What a server in production says of itself, and whom it tells.
@Suite struct MonitorTests {
  private static let start: Int64 = 1_800_000_000_000

  /// A production server with a function that gives up on everything above nine.
  private func serve(
    _ alerts: String = "", more register: @escaping (Functions) -> Void = { _ in },
    _ test: (Application, _ port: Int, AdjustableClock) async throws -> Void
  ) async throws {
    let more = "\"metrics\": {\"port\": 0}, \"rateLimits\": false" + (alerts.isEmpty ? "" : ", \"alerts\": \(alerts)")
    let deployment = try ServeTests.Deployment(more: more)
    try deployment.write("0123456789abcdef", "alerts.secret")
    var configuration = try deployment.configuration
    let clock = AdjustableClock(frozenAt: Self.start)
    configuration.clock = clock
    let application = try Application(configuration: configuration) { functions in
      register(functions)
      functions.onWrite(TreePath<Int64, UserID>("/users/{uid}/level"), name: "pay") { event, _ in
        if let level = event.after, level > 9 { throw PermanentError("nine is enough") }
        return .done
      }
    }
    let port = try await application.start()
    do {
      try await test(application, port, clock)
    } catch {
      await application.stop()
      throw error
    }
    await application.stop()
  }

  private func put(_ path: String, _ body: String, at port: Int) async throws {
    let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: ServeTests.token)
    #expect(try await client.send(.PUT, path, body: Array(body.utf8)).status == 200)
    await client.close()
  }

  private func metrics(_ application: Application) async throws -> String {
    let port = try #require(application.metricsServer?.address?.port)
    let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: nil)
    let text = String(decoding: try await client.send(.GET, "/metrics").body, as: UTF8.self)
    await client.close()
    return text
  }

  @Test("The metrics say what functions did, what waits, how the writer and the machine fare")
  func numbers() async throws {
    try await serve { application, port, clock in
      for (player, level) in [("bob", 1), ("eve", 2), ("joe", 10)] {
        try await put("/users/\(player)/level.json", "\(level)", at: port)
      }
      try await application.settle()
      application.monitor.look()
      let text = try await metrics(application)
      for line in [
        #"doubloon_function_runs_total{function="pay",outcome="done"} 2"#,
        #"doubloon_function_runs_total{function="pay",outcome="failed"} 1"#,
        #"doubloon_function_dead_letters_total{function="pay"} 1"#, #"doubloon_dead_letters{function="pay"} 1"#,
        #"doubloon_function_paused{function="pay"} 0"#, #"doubloon_function_measured_runs_total{function="pay"} 3"#,
        "doubloon_events_ready 0", "doubloon_event_lag_seconds 0", "doubloon_writer_overloads_total 0",
        "doubloon_writer_queue_capacity 16384", #"doubloon_alert_active{kind="dead_letters"} 1"#,
        #"doubloon_alert_active{kind="writer_stopped"} 0"#, #"doubloon_build_info{version="unknown",commit="unknown"} 1"#,
        "process_start_time_seconds 1800000000", "doubloon_namespaces 2", "doubloon_backups_total 0",
        #"doubloon_http_request_seconds_count{route="tree_write"} 3"#,
      ] {
        #expect(text.contains("\n\(line)\n"), "\(line)")
      }
      for name in [
        "doubloon_fsync_seconds_count", "doubloon_batch_requests_count", "process_resident_memory_bytes", "process_open_fds",
        "doubloon_disk_free_bytes", "doubloon_store_bytes", "process_cpu_seconds_total",
      ] {
        let value = text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last
        #expect(value.flatMap { Double($0) } ?? 0 > 0, "\(name)")
      }
      let client = try AdminClient(server: "http://127.0.0.1:\(port)", token: ServeTests.token)
      _ = try await client.get("/admin/v1/verify")
      await client.close()
      #expect(try await metrics(application).contains("\ndoubloon_verification_sound 1\n"))
    }
  }

  @Test("An event that waits for its function is as old as its commit; what fails and is tried again is counted apart")
  func lag() async throws {
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let register: (Functions) -> Void = { functions in
      functions.onCreate(TreePath<Bool, String>("/holds/{id}"), name: "hold") { _, _ in
        for await _ in gate { break }
        return .done
      }
      functions.onCreate(TreePath<Bool, String>("/fails/{id}"), name: "fail") { _, _ in
        throw RetryLater(after: .seconds(3600), "not yet")
      }
    }
    try await serve(more: register) { application, port, clock in
      func has(_ lines: String...) async throws {
        application.monitor.look()
        let text = try await metrics(application)
        for line in lines { #expect(text.contains("\n\(line)\n"), "\(line)") }
      }
      try await put("/fails/a.json", "true", at: port)
      try await application.settle()
      clock.advance(by: 2000)
      try await put("/holds/a.json", "true", at: port)
      while application.dispatcher.backlog.running == 0 { await Task.yield() }
      clock.advance(by: 5000)
      try await has(
        "doubloon_functions_running 1", "doubloon_event_lag_seconds 5", "doubloon_retry_lag_seconds 7",
        #"doubloon_retries{function="fail"} 1"#, "doubloon_events_ready 0")
      opening.finish()
      try await application.settle()
      try await has("doubloon_functions_running 0", "doubloon_event_lag_seconds 0", "doubloon_retry_lag_seconds 7")
    }
  }

  @Test("A dead letter is posted, signed, once; when it is dealt with that is posted, too")
  func deadLetter() async throws {
    try await TinyServer.run({ _ in TinyServer.Answer() }) { hook in
      let alerts = "{\"webhook\": {\"url\": \"\(hook.address)/h\", \"secret\": {\"file\": \"alerts.secret\"}}}"
      try await serve(alerts) { application, port, clock in
        func arrives(_ count: Int) async -> Bool {
          let end = ContinuousClock.now + .seconds(120)
          var steps = 0
          while hook.requests.count < count, ContinuousClock.now < end {
            // The clock goes on for so long; the connection may take longer.
            if steps < 2000 { clock.advance(by: 100) }
            steps += 1
            for _ in 0..<50 { await Task.yield() }
          }
          return hook.requests.count == count
        }
        try await put("/users/joe/level.json", "10", at: port)
        try await application.settle()
        application.monitor.look()
        #expect(await arrives(1))
        application.monitor.look()
        let alert = try #require(hook.requests.first)
        #expect(alert.json["kind"] == "dead_letters" && alert.json["state"] == "firing" && alert.json["project"] == "game")
        #expect(alert.json["summary"]?.string?.contains("pay on 1, the last with: nine is enough") == true)
        let timestamp = try #require(alert.headers.first(name: "x-doubloon-timestamp"))
        #expect(
          alert.headers.first(name: "x-doubloon-signature")
            == AlertWebhook.signature(of: alert.body, at: timestamp, secret: "0123456789abcdef"))
        let namespace = try #require(application.database.namespace(named: "game-default-rtdb"))
        #expect(try await application.dispatcher.acknowledgeDeadLetters(in: namespace) == 1)
        application.monitor.look()
        #expect(await arrives(2))
        #expect(hook.requests.last?.json["state"] == "resolved")
      }
    }
  }

  @Test("A paused function and a certificate that ends soon need a person; a healthy server needs none")
  func conditions() async throws {
    try await serve { application, port, clock in
      application.monitor.look()
      let active = { try await metrics(application).split(separator: "\n").filter { $0.hasPrefix("doubloon_alert_active") } }
      #expect(try await active().allSatisfy { $0.hasSuffix(" 0") })
      try await application.dispatcher.pause("pay", because: "the price is wrong")
      application.monitor.look()
      #expect(try await active().filter { $0.hasSuffix(" 1") } == [#"doubloon_alert_active{kind="function_paused"} 1"#])
      try await application.dispatcher.resume("pay")
      application.monitor.look()
      #expect(try await active().allSatisfy { $0.hasSuffix(" 0") })
    }
  }

  @Test("A bad verification, a failed or old backup, a full disk and a certificate that ends soon need a person")
  func maintenance() async throws {
    try await serve { application, port, clock in
      let conditions = application.monitor.conditions
      var settings = conditions.settings
      settings.backupAgeMax = 3_600_000
      let watching = AlertConditions(
        database: conditions.database, watch: conditions.watch, maintenance: conditions.maintenance, settings: settings)
      let now = Self.start
      func outcome(_ failure: String?) -> MaintenanceRecord.Outcome {
        MaintenanceRecord.Outcome(time: now, duration: 5, failure: failure)
      }
      func found(_ later: Int64 = 0, on machine: MachineSight? = nil) -> [AlertKind: String] {
        watching.found(on: machine, at: now + later)
      }
      #expect(found().isEmpty)
      conditions.maintenance.noteVerification(outcome("2 faults, the first: a page"), faults: 2)
      #expect(Set(found().keys) == [.verificationFailed])
      conditions.maintenance.noteVerification(outcome(nil), faults: 0)
      conditions.maintenance.noteBackup(outcome(nil))
      #expect(found(3_600_000).isEmpty && found(3_600_001)[.backupFailed]?.contains("is of 2027-01-15 08:00:00 UTC") == true)
      conditions.maintenance.noteBackup(outcome("no space"))
      #expect(found()[.backupFailed] == "The last backup failed: no space")
      conditions.maintenance.noteBackup(outcome(nil))
      var machine = MachineSight(folder: nil)
      machine.disk = DiskSpace(folder: "/d", freeBytes: 1 << 30, totalBytes: 4 << 30)
      let fortnight: Int64 = 14 * 86_400_000
      machine.certificates = [MachineSight.Certificate(file: "c.pem", validUntil: now + fortnight)]
      #expect(found(on: machine).isEmpty)
      machine.disk = DiskSpace(folder: "/d", freeBytes: (1 << 30) - 1, totalBytes: 4 << 30)
      #expect(Set(found(on: machine).keys) == [.diskLow])
      #expect(found(1, on: machine)[.certificateExpiring]?.contains("c.pem on 2027-01-29") == true)
    }
  }

  @Test("The page Monitoring names every metric that there is, and none that there is not")
  func page() async throws {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let page = String(
      decoding: try FileBytes.read("/\(root)/Sources/ServerApp/ServerApp.docc/Monitoring.md"), as: UTF8.self)
    let listed = page.split(separator: "\n").compactMap { line -> String? in
      guard line.hasPrefix("| `"), line.contains("` | ") else { return nil }
      return line.dropFirst(3).split(separator: "`").first.map(String.init)
    }
    try await serve { application, port, clock in
      let text = try await metrics(application)
      let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
      let names = types.map { String($0.split(separator: " ")[2]) }
      let helped = text.split(separator: "\n").filter { $0.hasPrefix("# HELP ") }.map { String($0.split(separator: " ")[2]) }
      #expect(names == helped && Set(names).count == names.count)
      #expect(Set(names).subtracting(listed).isEmpty, "not on the page")
      #expect(Set(listed).subtracting(names).isEmpty, "only on the page")
      #expect(names.count > 70 && listed.count == names.count)
    }
  }
}
