import ArgumentParser
import Links
import ServerApp
import ServerConfiguration

/// `doubloon links qr`: a link as a code to print.
struct LinksQRCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "qr",
    abstract: "Make a QR code of a link.",
    discussion: """
      SVG is sharp at any size; PNG is for where SVG is not taken. No server is asked.

      Examples:
        doubloon links qr https://go.acme.test/r/aB3x --out poster.svg
        doubloon links qr https://go.acme.test/r/aB3x --out poster.png --scale 16
      """)

  @Argument(help: "The link.")
  var link: String

  @Option(help: ArgumentHelp("Write into this file, .svg or .png; without it SVG is printed.", valueName: "file"))
  var out: String?

  @Option(help: ArgumentHelp("Pixels of a module, for PNG.", valueName: "count"))
  var scale = 8

  mutating func validate() throws {
    guard QRCode.scales.contains(scale) else {
      throw ValidationError("--scale must be \(QRCode.scales.lowerBound) to \(QRCode.scales.upperBound).")
    }
    if let out, !out.hasSuffix(".svg"), !out.hasSuffix(".png") { throw ValidationError("--out must end in .svg or .png.") }
  }

  func run() async throws {
    guard let url = LinkURL(link), url.isWeb, let code = QRCode(url.text) else {
      throw CommandFailure("\(link.printable) is no link of at most 2331 bytes.")
    }
    guard let out else { return DoubloonCommandLine.output.out(Array(code.svg().utf8)) }
    try FileBytes.write(out.hasSuffix(".png") ? code.png(scale: scale) : Array(code.svg().utf8), to: out)
  }
}
