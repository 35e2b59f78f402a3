import Doubloon
import Foundation

/// What the pages of the library show, compiled and run: `ClientGuide SERVER PAGE [WORD]`. A test compares the pages with these
/// files, line by line; the stage example runs each page against a server and looks at what it prints.
@main struct Main {
  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count >= 3, let server = URL(string: words[1]) else { return print("ClientGuide SERVER PAGE [WORD]") }
    FirstHour.configure(server: server)
    let word = words.count > 3 ? words[3] : ""
    switch words[2] {
    case "alice": try await FirstHour.alice()
    case "bob": try await FirstHour.bob(code: word)
    case "reading": try await Reading.run()
    case "writing": try await Writing.run()
    case "offline": try await Offline.run()
    case "accounts": try await Accounts.run()
    case "links": try await Links.run()
    case "errors": try await Errors.run()
    case "moving": await Moving.run()
    case "typed": try await Typed.run()
    case "testing": try await TestedGame.run(server: server)
    default: print("There is no page \(words[2]).")
    }
  }
}

/// Shows a line at once, into a pipe too.
func print(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
