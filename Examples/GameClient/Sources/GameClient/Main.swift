import Doubloon
import Foundation

/// Reads what the player types, until `quit` or the end.
@main struct Main {
  static func main() async {
    // A terminal serves no main queue; and links open this game by a scheme of its own.
    let options = FirebaseOptions.defaultOptions()
    options?.callbackQueue = DispatchQueue(label: "game")
    options?.deepLinkURLScheme = "treasure"
    FirebaseApp.configure()
    guard FirebaseApp.app() != nil else { exit(1) }

    print(
      "Treasure hunt. Type start, invite, join CODE, open URL, keep MAIL PASSWORD, dig, purse, ways, follow, close or quit.")
    let game = TreasureHunt()
    game.showMessages()
    game.watchPurse()
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      guard let command = words.first else { continue }
      if command == "quit" { break }
      do {
        try await game.run(command, words: Array(words.dropFirst()))
      } catch {
        print("That did not work: \(error.localizedDescription)")
      }
    }
  }
}

/// Shows a line at once, into a pipe too.
func print(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
