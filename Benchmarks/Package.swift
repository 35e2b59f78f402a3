// swift-tools-version:6.2
import PackageDescription

// A package of its own: what is measured is built as a dependency, the way a studio's server builds it.
let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "doubloon", path: "..")
  ],
  targets: [
    .systemLibrary(name: "SQLiteInterface", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "Measuring"),
    .executableTarget(name: "listeners", dependencies: [.product(name: "DoubloonEngine", package: "doubloon")]),
    .executableTarget(name: "lifecycle", dependencies: ["Measuring"]),
    .executableTarget(name: "fanout", dependencies: ["Measuring"]),
    .executableTarget(
      name: "past", dependencies: ["Measuring", .product(name: "DoubloonEngine", package: "doubloon")]),
    .executableTarget(
      name: "commits", dependencies: ["Measuring", "SQLiteInterface", .product(name: "DoubloonEngine", package: "doubloon")]),
    .executableTarget(name: "client", dependencies: ["Measuring", .product(name: "Doubloon", package: "doubloon")]),
    .executableTarget(name: "queries", dependencies: [.product(name: "DoubloonEngine", package: "doubloon")]),
  ]
)
