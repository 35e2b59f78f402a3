import StorageCore
public import TreeDatabase
public import TreeModel

extension AccessPolicy: AccessDeciding {
  public func judgeRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> ReadJudgement {
    caller.isAdmin || isDevelopment ? .allowed : .denied
  }
  public func explainRead(_ path: Path, query: Query?, in namespace: String, as caller: Caller) -> String? { nil }
  public func judgesWrites(in namespace: String, of caller: Caller) -> Bool { false }
  public func mayWrite(_ path: Path, in namespace: String, as caller: Caller) -> Bool { caller.isAdmin || isDevelopment }
}
