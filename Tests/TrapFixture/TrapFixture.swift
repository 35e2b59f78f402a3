import FunctionsKit

@testable import DoubloonCLI

/// A server with functions that misbehave for real: what no test in one process can show. The stage `trap` starts it.
@main struct TrapFixture {
  static func main() async {
    await DoubloonServer(functions: register).main()
  }

  private static func register(_ functions: Functions) {
    functions.onWrite(TreePath<String, String>("/fuses/{id}"), name: "fuse") { event, context in
      if event.after == "trap" { fatalError("The fuse \(event.params) was lit, as the stage wanted.") }
      try await context.set(TreePath<Bool, String>("/burnt/{id}"), event.params, to: true)
      return .done
    }
    functions.onWrite(TreePath<Int, String>("/players/{uid}/level"), name: "pay") { event, context in
      try await context.credit(
        TreePath<Int64, String>("/users/{uid}/inventory/pieces_of_eight"), event.params, amount: 50, code: "level")
      return .done
    }
  }
}
