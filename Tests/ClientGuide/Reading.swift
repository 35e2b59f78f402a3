import Doubloon
import Foundation

/// A score, as the tree holds it.
struct Score: Codable {
  var name: String
  var points: Int
  @ServerTimestamp var at: Date?
}

/// The page Reading.
enum Reading {
  static func run() async throws {
    let scores = Database.database().reference(withPath: "scores")
    try await scores.child("ann").setValue(from: Score(name: "Ann", points: 7))
    let ann = try await scores.child("ann").getData().data(as: Score.self)
    print("\(ann.name) has \(ann.points), since \(ann.at == nil ? "never" : "just now")")

    try await scores.updateChildValues(["bob/points": 9, "cat/points": 5, "dan/points": 1])
    let best = scores.queryOrdered(byChild: "points").queryLimited(toLast: 2)
    let now = try await best.getData()
    for child in now.childSnapshots {
      print("\(child.key ?? "") is among the best with \(child.childSnapshot(forPath: "points").int ?? 0)")
    }

    try await listen(to: scores.child("ann/points"))
    try await watch(best)
    try await sources(of: scores.child("ann/points"))
  }

  private static func listen(to points: DatabaseReference) async throws {
    let (values, continuation) = AsyncStream<Int>.makeStream()
    let show: @Sendable (Int) -> Void = { continuation.yield($0) }

    let handle = points.observe(.value) { snapshot in
      show(snapshot.int ?? 0)
    } withCancel: { error in
      print("The rules do not allow it: \(error.localizedDescription)")
    }

    for await value in values {
      print("a listener hears \(value)")
      break
    }
    points.removeObserver(withHandle: handle)
  }

  private static func watch(_ best: DatabaseQuery) async throws {
    var count = 0
    for try await event in best.childEvents() {
      switch event {
      case .added(let child, let previous): print("\(child.key ?? "") comes in behind \(previous ?? "nobody")")
      case .changed(let child, _): print("\(child.key ?? "") has another score")
      case .moved(let child, let previous): print("\(child.key ?? "") stands behind \(previous ?? "nobody")")
      case .removed(let child): print("\(child.key ?? "") is out")
      }
      count += 1
      if count == 2 { break }
    }
  }

  private static func sources(of points: DatabaseReference) async throws {
    let certain = try await points.getData(source: .server)
    let known = try? await points.getData(source: .cache)
    print("the server says \(certain.int ?? 0), and \(known == nil ? "nothing" : "something") is known here")
  }
}
