import DoubloonCLI
import OwnGameFunctions

/// This game's server: Doubloon's whole command line, with the functions of this package.
@main
struct Main {
  static func main() async {
    await DoubloonServer(functions: treasureHunt).main()
  }
}
