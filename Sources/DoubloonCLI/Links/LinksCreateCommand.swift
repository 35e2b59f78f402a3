import AdminClient
import AdminModel
import ArgumentParser
import ServerApp
import TreeModel

/// `doubloon links create`: a short link.
struct LinksCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Create a short link.",
    discussion: """
      The link is what the app opens, and the desktop. Parameters of long links (apn, ibi, isi, st, sd, si, utm_source, …) \
      are given with --set.

      Examples:
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r --suffix summer --name "Summer poster"
        doubloon links create https://acme.test/?invitedby=alice --prefix https://go.acme.test/r \\
          --set apn=test.acme.app --set ibi=test.acme.ios --set "st=Alice invites you"
        doubloon links create https://acme.test/play --prefix https://go.acme.test/r --inviter alice
      """)

  @Argument(help: "What the link opens.")
  var link: String

  @Option(help: ArgumentHelp("Below which of the domains.", valueName: "url"))
  var prefix: String

  @Flag(help: "As short as possible, instead of one that nobody can guess.")
  var short = false

  @Option(help: ArgumentHelp("A suffix of your choice.", valueName: "text"))
  var suffix: String?

  @Option(help: ArgumentHelp("What you call it in listings.", valueName: "text"))
  var name: String?

  @Option(help: ArgumentHelp("The player who invites with it.", valueName: "player"))
  var inviter: String?

  @Option(
    name: .customLong("set"), help: ArgumentHelp("A parameter of the long link; may be repeated.", valueName: "name=value"))
  var parameters: [String] = []

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  mutating func validate() throws {
    if short, suffix != nil { throw ValidationError("--short and --suffix exclude each other.") }
    if let bad = parameters.first(where: { !$0.contains("=") }) {
      throw ValidationError("--set \(bad): write it as name=value.")
    }
  }

  func run() async throws {
    let order = AdminLinks.Order(
      prefix: prefix, parameters: Self.parameters(link: link, parameters),
      option: suffix != nil ? .custom : short ? .short : .unguessable, suffix: suffix, name: name, inviter: inviter)
    let answer = try await server.withClient { client in
      try await client.call(AdminLinks.create, body: order, namespace: server.namespace)
    }
    output.print(answer, Self.text)
  }

  /// Parameters of a long link, as options give them.
  static func parameters(link: String, _ texts: [String]) -> NamedValues<String> {
    var parameters = NamedValues<String>([.init("link", link)])
    for text in texts {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      parameters.members.append(.init(String(parts[0]), String(parts[1])))
    }
    return parameters
  }

  /// The short link, with warnings.
  static func text(_ made: AdminLinks.MadeLink) -> String {
    let notes = [
      made.link.code.map { "code: \($0)".printable }, made.repeated ? "A link that says the same was there before." : nil,
    ].compactMap(\.self)
    return ([made.link.shortLink.printable] + notes + made.warnings.map(\.text)).joined(separator: "\n")
  }
}

