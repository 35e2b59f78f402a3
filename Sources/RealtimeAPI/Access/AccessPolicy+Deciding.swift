package import APISupport
package import HTTPServer
import StorageCore
package import TreeDatabase
package import TreeModel

extension AccessPolicy: AccessDeciding {
  package func judgeRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadJudgement {
    caller.isAdmin || isDevelopment ? .allowed : .denied
  }
  package func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
  package func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
  package func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { caller.isAdmin || isDevelopment }
}
