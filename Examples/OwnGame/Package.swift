// swift-tools-version:6.2
import PackageDescription

// A studio's own package: its functions, its main, its tests. In a project of your own, depend on Doubloon's repository
// and version instead of the path.
let package = Package(
  name: "OwnGame",
  dependencies: [
    .package(name: "doubloon", path: "../..")
  ],
  targets: [
    .target(name: "GameFunctions", dependencies: [.product(name: "FunctionsKit", package: "doubloon")]),
    .executableTarget(name: "OwnGame", dependencies: ["GameFunctions", .product(name: "ServerApp", package: "doubloon")]),
    .testTarget(
      name: "GameFunctionsTests",
      dependencies: ["GameFunctions", .product(name: "DoubloonTesting", package: "doubloon")]),
  ]
)
