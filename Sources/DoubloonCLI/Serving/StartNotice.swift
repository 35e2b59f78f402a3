import AdminClient
import FunctionsKit
import ServerConfiguration
import TreeModel

/// What a server in development prints once it listens: where everything is.
struct StartNotice: Sendable {
  let configuration: ServerConfiguration
  let functions: [FunctionDefinition]
  /// How the program was called: so it can be called again.
  var program = "doubloon"

  /// - Parameter port: the one that was bound.
  func text(port: Int) -> String {
    // An address that means "all of them" is none that a client can use.
    let host = ["0.0.0.0", "::"].contains(configuration.host) ? "127.0.0.1" : configuration.host
    let base = ServerAddress(host: host, port: port).description
    var lines = ["Doubloon is running at \(base)", ""]
    if host != configuration.host { lines.append("  Listening  \(configuration.host), all addresses of this machine") }
    lines.append("  Data       \(dataFolder)")
    lines.append("  Namespace  \(configuration.defaultNamespace)")
    // Where nobody is let in without a key, the address brings it along; the page takes it out of the address at once.
    let isOpen = configuration.adminToken == "owner"
    lines.append("  Console    \(base)/console/\(isOpen ? "" : "#key=\(configuration.adminToken)")")
    lines.append("  Admin key  \(configuration.adminToken)")
    if configuration.rules != nil { lines.append("  Rules      as given; administrators are not bound by them") }
    if let file = configuration.campaignFile { lines.append("  Messages   \(file.path), again whenever it changes") }
    lines += functionLines
    lines += ["", "Try it:"] + example(base).map { "  \($0)" }
    lines += ["  \(commandPrefix(base))\(program) triggers tail", "", "Ctrl-C stops it."]
    return lines.joined(separator: "\n")
  }

  private var dataFolder: String {
    switch configuration.storage {
    case .directory(let folder):
      configuration.cluster == nil
        ? folder
        : "in PostgreSQL; \(folder) has a working copy. Whether PostgreSQL is kept on more than one machine was not asked."
    case .memory: "in a temporary folder, removed at the end"
    }
  }

  private var functionLines: [String] {
    guard !functions.isEmpty else { return ["  Functions  none"] }
    var table = TextTable([.text("function"), .text("runs"), .text("settings")])
    for function in functions {
      let settings = function.settings.exists ? String(decoding: function.settings.json(), as: UTF8.self) : ""
      table.add([function.name, "\(function.trigger.rawValue) \(function.pattern)", settings])
    }
    return table.lines(showsTitles: false).enumerated().map { index, line in
      (index == 0 ? "  Functions  " : "             ") + line
    }
  }

  /// What makes one of the functions run.
  private func example(_ base: String) -> [String] {
    // Where rules hold, a client without credentials may do nothing.
    let isOpen = configuration.adminToken == "owner" && configuration.rules == nil
    let key = isOpen ? "" : " -H 'Authorization: Bearer \(configuration.adminToken)'"
    func write(_ value: TreeNode, to path: Path, method: String = "PUT") -> String {
      let json = String(decoding: value.json(.export), as: UTF8.self)
      return "curl\(key) -X \(method) \(base)\(AdminClient.treePath(path.description)) -d '\(json)'"
    }
    // The functions that come with Doubloon pay only players who were referred: the README's scenario in one line.
    if functions.contains(where: { $0.pattern.match("/users/bob/last_signin_at") != nil }) {
      return [write(["referred_by": "alice", "last_signin_at": 1_767_225_600_000], to: "/users/bob", method: "PATCH")]
    }
    for function in functions {
      guard let sample = function.sample() else { continue }
      switch function.trigger {
      case .onCreate, .onWrite: return [write(sample.value, to: sample.path)]
      case .onUpdate:
        let example = function.filter.example
        let before = example.map { TreeNode.leaf($0.before) } ?? sample.value
        let after = example.map { TreeNode.leaf($0.after) } ?? sample.otherValue
        return [write(before, to: sample.path), write(after, to: sample.path)]
      case .onDelete:
        return [
          write(sample.value, to: sample.path), "curl\(key) -X DELETE \(base)\(AdminClient.treePath(sample.path.description))",
        ]
      }
    }
    return [write(["name": "Alice"], to: "/users/alice")]
  }

  /// What a command on this machine must be told to find the server.
  private func commandPrefix(_ base: String) -> String {
    var prefix = base == ServerAddress.local.description ? "" : "DOUBLOON_SERVER=\(base) "
    if configuration.adminToken != "owner" { prefix += "DOUBLOON_KEY=\(configuration.adminToken) " }
    return prefix
  }
}
