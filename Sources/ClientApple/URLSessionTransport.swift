#if canImport(Darwin)
  import ClientRuntime
  import Foundation
#endif
