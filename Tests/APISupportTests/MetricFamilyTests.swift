import NIOCore
import Testing

@testable import APISupport
@testable import HTTPServer

/// The text that Prometheus reads.
struct MetricFamilyTests {
  private func text(_ family: MetricFamily) -> String {
    var text = ""
    family.write(to: &text)
    return text
  }

  @Test("A family has its HELP, its TYPE and a line for each of its numbers; labels are escaped")
  func lines() {
    #expect(
      text(.counter("a_total", help: "What is a.", value: 7))
        == "# HELP a_total What is a.\n# TYPE a_total counter\na_total 7\n")
    #expect(text(.gauge("b", help: "B.", value: 0.5)) == "# HELP b B.\n# TYPE b gauge\nb 0.5\n")
    #expect(text(.gauge("c", help: "C.", value: nil)) == "# HELP c C.\n# TYPE c gauge\n")
    let names = MetricFamily.gauge("d", help: "D.").with(["a\"b", "c\\d", "e\nf"], label: "name") { ($0, 1) }
    #expect(
      text(names)
        == "# HELP d D.\n# TYPE d gauge\nd{name=\"a\\\"b\"} 1\nd{name=\"c\\\\d\"} 1\nd{name=\"e\\nf\"} 1\n")
  }

  @Test("A histogram's buckets count everything up to their bound, and the last one everything")
  func histogram() {
    let family = MetricFamily.histogram("h_seconds", help: "H.", bounds: [0.001, 2], counts: [3, 1, 2], sum: 7.25)
    #expect(
      text(family) == """
        # HELP h_seconds H.
        # TYPE h_seconds histogram
        h_seconds_bucket{le="0.001"} 3
        h_seconds_bucket{le="2"} 4
        h_seconds_bucket{le="+Inf"} 6
        h_seconds_sum 7.25
        h_seconds_count 6

        """)
  }

  @Test("Durations are counted for each class of route, and a class that nobody asked has no line")
  func classes() {
    let metrics = ServerMetrics()
    metrics.http.note(.microseconds(300), of: .treeRead)
    metrics.http.note(.milliseconds(3), of: .treeRead)
    let text = metrics.prometheus([])
    for line in [
      #"doubloon_http_request_seconds_bucket{route="tree_read",le="0.00025"} 0"#,
      #"doubloon_http_request_seconds_bucket{route="tree_read",le="0.0005"} 1"#,
      #"doubloon_http_request_seconds_bucket{route="tree_read",le="+Inf"} 2"#,
      #"doubloon_http_request_seconds_count{route="tree_read"} 2"#,
    ] {
      #expect(text.contains(line + "\n"), "\(line)")
    }
    #expect(!text.contains(#"doubloon_http_request_seconds_count{route="admin"}"#))
  }

  @Test("Sign-ins are counted by method and by whether the player got in")
  func signIns() {
    let metrics = ServerMetrics()
    metrics.signIns.count(.password, isRefused: false)
    metrics.signIns.count(.password, isRefused: true)
    metrics.signIns.count(.password, isRefused: true)
    func total(_ result: String) -> Int {
      metrics.total("doubloon_sign_ins_total", dimensions: [("method", "password"), ("result", result)])
    }
    #expect(total("ok") == 1 && total("refused") == 2)
  }

  @Test("What was never verified or copied has no time; what was has the last one's, and failures do not move a success")
  func maintenance() {
    let record = MaintenanceRecord()
    func text() -> String {
      record.notes.families.reduce(into: "") { text, family in family.write(to: &text) }
    }
    #expect(!text().contains("\ndoubloon_backup_success_time_seconds ") && !text().contains("\ndoubloon_verification_sound "))
    record.recallBackup(endedAt: 5000)
    record.noteBackup(MaintenanceRecord.Outcome(time: 10_000, duration: 1500), bytes: 77)
    record.recallBackup(endedAt: 6000)
    record.noteBackup(MaintenanceRecord.Outcome(time: 20_000, duration: 10, failure: "disk full"))
    record.noteVerification(MaintenanceRecord.Outcome(time: 30_000, duration: 2000, failure: "2 faults"), faults: 2)
    for line in [
      "doubloon_backups_total 2", "doubloon_backup_failures_total 1", "doubloon_backup_time_seconds 20",
      "doubloon_backup_success_time_seconds 10", "doubloon_backup_bytes 77", "doubloon_backup_ok 0",
      "doubloon_verification_sound 0", "doubloon_verification_faults 2", "doubloon_verification_time_seconds 30",
      "doubloon_verification_seconds 2",
    ] {
      #expect(text().contains("\n\(line)\n"), "\(line)")
    }
  }
}
