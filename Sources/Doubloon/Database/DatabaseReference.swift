import SyncModel
import TreeModel

/// A place in the database.
///
/// `@unchecked Sendable`: it adds nothing to the constants of its superclass.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
  init(_ database: Database, _ path: Result<Path, DatabaseError>) {
    super.init(database, path.map { ListenSpec(path: $0) })
  }

  var path: Result<Path, DatabaseError> { target.map(\.path) }

  /// The place at a path below. Of an illegal path every operation fails and says why.
  public func child(_ pathString: String) -> DatabaseReference {
    DatabaseReference(database, path.flatMap { base in Self.path(pathString, below: base) })
  }

  /// The place at a path below that was checked already.
  func child(_ below: Path) -> DatabaseReference {
    DatabaseReference(
      database,
      path.flatMap { base in
        base.depth + below.depth <= Path.depthMax
          ? .success(base.appending(below)) : .failure(.invalidPath(PathError(.tooDeep, key: "").description))
      })
  }

  func child(_ key: Key) -> DatabaseReference { DatabaseReference(database, path.map { $0.child(key) }) }

  /// A new place below, whose name sorts behind those made before, on any device.
  public func childByAutoId() -> DatabaseReference { child(Key(unchecked: database.nextPushID())) }

  /// The place one level up; nil at the root.
  public var parent: DatabaseReference? {
    guard case .success(let path) = path else { return nil }
    return path.parent.map { DatabaseReference(database, .success($0)) }
  }

  /// The root of the database.
  public var root: DatabaseReference { DatabaseReference(database, .success(.root)) }

  /// The place's name; nil at the root.
  public var key: String? { (try? path.get())?.lastKey?.text }

  /// The place as a URL.
  public var url: String { database.text(of: (try? path.get()) ?? .root) }

  /// The place as a URL.
  public func description() -> String { url }

  static func path(_ text: String, below base: Path) -> Result<Path, DatabaseError> {
    do throws(PathError) {
      if base.isRoot || base.keys.first == ListenSpec.infoKey, let path = info(text, below: base) { return .success(path) }
      let below = try Path(parsing: text)
      guard base.depth + below.depth <= Path.depthMax else { throw PathError(.tooDeep, key: "") }
      return .success(base.appending(below))
    } catch {
      return .failure(.invalidPath(error.description))
    }
  }

  /// The client's own part of the tree, whose name no other path can have.
  private static func info(_ text: String, below base: Path) -> Path? {
    let pieces = text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    if base.isRoot, pieces.first != ListenSpec.infoKey.text { return nil }
    return Path(keys: base.keys + pieces.map { Key(unchecked: $0) })
  }

  static func key(_ name: String) throws(DatabaseError) -> Key {
    do {
      return try Key(name)
    } catch {
      throw .invalidPath(error.description)
    }
  }

  /// Whether both are the same place of the same database.
  public static func == (a: DatabaseReference, b: DatabaseReference) -> Bool { a.database === b.database && a.url == b.url }
}

extension DatabaseReference: Hashable {
  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
