/// A number for people, with so many digits behind the point.
package func rounded(_ value: Double, _ digits: Int) -> String {
  var scale = 1.0
  for _ in 0..<digits { scale *= 10 }
  let units = Int((value * scale).rounded())
  let rest = String(units % Int(scale))
  return digits == 0
    ? String(units) : "\(units / Int(scale)).\(String(repeating: "0", count: digits - rest.count))\(rest)"
}
