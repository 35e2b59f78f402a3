// swift-tools-version:6.2
import PackageDescription

// A studio's own package: its functions, its main, its tests. DOUBLOON_PATH names Doubloon's folder where it is another one.
let package = Package(
  name: "OwnGame",
  dependencies: [
    .package(name: "doubloon", path: Context.environment["DOUBLOON_PATH"] ?? "../..")
  ],
  targets: [
    .target(name: "OwnGameFunctions", dependencies: [.product(name: "FunctionsKit", package: "doubloon")]),
    .executableTarget(name: "OwnGame", dependencies: ["OwnGameFunctions", .product(name: "ServerApp", package: "doubloon")]),
    .testTarget(
      name: "OwnGameFunctionsTests",
      dependencies: ["OwnGameFunctions", .product(name: "DoubloonTesting", package: "doubloon")]),
  ]
)
