// swift-tools-version:6.2
import PackageDescription

// A game's side of Doubloon, in a terminal. DOUBLOON_PATH names Doubloon's folder where it is another one.
let package = Package(
  name: "GameClient",
  dependencies: [
    .package(name: "doubloon", path: Context.environment["DOUBLOON_PATH"] ?? "../..")
  ],
  targets: [
    .executableTarget(name: "GameClient", dependencies: [.product(name: "Doubloon", package: "doubloon")])
  ]
)
