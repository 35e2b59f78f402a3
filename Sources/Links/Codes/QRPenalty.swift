/// How hard a masked code is to read: runs, blocks, finder look-alikes, imbalance.
struct QRPenalty {
  private(set) var total = 0

  init(_ modules: [Bool], _ size: Int) {
    for line in 0..<size {
      addLine((0..<size).map { modules[line * size + $0] })
      addLine((0..<size).map { modules[$0 * size + line] })
    }
    for y in 0..<(size - 1) {
      for x in 0..<(size - 1) {
        let first = modules[y * size + x]
        if modules[y * size + x + 1] == first, modules[(y + 1) * size + x] == first, modules[(y + 1) * size + x + 1] == first {
          total += 3
        }
      }
    }
    let darkCount = modules.count { $0 }
    total += abs(darkCount * 20 - modules.count * 10) / modules.count * 10
  }

  private mutating func addLine(_ line: [Bool]) {
    var run = 1
    for index in 1...line.count {
      if index < line.count, line[index] == line[index - 1] {
        run += 1
        continue
      }
      if run >= 5 { total += run - 2 }
      run = 1
    }
    let finder = [true, false, true, true, true, false, true]
    guard line.count >= 11 else { return }
    for start in 0...(line.count - 7) where Array(line[start..<start + 7]) == finder {
      let before = start >= 4 && !line[(start - 4)..<start].contains(true)
      let after = start + 11 <= line.count && !line[(start + 7)..<(start + 11)].contains(true)
      if before || after { total += 40 }
    }
  }
}
