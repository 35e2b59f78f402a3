import DoubloonCLI
import Functions

/// The program: this deployment's functions, and the whole command line around them.
@main
struct Doubloon {
  static func main() async {
    await DoubloonServer(functions: registerFunctions).main()
  }
}
