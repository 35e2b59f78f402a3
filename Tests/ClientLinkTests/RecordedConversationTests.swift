import Foundation
import SyncModel
import Testing
import TreeModel

@testable import ClientLink

/// A conversation with the real server, recorded as Tests/Stages/client_recording.py says, played to the session byte for byte:
/// it asks what it asked then, and tells its listeners what the recording says.
@Suite struct RecordedConversationTests {
  /// A line of the recording: `=` what happens outside, `>` a request, `<` what the server says, `!` what a listener is told.
  private struct Line {
    let mark: Character
    let text: String
  }

  private struct Step {
    let name: String
    var lines: [Line] = []
  }

  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/client/conversation.txt")

  private static func recording() throws -> [Step] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").reduce(into: []) { steps, line in
      let text = String(line.dropFirst(2))
      switch line.first {
      case "#": steps.append(Step(name: text))
      case let mark?: steps[steps.count - 1].lines.append(Line(mark: mark, text: text))
      case nil: break
      }
    }
  }

  /// What the app does at the beginning of a step.
  private static let actions: [String: @Sendable (inout SessionHarness) -> Void] = [
    "a place is listened to": { harness in
      harness.setToken(nil)
      listen(&harness, ListenSpec(path: "/t"))
    },
    "the last two of a list, by a child": { harness in
      listen(&harness, ListenSpec(path: "/list", query: Query(order: .child("/n"), limit: .last(2))))
    },
    "a place that will be refused": { listen(&$0, ListenSpec(path: "/no")) },
    "a leaf is written": { _ = $0.write("/t/a", 2) },
    "a number counts up": { harness in
      _ = harness.session.write(.set("/t/9", .increment(4)), at: harness.now)
      harness.pump()
    },
    "a place below one that is listened to": { listen(&$0, ListenSpec(path: "/t/b")) },
    "a write is refused": { _ = $0.write("/no", 1) },
    "a transaction on a value that is known": { harness in
      _ = harness.session.beginTransaction("/t/9", showsGuesses: true, at: harness.now)
      harness.pump()
    },
    "a transaction on a value that is not": { harness in
      _ = harness.session.beginTransaction("/u", showsGuesses: true, at: harness.now)
      harness.pump()
    },
    "one read": { harness in
      _ = harness.session.read(ListenSpec(path: "/list"), at: harness.now)
      harness.pump()
    },
    "what is to be done when the link is lost": { harness in
      _ = harness.session.onDisconnect("/p", .set("/p", "gone"), at: harness.now)
      harness.pump()
    },
    "and is not to be done": { harness in
      _ = harness.session.onDisconnect("/p", nil, at: harness.now)
      harness.pump()
    },
    "the list is let go": { harness in
      harness.session.unlisten(ListenerID(2), at: harness.now)
      harness.pump()
    },
    "without a connection": { harness in
      _ = harness.write("/t/d", 1)
      _ = harness.write("/t/d", ["deep": true])
    },
  ]

  private static func listen(_ harness: inout SessionHarness, _ listened: ListenSpec) {
    _ = harness.session.listen(listened, to: Set(TreeEventKind.allCases), at: harness.now)
    harness.pump()
  }

  /// An event as the recording has it: listener, kind, key, the key before and the value.
  private static func text(_ id: ListenerID, _ event: TreeEvent) -> String {
    let value = String(decoding: event.node.json(), as: UTF8.self)
    return "\(id.number) \(event.kind) \(event.key?.text ?? "-") \(event.previous?.text ?? "-") \(value)"
  }

  @Test("a recorded conversation with the server: the same requests, and the events that belong to them")
  func replay() throws {
    var harness = SessionHarness()
    var isLost = false
    let steps = try Self.recording()
    #expect(Set(Self.actions.keys).isSubset(of: steps.map(\.name)))
    #expect(steps.count > 15)
    for step in steps {
      (harness.sent, harness.told) = ([], [])
      Self.actions[step.name]?(&harness)
      for line in step.lines {
        switch line.mark {
        case ">":
          let sent = harness.sent.isEmpty ? "nothing" : harness.sent.removeFirst()
          #expect(sent == line.text, "\(step.name)")
        case "<": harness.receive(line.text)
        case "=" where line.text == "close":
          harness.lose()
          isLost = true
        case "=" where line.text == "connect" && isLost: harness.advance(by: 30_000)
        default: break
        }
      }
      #expect(harness.sent == [], "\(step.name)")
      let told = harness.told.map { Self.text($0.id, $0.event) } + harness.cancelled.map { "\($0.number) cancelled" }
      harness.cancelled = []
      // Each listener's events are in order; which listener comes first does not matter.
      let expected = step.lines.filter { $0.mark == "!" }.map(\.text)
      for id in Set((told + expected).map { $0.prefix { $0 != " " } }) {
        #expect(told.filter { $0.hasPrefix(id + " ") } == expected.filter { $0.hasPrefix(id + " ") }, "\(step.name)")
      }
    }
    #expect(harness.finished.map(Self.isCommitted) == [true, true])
    #expect(harness.written.values.map { $0?.status ?? "ok" }.sorted() == ["ok", "ok", "ok", "ok", "permission_denied"])
    #expect(harness.reads.count == 1 && harness.closes == 0)
  }

  private static func isCommitted(_ result: SyncModel.TransactionResult) -> Bool {
    if case .committed = result { true } else { false }
  }
}
