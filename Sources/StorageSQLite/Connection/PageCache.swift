internal import CSQLite

/// SQLite's own page cache, spared a search that finds nothing.
///
/// At the end of each transaction SQLite has the cache forget the pages beyond the file's end. There are none, as a rule, and
/// the cache knows it by the largest page number that it ever saw. But when SQLite sorts the pages of a split node it parks one
/// under the number of the *lock page* for a moment, which lies beyond every file below a gigabyte. From then on the cache goes
/// through all its pages, thousands of them, at that commit. This layer knows where the parked page is, and leaves the
/// search out when no page can be found by it.
enum PageCache {
  /// What stands in for SQLite's cache object. SQLite uses a cache from one thread at a time: that of its connection's user.
  private struct Layer {
    let methods: UnsafePointer<sqlite3_pcache_methods2>
    let cache: OpaquePointer
    /// The number of the page that holds a file's locks, and no content.
    let lockPage: UInt32
    /// No page beyond this one can be in the cache, the lock page aside.
    var last: UInt32 = 0
    /// Whether something may stand under the lock page's number.
    var holdsLockPage = false

    static func at(_ pointer: OpaquePointer?) -> UnsafeMutablePointer<Layer> {
      guard let pointer else { preconditionFailure("SQLite called a method of no page cache.") }
      return UnsafeMutablePointer(pointer)
    }

    mutating func note(_ page: UInt32) {
      if page == lockPage { holdsLockPage = true } else if page > last { last = page }
    }
  }

  /// Where a file's locks are (SQLite's file format, "The Lock-Byte Page").
  private static let lockByte: Int32 = 0x4000_0000

  /// Puts the layer over SQLite's cache. Must come before SQLite is used for the first time.
  ///
  /// - Returns: whether SQLite took it; if not, its own cache works alone.
  static func install() -> Bool {
    // SQLite's methods, which caches point to for the life of the process.
    let below = UnsafeMutablePointer<sqlite3_pcache_methods2>.allocate(capacity: 1)
    below.initialize(to: sqlite3_pcache_methods2())
    guard csqlite_page_cache(below) == SQLITE_OK, below.pointee.xCreate != nil else { return false }
    methodsBelow = UnsafePointer(below)
    var ours = layered(below.pointee)
    return csqlite_set_page_cache(&ours) == SQLITE_OK
  }

  /// The layer's methods over these, which ``methodsBelow`` points to.
  static func layered(_ below: sqlite3_pcache_methods2) -> sqlite3_pcache_methods2 {
    var ours = below
    ours.xCreate = { pageBytes, extraBytes, isPurgeable in
      guard let methods = PageCache.methodsBelow,
        let cache = methods.pointee.xCreate(pageBytes, extraBytes, isPurgeable)
      else { return nil }
      let layer = UnsafeMutablePointer<Layer>.allocate(capacity: 1)
      let lockPage = UInt32(PageCache.lockByte / max(pageBytes, 512)) + 1
      layer.initialize(to: Layer(methods: methods, cache: cache, lockPage: lockPage))
      return OpaquePointer(layer)
    }
    ours.xDestroy = { pointer in
      let layer = Layer.at(pointer)
      layer.pointee.methods.pointee.xDestroy(layer.pointee.cache)
      layer.deallocate()
    }
    setPageMethods(&ours)
    ours.xCachesize = { Layer.at($0).pointee.methods.pointee.xCachesize(Layer.at($0).pointee.cache, $1) }
    ours.xPagecount = { Layer.at($0).pointee.methods.pointee.xPagecount(Layer.at($0).pointee.cache) }
    ours.xShrink = { Layer.at($0).pointee.methods.pointee.xShrink(Layer.at($0).pointee.cache) }
    return ours
  }

  private static func setPageMethods(_ ours: inout sqlite3_pcache_methods2) {
    ours.xFetch = { pointer, page, mayCreate in
      let layer = Layer.at(pointer)
      if mayCreate != 0 { layer.pointee.note(page) }
      return layer.pointee.methods.pointee.xFetch(layer.pointee.cache, page, mayCreate)
    }
    ours.xUnpin = { Layer.at($0).pointee.methods.pointee.xUnpin(Layer.at($0).pointee.cache, $1, $2) }
    ours.xRekey = { pointer, content, old, new in
      let layer = Layer.at(pointer)
      layer.pointee.note(new)
      if old == layer.pointee.lockPage { layer.pointee.holdsLockPage = false }
      layer.pointee.methods.pointee.xRekey(layer.pointee.cache, content, old, new)
    }
    ours.xTruncate = { pointer, limit in
      let layer = Layer.at(pointer)
      if limit > layer.pointee.last, !layer.pointee.holdsLockPage { return }
      layer.pointee.methods.pointee.xTruncate(layer.pointee.cache, limit)
      layer.pointee.last = min(layer.pointee.last, max(limit, 1) - 1)
      if limit <= layer.pointee.lockPage { layer.pointee.holdsLockPage = false }
    }
  }

  // `nonisolated(unsafe)`: written once, by `install()`, before SQLite is used; only read afterwards.
  private(set) nonisolated(unsafe) static var methodsBelow: UnsafePointer<sqlite3_pcache_methods2>?
}
