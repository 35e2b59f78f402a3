#if canImport(Darwin)
  package import ClientRuntime
  import Foundation
  import Security

  /// A session in the keychain of the device: read after its first unlocking, kept on this device alone, gone with the app's data.
  package struct KeychainSession: SessionStorage {
    /// Why the keychain did not take it, with the system's number.
    package struct Failure: Error, CustomStringConvertible {
      /// The system's number.
      package let status: OSStatus

      package var description: String {
        let reason = SecCopyErrorMessageString(status, nil) as String?
        return "The keychain did not keep the session: \(reason ?? "status \(status)")."
      }
    }

    private let service: String
    private let account: String

    /// - `service`: the app. `account`: which session of the app.
    package init(service: String, account: String) {
      self.service = service
      self.account = account
    }

    private var entry: [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    package func read() -> [UInt8]? {
      var query = entry
      query[kSecReturnData] = true
      query[kSecMatchLimit] = kSecMatchLimitOne
      var found: CFTypeRef?
      guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess else { return nil }
      return (found as? Data).map { Array($0) }
    }

    package func write(_ bytes: [UInt8]?) throws {
      guard let bytes else {
        let status = SecItemDelete(entry as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
        return
      }
      let content: [CFString: Any] = [
        kSecValueData: Data(bytes), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(entry as CFDictionary, content as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(entry.merging(content) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw Failure(status: status) }
    }
  }
#endif
