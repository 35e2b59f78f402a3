import Measuring

/// What a load found.
struct Result {
  var seconds = 0.0
  /// Writes of level 5 that were acknowledged: each pays 50.
  var crossings = 0
  var wrong = 0
  var asksAgain = 0
  private var writes: [Double] = []
  private var payingWrites: [Double] = []
  private var lifecycles: [Double] = []

  mutating func note(write seconds: Double, pays: Bool) {
    writes.append(seconds)
    if pays { payingWrites.append(seconds) }
  }

  mutating func note(lifecycle seconds: Double) { lifecycles.append(seconds) }

  /// One line of JSON; times are milliseconds.
  func line(paid: Int) -> String {
    let sorted = writes.sorted()
    let paying = payingWrites.sorted()
    let members = [
      "\"lifecyclesPerSecond\":\(rounded(Double(lifecycles.count) / seconds, 1))",
      "\"lifecycles\":\(crossings)",
      "\"writeP50\":\(time(sorted, 0.5))", "\"writeP99\":\(time(sorted, 0.99))",
      "\"payingWriteP50\":\(time(paying, 0.5))", "\"payingWriteP99\":\(time(paying, 0.99))",
      "\"readsAgain\":\(asksAgain)", "\"wrong\":\(wrong)",
      "\"paid\":\(paid)", "\"expected\":\(50 * crossings)",
    ]
    return "{\(members.joined(separator: ","))}"
  }

  private func time(_ sorted: [Double], _ share: Double) -> String {
    sorted.isEmpty ? "null" : rounded(1000 * sorted[Int(share * Double(sorted.count - 1))], 3)
  }
}
