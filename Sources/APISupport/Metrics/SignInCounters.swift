import CoreMetrics

/// How a player signs in.
package enum SignInMethod: Int, Sendable, CaseIterable {
  /// A new account: anonymous, or with an address.
  case signUp
  case password
  case customToken
  /// The token of another issuer.
  case provider
  case emailLink
  case phone
  case secondFactor
  /// A session that goes on.
  case refresh

  /// The label in the metrics.
  package var label: String {
    switch self {
    case .signUp: "sign_up"
    case .password: "password"
    case .customToken: "custom_token"
    case .provider: "provider"
    case .emailLink: "email_link"
    case .phone: "phone"
    case .secondFactor: "second_factor"
    case .refresh: "refresh"
    }
  }
}

/// Counts sign-ins by method and result. One addition for each, beside the hashing of a password or a signature.
package struct SignInCounters: Sendable {
  private let counters: [[Counter]]

  /// - Parameter factory: where it is counted.
  init(factory: any MetricsFactory) {
    counters = SignInMethod.allCases.map { method in
      ["ok", "refused"].map { result in
        Counter(
          label: "doubloon_sign_ins_total", dimensions: [("method", method.label), ("result", result)], factory: factory)
      }
    }
  }

  /// Counts a sign-in.
  ///
  /// - `isRefused`: whether the player did not get in.
  package func count(_ method: SignInMethod, isRefused: Bool) {
    counters[method.rawValue][isRefused ? 1 : 0].increment()
  }
}
