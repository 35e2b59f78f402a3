/// Draws a QR code: first what is the same for every text of a version, then the bytes, then the mask that looks best.
struct QRCanvas {
  private let version: QRVersion
  private let size: Int
  private var dark: [Bool]
  /// Modules that no byte and no mask may touch.
  private var isFixed: [Bool]

  init(_ version: QRVersion) {
    self.version = version
    size = version.size
    dark = Array(repeating: false, count: size * size)
    isFixed = dark
    drawPatterns()
  }

  private mutating func fix(_ x: Int, _ y: Int, isDark: Bool) {
    dark[y * size + x] = isDark
    isFixed[y * size + x] = true
  }

  // MARK: What is fixed

  private mutating func drawPatterns() {
    for index in 0..<size {
      fix(6, index, isDark: index % 2 == 0)
      fix(index, 6, isDark: index % 2 == 0)
    }
    for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, centerY: y) }
    let centers = version.alignments
    for x in centers {
      for y in centers where !isNearFinder(x, y) { drawAlignment(x, centerY: y) }
    }
    drawFormat(mask: 0)
    if version.number >= 7 { drawVersion() }
  }

  private func isNearFinder(_ x: Int, _ y: Int) -> Bool {
    (x == 6 && y == 6) || (x == 6 && y == size - 7) || (x == size - 7 && y == 6)
  }

  private mutating func drawFinder(_ centerX: Int, centerY: Int) {
    for dy in -4...4 {
      for dx in -4...4 {
        let (x, y) = (centerX + dx, centerY + dy)
        guard (0..<size).contains(x), (0..<size).contains(y) else { continue }
        let ring = max(abs(dx), abs(dy))
        fix(x, y, isDark: ring != 2 && ring != 4)
      }
    }
  }

  private mutating func drawAlignment(_ centerX: Int, centerY: Int) {
    for dy in -2...2 {
      for dx in -2...2 { fix(centerX + dx, centerY + dy, isDark: max(abs(dx), abs(dy)) != 1) }
    }
  }

  /// Level M is 00, followed by the mask; ten bits of a BCH code protect them.
  private mutating func drawFormat(mask: Int) {
    var rest = mask
    for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
    let bits = (mask << 10 | rest) ^ 0x5412
    func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
    for index in 0...5 { fix(8, index, isDark: bit(index)) }
    fix(8, 7, isDark: bit(6))
    fix(8, 8, isDark: bit(7))
    fix(7, 8, isDark: bit(8))
    for index in 9..<15 { fix(14 - index, 8, isDark: bit(index)) }
    for index in 0..<8 { fix(size - 1 - index, 8, isDark: bit(index)) }
    for index in 8..<15 { fix(8, size - 15 + index, isDark: bit(index)) }
    fix(8, size - 8, isDark: true)
  }

  private mutating func drawVersion() {
    var rest = version.number
    for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
    let bits = version.number << 12 | rest
    for index in 0..<18 {
      let isDark = bits >> index & 1 == 1
      let (a, b) = (size - 11 + index % 3, index / 3)
      fix(a, b, isDark: isDark)
      fix(b, a, isDark: isDark)
    }
  }

  // MARK: The bytes

  /// Two columns at a time from the right, up and down in turn, around what is fixed.
  mutating func place(_ bytes: [UInt8]) {
    var index = 0
    var right = size - 1
    while right >= 1 {
      if right == 6 { right = 5 }
      for step in 0..<size {
        let isUpwards = (right + 1) & 2 == 0
        let y = isUpwards ? size - 1 - step : step
        for x in [right, right - 1] where !isFixed[y * size + x] && index < bytes.count * 8 {
          dark[y * size + x] = bytes[index / 8] >> UInt8(7 - index % 8) & 1 == 1
          index += 1
        }
      }
      right -= 2
    }
  }

  /// The modules under the mask that has the lowest penalty.
  func masked() -> [Bool] {
    let candidates = (0..<8).map { mask in
      var canvas = self
      canvas.drawFormat(mask: mask)
      for y in 0..<size {
        for x in 0..<size where !isFixed[y * size + x] && Self.inverts(mask, x, y) { canvas.dark[y * size + x].toggle() }
      }
      return (modules: canvas.dark, penalty: QRPenalty(canvas.dark, size).total)
    }
    return candidates.min { $0.penalty < $1.penalty }?.modules ?? dark
  }

  private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
    switch mask {
    case 0: (x + y) % 2 == 0
    case 1: y % 2 == 0
    case 2: x % 3 == 0
    case 3: (x + y) % 3 == 0
    case 4: (x / 3 + y / 2) % 2 == 0
    case 5: x * y % 2 + x * y % 3 == 0
    case 6: (x * y % 2 + x * y % 3) % 2 == 0
    default: ((x + y) % 2 + x * y % 3) % 2 == 0
    }
  }
}

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
