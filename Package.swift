// swift-tools-version:6.2
import PackageDescription

/// Every target is built with these: imports are internal unless said otherwise, warnings are errors.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .treatAllWarnings(as: .error),
]

// Scripts/release says which commit it builds, for "doubloon --version"; only one small file of C depends on it.
let commit = (Context.environment["DOUBLOON_COMMIT"] ?? "").filter(\.isHexDigit)
let commitDefinition: [CSetting] = commit.isEmpty ? [] : [.define("DOUBLOON_COMMIT", to: commit)]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioWebSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let swiftASN1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")

/// What the tests of services on a store have in common.
let storeTests: [Target.Dependency] = [
  "StorageCore", "StorageSQLite", "StorageTestSupport", "TestSupport", "TreeModel",
]

let package = Package(
  name: "doubloon",
  // What the library `Doubloon` is for; the server runs on Linux.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .visionOS(.v1)],
  products: [
    .executable(name: "doubloon", targets: ["DoubloonCommand"]),
    .library(name: "Doubloon", targets: ["Doubloon", "TreeModel"]),
    .library(name: "FunctionsKit", targets: ["FunctionsKit", "TreeModel"]),
    .library(name: "ServerApp", targets: ["ServerApp", "DoubloonCLI"]),
    .library(name: "DoubloonTesting", targets: ["DoubloonTesting"]),
    .library(name: "DoubloonEngine", targets: ["AccessRules", "StorageCore", "StorageSQLite", "TreeDatabase", "TreeModel"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),  // the command line, with its help
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),  // the certificates that token keys are published in
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),  // deques and heaps
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),  // data hashes and chains, signatures, passwords
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),  // the log, with a backend of the user's choice
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),  // the facade for an embedder's metrics
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),  // sockets, event loops and the HTTP/1 codec
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),  // TLS, for clients and to mail servers
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),  // orderly start and stop
  ],
  targets: [
    .target(name: "CBuild", cSettings: commitDefinition),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),

    // Layer 0: text, and nothing else
    .target(name: "TextFormats"),

    // Layer 1: pure values
    .target(name: "TreeModel", dependencies: ["TextFormats", crypto]),
    .target(name: "RewardModel", dependencies: [crypto]),

    // Layer 2: languages and protocols
    .target(name: "AccessRules", dependencies: ["TextFormats", "TreeModel"]),
    .target(name: "Credentials", dependencies: ["TextFormats", "TreeModel", crypto, cryptoExtras, swiftASN1]),
    .target(name: "AdminModel", dependencies: ["TextFormats", "TreeModel"]),
    .target(name: "FunctionsKit", dependencies: ["TextFormats", "TreeModel"]),
    .target(name: "MailContent", dependencies: ["TextFormats", "TreeModel"]),
    .target(
      name: "StorageCore",
      dependencies: ["RewardModel", "TextFormats", "TreeModel", crypto], resources: [.embedInCode("schema.sql")]),

    // Layer 3: one capability each
    .target(name: "StorageSQLite", dependencies: ["CSQLite", "RewardModel", "StorageCore", "TextFormats", "TreeModel"]),
    .target(name: "StoragePostgres", dependencies: ["StorageCore", "TextFormats", "TreeModel", crypto]),
    .target(
      name: "TreeDatabase", dependencies: ["AccessRules", "RewardModel", "StorageCore", "TextFormats", "TreeModel", deque]),
    .target(name: "Ledger", dependencies: ["RewardModel", "StorageCore", "TextFormats", "TreeModel"]),
    .target(
      name: "Triggers",
      dependencies: ["FunctionsKit", "RewardModel", "StorageCore", "TextFormats", "TreeModel", logging, deque, heap]),
    .target(
      name: "Accounts", dependencies: ["Credentials", "MailContent", "StorageCore", "TextFormats", "TreeModel", crypto]),
    .target(name: "Links", dependencies: ["StorageCore", "TextFormats", "TreeModel", crypto]),
    .target(name: "Invites", dependencies: ["MailContent", "StorageCore", "TextFormats", "TreeModel"]),
    .target(name: "Messages", dependencies: ["RewardModel", "StorageCore", "TextFormats", "TreeModel", crypto]),

    // Layer 4: use cases that span capabilities
    .target(
      name: "Backups",
      dependencies: ["Ledger", "StorageCore", "StorageSQLite", "TextFormats", "TreeModel", crypto, cryptoExtras, logging]),
    .target(
      name: "PlayerLifecycle",
      dependencies: [
        "Accounts", "FunctionsKit", "Ledger", "RewardModel", "StorageCore", "TextFormats", "TreeDatabase", "TreeModel",
      ]),

    // Layer 5: the network
    .target(name: "Mail", dependencies: ["MailContent", "TextFormats", "TreeModel", crypto, nioCore, nioPosix, nioSSL]),
    .target(
      name: "HTTPServer",
      dependencies: [
        "Credentials", "StorageCore", "TextFormats", "TreeModel", coreMetrics, crypto, deque, lifecycle, logging, nioCore,
        nioHTTP1, nioPosix, nioSSL, nioTLS,
      ]),
    .target(
      name: "AdminClient",
      dependencies: [
        "AdminModel", "Credentials", "StorageCore", "TextFormats", "TreeModel", nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS,
      ]),

    // Layers 6 and 7: what the surfaces share, and the surfaces, one subject each
    .target(
      name: "APISupport",
      dependencies: [
        "AdminModel", "Credentials", "HTTPServer", "Ledger", "MailContent", "StorageCore", "TextFormats", "TreeDatabase",
        "TreeModel", coreMetrics, crypto, logging, nioCore, nioHTTP1, nioPosix,
      ]),
    .target(
      name: "RealtimeAPI",
      dependencies: [
        "APISupport", "AccessRules", "HTTPServer", "StorageCore", "TextFormats", "TreeDatabase", "TreeModel", coreMetrics,
        crypto, deque, logging, nioCore, nioHTTP1, nioPosix, nioWebSocket,
      ]),
    .target(
      name: "IdentityAPI",
      dependencies: [
        "APISupport", "Accounts", "Credentials", "HTTPServer", "MailContent", "StorageCore", "TextFormats", "TreeDatabase",
        "TreeModel", nioCore, nioHTTP1,
      ]),
    .target(
      name: "LinksAPI",
      dependencies: [
        "APISupport", "Accounts", "AdminModel", "HTTPServer", "Invites", "Ledger", "Links", "StorageCore", "TextFormats",
        "TreeDatabase", "TreeModel", crypto, nioCore, nioHTTP1, nioPosix,
      ]),
    .target(
      name: "MessagesAPI",
      dependencies: [
        "APISupport", "HTTPServer", "Messages", "StorageCore", "TreeDatabase", "TreeModel", nioCore, nioHTTP1, nioPosix,
      ]),
    .target(
      name: "AdminAPI",
      dependencies: [
        "APISupport", "AccessRules", "Accounts", "AdminModel", "Backups", "Credentials", "HTTPServer", "Invites", "Ledger",
        "Links", "MailContent", "Messages", "PlayerLifecycle", "RewardModel", "StorageCore", "TextFormats", "TreeDatabase",
        "TreeModel", logging, nioCore, nioHTTP1, nioPosix,
      ]),

    .target(name: "CConsoleAssets", exclude: ["assets", "console.tar.gz", "messages"]),
    .target(
      name: "WebConsole", dependencies: ["APISupport", "CConsoleAssets", "HTTPServer", "TextFormats", crypto, nioHTTP1]),

    // Layers 7 to 9: the configuration, the composition, the commands
    .target(
      name: "ServerConfiguration",
      dependencies: [
        "APISupport", "AccessRules", "Accounts", "Backups", "Credentials", "FunctionsKit", "HTTPServer", "Ledger", "Links",
        "Mail", "MailContent", "Messages", "StorageCore", "TextFormats", "TreeModel", nioCore, nioSSL,
      ]),
    .target(
      name: "ServerApp",
      dependencies: [
        "APISupport", "Accounts", "AdminAPI", "AdminClient", "AdminModel", "Backups", "CMalloc", "Credentials",
        "FunctionsKit", "HTTPServer", "IdentityAPI", "Invites", "Ledger", "Links", "LinksAPI", "Mail", "MailContent",
        "Messages", "MessagesAPI", "PlayerLifecycle", "RealtimeAPI", "RewardModel", "ServerConfiguration", "StorageCore",
        "StoragePostgres", "StorageSQLite", "TextFormats", "TreeDatabase", "TreeModel", "Triggers", "WebConsole", crypto,
        lifecycle, logging,
        nioCore, nioHTTP1, nioPosix, unixSignals,
      ]),
    .target(
      name: "DoubloonCLI",
      dependencies: [
        "APISupport", "AccessRules", "AdminClient", "AdminModel", "Backups", "CBuild", "Credentials", "FunctionsKit", "Links",
        "Mail", "ServerApp", "ServerConfiguration", "StorageCore", "StoragePostgres", "StorageSQLite", "TextFormats",
        "TreeModel", argumentParser,
        logging, nioCore, nioHTTP1,
      ],
      // Links to the files of Examples/OwnGame.
      resources: [.embedInCode("Template")]),

    // The games' side, which imports nothing of the server but its values; on Linux no game links Foundation's network code
    .target(name: "SyncModel", dependencies: ["TreeModel"]),
    .target(name: "ClientRuntime", dependencies: ["TextFormats", "TreeModel"]),
    .target(name: "ClientLink", dependencies: ["ClientRuntime", "SyncModel", "TextFormats", "TreeModel"]),
    .target(
      name: "ClientNIO",
      dependencies: ["ClientRuntime", "TextFormats", nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS, nioWebSocket]),
    .target(name: "ClientApple", dependencies: ["ClientRuntime"]),
    .target(
      name: "Doubloon",
      dependencies: [
        .target(name: "ClientApple", condition: .when(platforms: [.macOS, .iOS, .tvOS, .visionOS])), "ClientLink",
        "ClientNIO", "ClientRuntime", "SyncModel", "TextFormats", "TreeModel", crypto,
      ]),

    // The tenant: this deployment's functions
    .target(name: "Functions", dependencies: ["FunctionsKit", "TreeModel"], path: "Functions"),

    // Layer 10: what people start
    .executableTarget(name: "DoubloonCommand", dependencies: ["DoubloonCLI", "Functions"]),
    .target(
      name: "DoubloonTesting",
      dependencies: [
        "FunctionsKit", "Ledger", "RewardModel", "ServerApp", "ServerConfiguration", "StorageCore", "TreeDatabase",
        "TreeModel", "Triggers",
      ]),

    // Tests: one target for each target above, and three for the whole
    .target(name: "TestSupport", dependencies: ["StorageCore", "TreeModel"], path: "Tests/TestSupport"),
    .target(
      name: "StorageTestSupport", dependencies: ["StorageCore", "StoragePostgres", "StorageSQLite", "TestSupport"],
      path: "Tests/StorageTestSupport"),
    .target(
      name: "ServerTestSupport",
      dependencies: [
        "APISupport", "Accounts", "AdminAPI", "AdminModel", "Credentials", "DoubloonCLI", "FunctionsKit", "HTTPServer",
        "IdentityAPI", "Invites", "Ledger", "Links", "LinksAPI", "Messages", "MessagesAPI", "RealtimeAPI", "ServerApp",
        "StorageCore", "StorageSQLite", "TestSupport", "TextFormats", "TreeDatabase", "TreeModel", "WebConsole", logging,
        nioCore, nioHTTP1, nioPosix, nioSSL,
      ], path: "Tests/ServerTestSupport"),
    .executableTarget(name: "TrapFixture", dependencies: ["DoubloonCLI", "FunctionsKit"], path: "Tests/TrapFixture"),
    .executableTarget(name: "ClientGuide", dependencies: ["Doubloon"], path: "Tests/ClientGuide"),
    .executableTarget(
      name: "UpgradeFixture", dependencies: ["DoubloonCLI", "Functions", "StorageCore"], path: "Tests/UpgradeFixture"),
    .executableTarget(name: "ClientFixture", dependencies: ["Doubloon"], path: "Tests/ClientFixture"),
    .testTarget(name: "TextFormatsTests", dependencies: ["TestSupport", "TextFormats"]),
    .testTarget(name: "AdminModelTests", dependencies: ["AdminModel", "TreeModel"]),
    .testTarget(
      name: "PlayerLifecycleTests",
      dependencies: [
        "Accounts", "Credentials", "FunctionsKit", "Invites", "Ledger", "Links", "Messages", "PlayerLifecycle",
        "RewardModel", "StorageCore", "StorageSQLite", "TestSupport", "TextFormats", "TreeDatabase", "TreeModel",
      ]),
    .testTarget(
      name: "BackupsTests",
      dependencies: [
        "Backups", "RewardModel", "StorageCore", "StorageSQLite", "TestSupport", "TextFormats", "TreeModel", logging,
      ]),
    .testTarget(name: "TreeModelTests", dependencies: ["TestSupport", "TreeModel"]),
    .testTarget(name: "RewardModelTests", dependencies: ["RewardModel"]),
    .testTarget(name: "AccessRulesTests", dependencies: ["AccessRules", "TestSupport", "TreeModel"]),
    .testTarget(name: "CredentialsTests", dependencies: ["Credentials", "TestSupport", "TextFormats", "TreeModel"]),
    .testTarget(name: "AccountsTests", dependencies: storeTests + ["Accounts", "Credentials", "MailContent", "TreeDatabase"]),
    .testTarget(name: "LinksTests", dependencies: storeTests + ["FunctionsKit", "Links", "TreeDatabase"]),
    .testTarget(name: "InvitesTests", dependencies: storeTests + ["Invites", "MailContent", "TreeDatabase"]),
    .testTarget(name: "MessagesTests", dependencies: storeTests + ["Ledger", "Messages", "RewardModel", "TreeDatabase"]),
    .testTarget(
      name: "MessagesAPITests",
      dependencies: [
        "HTTPServer", "Messages", "MessagesAPI", "ServerTestSupport", "StorageCore", "TestSupport", "TreeDatabase", "TreeModel",
        nioHTTP1,
      ]),
    .testTarget(name: "StoragePostgresTests", dependencies: ["StorageCore", "StoragePostgres"]),
    .testTarget(name: "MailContentTests", dependencies: ["MailContent", "TestSupport", "TreeModel"]),
    .testTarget(
      name: "MailTests",
      dependencies: ["Mail", "MailContent", "TestSupport", "TextFormats", "TreeModel", logging, nioCore, nioPosix, nioSSL]),
    .testTarget(name: "FunctionsKitTests", dependencies: ["FunctionsKit", "TreeModel"]),
    .testTarget(name: "StorageCoreTests", dependencies: ["RewardModel", "StorageCore", "TestSupport", "TreeModel"]),
    .testTarget(name: "StorageSQLiteTests", dependencies: storeTests + ["CSQLite", "RewardModel", "TextFormats"]),
    .testTarget(name: "TreeDatabaseTests", dependencies: storeTests + ["AccessRules", "TreeDatabase"]),
    .testTarget(name: "LedgerTests", dependencies: storeTests + ["CSQLite", "Ledger", "RewardModel", "TreeDatabase"]),
    .testTarget(
      name: "TriggersTests",
      dependencies: storeTests + ["FunctionsKit", "Ledger", "RewardModel", "TreeDatabase", "Triggers", logging]),
    .testTarget(
      name: "HTTPServerTests",
      dependencies: [
        "APISupport", "HTTPServer", "ServerApp", "ServerTestSupport", "StorageCore", "TestSupport", "TreeModel", logging,
        nioCore, nioEmbedded, nioHTTP1, nioPosix,
      ]),
    .testTarget(
      name: "AdminClientTests",
      dependencies: ["AdminClient", "AdminModel", "DoubloonCLI", "ServerTestSupport", "TreeModel", nioCore, nioHTTP1]),
    .testTarget(
      name: "APISupportTests", dependencies: ["APISupport", "HTTPServer", "StorageCore", "TreeModel", coreMetrics, nioCore]),
    .testTarget(
      name: "RealtimeAPITests",
      dependencies: [
        "APISupport", "AccessRules", "Credentials", "HTTPServer", "IdentityAPI", "RealtimeAPI", "ServerTestSupport",
        "StorageCore", "TestSupport", "TextFormats", "TreeDatabase", "TreeModel", nioCore, nioEmbedded, nioHTTP1, nioPosix,
        nioWebSocket,
      ]),
    .testTarget(
      name: "IdentityAPITests",
      dependencies: [
        "APISupport", "Accounts", "Credentials", "HTTPServer", "IdentityAPI", "ServerTestSupport", "StorageCore",
        "TextFormats", "TreeModel", nioHTTP1,
      ]),
    .testTarget(
      name: "LinksAPITests",
      dependencies: [
        "AdminModel", "FunctionsKit", "HTTPServer", "Invites", "Links", "LinksAPI", "ServerTestSupport", "StorageCore",
        "TextFormats", "TreeDatabase", "TreeModel", nioHTTP1,
      ]),
    .testTarget(
      name: "AdminAPITests",
      dependencies: [
        "APISupport", "Accounts", "AdminAPI", "AdminModel", "Credentials", "HTTPServer", "Invites", "Ledger", "Links",
        "PlayerLifecycle", "RealtimeAPI", "RewardModel", "ServerApp", "ServerTestSupport", "StorageCore", "StorageSQLite",
        "TestSupport", "TextFormats", "TreeDatabase", "TreeModel", nioHTTP1,
      ]),
    .testTarget(
      name: "WebConsoleTests",
      dependencies: ["APISupport", "HTTPServer", "ServerConfiguration", "ServerTestSupport", "WebConsole"]),
    .testTarget(
      name: "ServerConfigurationTests",
      dependencies: [
        "APISupport", "Backups", "Credentials", "FunctionsKit", "HTTPServer", "Mail", "ServerConfiguration",
        "ServerTestSupport", "StorageCore", "TestSupport", "TreeModel", nioCore,
      ]),
    .testTarget(
      name: "ServerAppTests",
      dependencies: [
        "APISupport", "Accounts", "AdminAPI", "AdminClient", "AdminModel", "Credentials", "DoubloonCLI", "FunctionsKit",
        "HTTPServer", "Mail", "MailContent", "ServerApp", "ServerConfiguration", "ServerTestSupport", "StorageCore",
        "StorageSQLite", "StorageTestSupport", "TestSupport", "TextFormats", "TreeDatabase", "TreeModel", "Triggers", crypto,
        logging, nioCore, nioHTTP1, nioPosix, nioSSL,
      ]),
    .testTarget(
      name: "DoubloonCLITests",
      dependencies: [
        "AdminClient", "AdminModel", "Credentials", "DoubloonCLI", "FunctionsKit", "ServerApp", "ServerConfiguration",
        "ServerTestSupport", "StorageCore", "TestSupport", "TextFormats", "TreeModel", argumentParser, logging, nioHTTP1,
      ]),
    .testTarget(name: "SyncModelTests", dependencies: ["SyncModel", "TestSupport", "TreeModel"]),
    .testTarget(name: "ClientRuntimeTests", dependencies: ["ClientRuntime", "TestSupport"]),
    .testTarget(
      name: "ClientLinkTests", dependencies: ["ClientLink", "ClientRuntime", "SyncModel", "TestSupport", "TreeModel"]),
    .testTarget(
      name: "ClientNIOTests",
      dependencies: ["ClientNIO", "ClientRuntime", "ServerTestSupport", "TestSupport", nioHTTP1, nioSSL]),
    .testTarget(
      name: "ClientAppleTests",
      dependencies: [
        "ClientApple", "ClientNIO", "ClientRuntime", "TestSupport", nioCore, nioHTTP1, nioPosix, nioSSL, nioWebSocket,
      ]),
    .testTarget(
      name: "DoubloonTests",
      dependencies: [
        "Accounts", "ClientLink", "ClientNIO", "ClientRuntime", "Credentials", "Doubloon", "DoubloonTesting",
        "ServerTestSupport", "StorageCore", "SyncModel", "TestSupport", "TreeModel",
      ]),
    .testTarget(name: "FunctionsTests", dependencies: ["DoubloonTesting", "Functions", "RewardModel", "TreeModel"]),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "Accounts", "AdminAPI", "AdminClient", "AdminModel", "Doubloon", "DoubloonTesting", "Functions", "FunctionsKit",
        "HTTPServer", "Ledger", "Links", "Messages", "RewardModel", "ServerApp", "ServerConfiguration", "ServerTestSupport",
        "StorageCore", "StorageSQLite", "TestSupport", "TreeDatabase", "TreeModel", "Triggers", logging, nioHTTP1,
      ]),
    .testTarget(name: "TidyTests"),
  ]
)

for target in package.targets where target.type != .system && !["CBuild", "CConsoleAssets"].contains(target.name) {
  target.swiftSettings = strict
}

// The documentation is built with a plugin (Scripts/test docs). It is asked for by name, so that nobody else fetches it.
if Context.environment["DOUBLOON_DOCUMENTATION"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

// Who tries the library for games on a Mac needs no server: DOUBLOON_CLIENT=1 swift test.
if Context.environment["DOUBLOON_CLIENT"] != nil {
  let kept: Set = [
    "TextFormats", "TreeModel", "RewardModel", "StorageCore", "SyncModel", "ClientRuntime", "ClientLink", "ClientNIO",
    "ClientApple", "Doubloon", "TestSupport", "SyncModelTests", "ClientRuntimeTests", "ClientLinkTests", "ClientAppleTests",
  ]
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { $0.name != "Doubloon" }
}