/// `doubloon links edit`: what a short link says, and what it is called.
struct LinksEditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change what a short link says, or what it is called; its address stays.",
    discussion: """
      Parameters of long links (link, apn, ibi, isi, st, sd, si, utm_source, …) are given with --set and taken away with \
      --unset; what is not named stays. A printed code goes on to work.

      Examples:
        doubloon links edit https://go.acme.test/r/aB3x --to https://acme.test/summer
        doubloon links edit https://go.acme.test/r/aB3x --set "st=Come aboard" --unset si
        doubloon links edit https://go.acme.test/r/aB3x --name "Summer poster"
      """)

  @OptionGroup
  var choice: LinkArgument

  @Option(help: ArgumentHelp("What it opens from now on.", valueName: "url"))
  var to: String?

  @Option(help: ArgumentHelp("What you call it; an empty text takes the name away.", valueName: "text"))
  var name: String?

  @Option(
    name: .customLong("set"), help: ArgumentHelp("A parameter of the long link; may be repeated.", valueName: "name=value"))
  var parameters: [String] = []

  @Option(help: ArgumentHelp("A parameter that is taken away; may be repeated.", valueName: "name"))
  var unset: [String] = []

  mutating func validate() throws {
    if let bad = parameters.first(where: { !$0.contains("=") }) {
      throw ValidationError("--set \(bad): write it as name=value.")
    }
    guard to != nil || name != nil || !parameters.isEmpty || !unset.isEmpty else {
      throw ValidationError("Say what to change: --to, --name, --set, --unset.")
    }
  }

  func run() async throws {
    var changes = NamedValues<JSON>()
    if let to { changes.members.append(.init("link", .string(to))) }
    for text in parameters {
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      changes.members.append(.init(String(parts[0]), .string(String(parts[1]))))
    }
    changes.members += unset.map { .init($0, .null) }
    let edit = AdminLinks.Edit(name: name, parameters: changes.isEmpty ? nil : changes)
    choice.output.print(try await choice.change(edit), Self.text)
  }

  /// The updated link, with warnings.
  static func text(_ changed: AdminLinks.ChangedLink) -> String {
    ([LinksShowCommand.text(changed.link)] + changed.warnings.map(\.text)).joined(separator: "\n")
  }
}

extension AdminLinks.Warning {
  var text: String { "warning: \(code): \(message)".printable }
}

/// `doubloon links disable`: switches a short link off.
struct LinksDisableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Switch a short link off: it opens a page that says so.",
    discussion: """
      It counts nothing, and nobody comes by it or by its code. What was claimed by it stays. The long link that says exactly \
      the same is off with it, unless the link is a player's own. "doubloon links enable" brings both back.

      Examples:
        doubloon links disable https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkArgument

  func run() async throws {
    let answer = try await choice.change(AdminLinks.Edit(disabled: true))
    choice.output.print(answer) { "\($0.link.shortLink) is disabled.".printable }
  }
}

/// `doubloon links enable`: switches a short link on again.
struct LinksEnableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Switch a disabled link on again.",
    discussion: """
      It opens what it opened before.

      Examples:
        doubloon links enable https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkArgument

  func run() async throws {
    let answer = try await choice.change(AdminLinks.Edit(disabled: false))
    choice.output.print(answer) { "\($0.link.shortLink) is enabled.".printable }
  }
}

/// `doubloon links delete`: takes a short link away.
struct LinksDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a short link with its code; the address says that it is gone.",
    discussion: """
      What was claimed by it stays, for rewards rest on that. A disabled link can come back, a deleted one cannot: in doubt, \
      "doubloon links disable". No new link gets its suffix by chance; "links create --suffix" may choose it again.

      Examples:
        doubloon links delete https://go.acme.test/r/aB3x
      """)

  @OptionGroup
  var choice: LinkArgument

  func run() async throws {
    let answer = try await choice.server.withClient { client in
      try await client.call(AdminLinks.delete, query: choice.query, namespace: choice.server.namespace)
    }
    choice.output.print(answer) { "\($0.shortLink) is deleted.".printable }
  }
}

/// The short link that a command is about.
struct LinkArgument: ParsableArguments {
  @Argument(help: "The short link.")
  var link: String

  @OptionGroup
  var output: OutputOptions

  @OptionGroup(title: "Server")
  var server: ServerOptions

  /// The parameters of a request about the link.
  var query: AdminLinks.LinkQuery { AdminLinks.LinkQuery(link: link) }

  /// Changes the link.
  ///
  /// - Returns: the updated link, with warnings.
  func change(_ edit: AdminLinks.Edit) async throws -> AdminAnswer<AdminLinks.ChangedLink> {
    try await server.withClient { client in
      try await client.call(AdminLinks.edit, query: query, body: edit, namespace: server.namespace)
    }
  }
}
