import Foundation

/// The whole run.
struct Report: Codable {
  var machine: Machine

  /// The version of `prefs` that was measured, and the format of the vaults that it wrote.
  let version: String
  let vaultFormat: Int

  let isQuick: Bool
  var figures: [Figure]
  var charts: [Chart]

  /// The parts that could not be measured, and why.
  var failures: [String] = []

  var missed: [Figure] { figures.filter { $0.isMet == false } }

  /// Writes a page, a folder of drawings with the same name next to it, and in the folder the
  /// results as JSON.
  func write(to path: String, name: String) throws {
    let folder = URL(filePath: path, directoryHint: .isDirectory)
    let drawings = folder.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: drawings, withIntermediateDirectories: true)
    let page = markdown(folder: name + "/")
    try Data(page.utf8).write(to: folder.appending(path: "\(name).md"))
    for chart in charts {
      let drawing = Drawing(chart, footer: machine.summary)
      try Data(drawing.svg.utf8).write(to: drawings.appending(path: chart.name + ".svg"))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(self).write(to: drawings.appending(path: "results.json"))
  }
}
