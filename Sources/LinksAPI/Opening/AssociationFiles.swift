import Links
import TreeModel

/// What a link host tells phones about its apps: Apple's association file and Android's asset links.
enum AssociationFiles {
  /// The association file of Apple's systems, for one host: apps with an App ID prefix, and the paths that are links.
  ///
  /// A host that is no link host (a proxy changed it) gets the paths of all.
  static func apple(_ settings: LinkSettings, host: String) -> JSON {
    let own = settings.domains.filter { $0.host == host }.sorted()
    let prefixes = own.isEmpty ? settings.domains.sorted() : own
    // A host that has links only below a path keeps the rest of its site in the browser.
    var paths: [JSON] = prefixes.map { .string($0.path.isEmpty ? "/*" : "\($0.path)/*") }
    if prefixes.contains(where: \.path.isEmpty) { paths = ["NOT /_/*", "NOT /admin/*", "NOT /console/*", "NOT /v1/*", "/*"] }
    let apps = settings.iosApps.filter { $0.appIDPrefix != nil }
    return [
      "applinks": [
        "apps": [],
        "details": .array(
          apps.map { ["appID": .string("\($0.appIDPrefix ?? "").\($0.bundleID)"), "paths": .array(paths)] }),
      ]
    ]
  }

  /// The asset links of Android.
  static func android(_ settings: LinkSettings) -> JSON {
    .array(
      settings.androidApps.filter { !$0.fingerprints.isEmpty }.map {
        [
          "relation": ["delegate_permission/common.handle_all_urls"],
          "target": [
            "namespace": "android_app", "package_name": .string($0.packageName),
            "sha256_cert_fingerprints": .array($0.fingerprints.map(JSON.string)),
          ],
        ]
      })
  }
}
