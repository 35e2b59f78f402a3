import ClientRuntime
import Foundation

/// Finds and reads the configuration file of an app.
enum ConfigurationFile {
  /// Bytes that a file may have.
  private static let bytesMax = 1 << 20

  static let standard: FirebaseOptions? = options(
    environment: ProcessInfo.processInfo.environment, folders: folders)

  /// Beside the executable, and in the bundle.
  private static var folders: [String] {
    let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent().path
    return [program, Bundle.main.resourcePath, Bundle.main.bundlePath].compactMap(\.self)
  }

  /// The first file that there is and that can be read.
  static func options(environment: [String: String], folders: [String]) -> FirebaseOptions? {
    let named = environment["DOUBLOON_CONFIG"].map { [$0] } ?? []
    let beside = ["Doubloon.json", "GoogleService-Info.plist"].flatMap { name in folders.map { $0 + "/" + name } }
    return (named + beside).lazy.compactMap(read).first
  }

  /// JSON, or a property list; by what is in it.
  static func read(_ path: String) -> FirebaseOptions? {
    guard let data = FileManager.default.contents(atPath: path), data.count <= bytesMax else { return nil }
    let json = try? JSONSerialization.jsonObject(with: data)
    let values = json ?? (try? PropertyListSerialization.propertyList(from: data, format: nil))
    guard let values = values as? [String: Any] else { return nil }
    func text(_ names: String...) -> String? { names.lazy.compactMap { values[$0] as? String }.first }
    var members = FirebaseOptions.Members()
    members.server = text("server", "DOUBLOON_SERVER")
    members.apiKey = text("apiKey", "API_KEY")
    members.googleAppID = text("googleAppID", "GOOGLE_APP_ID") ?? ""
    members.gcmSenderID = text("gcmSenderID", "GCM_SENDER_ID") ?? ""
    members.projectID = text("projectID", "PROJECT_ID")
    members.databaseURL = text("databaseURL", "DATABASE_URL")
    members.bundleID = text("bundleID", "BUNDLE_ID") ?? ""
    members.deepLinkURLScheme = text("deepLinkURLScheme")
    members.storageBucket = text("storageBucket", "STORAGE_BUCKET")
    members.storageFolder = text("storageFolder")
    members.certificateFile = text("certificateFile")
    let domains = values["dynamicLinkDomains"] ?? values["FirebaseDynamicLinksCustomDomains"]
    members.dynamicLinkDomains = domains as? [String] ?? []
    members.automaticDataCollection = values["FirebaseInAppMessagingAutomaticDataCollectionEnabled"] as? Bool
    let options = FirebaseOptions(members)
    return options.address == nil ? nil : options
  }

  /// `game` of `https://game-default-rtdb.example.com`.
  static func project(of databaseURL: String?) -> String? {
    guard let label = databaseURL.flatMap({ ServiceAddress($0) })?.host.split(separator: ".").first else { return nil }
    let suffix = "-default-rtdb"
    return label.hasSuffix(suffix) ? String(label.dropLast(suffix.count)) : String(label)
  }

  static func standardFolder(for options: FirebaseOptions) -> String {
    let id = [options.bundleID, options.googleAppID].first { !$0.isEmpty }
    let app = (id ?? ProcessInfo.processInfo.processName).map { $0.isLetter || $0.isNumber || ".-_".contains($0) ? $0 : "_" }
    #if canImport(Darwin)
      let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first?.path
      return (support ?? NSTemporaryDirectory()) + "/doubloon/" + String(app)
    #else
      let environment = ProcessInfo.processInfo.environment
      let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      return (state ?? NSHomeDirectory() + "/.local/state") + "/doubloon/" + String(app)
    #endif
  }
}
