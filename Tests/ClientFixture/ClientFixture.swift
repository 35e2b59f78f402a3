import Dispatch
import Doubloon
import Foundation

/// A player's device, as a stage drives it: commands come as lines, what happens goes out as lines.
///
/// | Command | What it does, and says |
/// |---|---|
/// | `add NAME N` | counts `NAME/count` up by one and notes `NAME/log/N`, in one update; `done N` when the server has it |
/// | `watch NAME` | from now on `kept N` when a note is shown: it is on the device's disk then |
/// | `count NAME TIMES` | counts `NAME` up so often, by a transaction each; `counted` |
/// | `presence NAME` | leaves `here` at `NAME` now, `gone` when the server loses this device; `present` |
/// | `read NAME` | `value JSON`, or `error SENTENCE` |
/// | `listen NAME KIND LIMIT` | says `event NAME KIND KEY PREVIOUS JSON` of the last children, or of all where the limit is 0 |
/// | `sync` | `synced` when everything before is answered |
/// | `offline`, `online` | closes the connection, opens it again |
///
/// The arguments are the server's URL and the folder for what is kept.
@main struct ClientFixture {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let url = URL(string: arguments[1]) else {
      say("usage: ClientFixture URL FOLDER")
      exit(64)
    }
    let options = FirebaseOptions(server: url, apiKey: "stage")
    options.storageFolder = arguments[2]
    options.callbackQueue = DispatchQueue(label: "callbacks")
    options.logHandler = { say("log \($0)") }
    FirebaseApp.configure(options: options)
    let device = Device(Database.database())
    say("ready")
    while let line = readLine() { device.perform(line.split(separator: " ").map(String.init)) }
  }
}

/// One line, written at once: who kills the process has read what it said.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

struct Device {
  let database: Database

  init(_ database: Database) {
    self.database = database
    database.isPersistenceEnabled = true
  }

  /// What waits for the server does so beside the commands that follow.
  func perform(_ words: [String]) {
    let name = words.count > 1 ? words[1] : ""
    let ref = database.reference(withPath: name)
    switch words.first {
    case "add": add(ref, number: words[2])
    case "watch": ref.child("log").observe(.childAdded) { say("kept \($0.key ?? "")") }
    case "listen": listen(ref, name: name, kind: words[2], limit: UInt(words[3]) ?? 0)
    case "offline": database.goOffline()
    case "online": database.goOnline()
    default:
      Task {
        do {
          try await wait(words, ref)
        } catch {
          say("error \(error.localizedDescription)")
        }
      }
    }
  }

  private func wait(_ words: [String], _ ref: DatabaseReference) async throws {
    switch words.first {
    case "count":
      for _ in 0..<(Int(words[2]) ?? 0) { try await ref.transaction(as: Int.self) { ($0 ?? 0) + 1 } }
      say("counted")
    case "presence":
      try await ref.onDisconnectSetValue("gone")
      try await ref.setValue("here")
      say("present")
    case "read": say("value \(text(try await ref.getData(source: .server)))")
    case "sync":
      try await database.reference(withPath: "sync").setValue(ServerValue.timestamp())
      say("synced")
    default: say("error unknown command \(words)")
    }
  }

  private func add(_ ref: DatabaseReference, number: String) {
    let receipt = ref.update(["count": ServerValue.increment(1), "log/\(number)": ServerValue.timestamp()])
    Task {
      for await state in receipt.states {
        switch state {
        case .queued, .sent: break
        case .acknowledged: say("done \(number)")
        case .refused(let error): say("refused \(number) \(error)")
        case .superseded: say("superseded \(number)")
        }
      }
    }
  }

  private func listen(_ ref: DatabaseReference, name: String, kind: String, limit: UInt) {
    let kinds: [String: DataEventType] = [
      "added": .childAdded, "changed": .childChanged, "moved": .childMoved, "removed": .childRemoved, "value": .value,
    ]
    let query = limit == 0 ? ref : ref.queryOrderedByKey().queryLimited(toLast: limit)
    for (word, type) in kinds where kind == "all" || kind == word {
      query.observe(
        type,
        andPreviousSiblingKeyWith: { snapshot, previous in
          say("event \(name) \(word) \(snapshot.key ?? "-") \(previous ?? "-") \(text(snapshot))")
        })
    }
  }

  private func text(_ snapshot: DataSnapshot) -> String {
    guard let value = snapshot.value, !(value is NSNull),
      let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
    else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }
}
