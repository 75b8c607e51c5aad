import Foundation

/// The application: prints its settings, then changes them; `reset` removes them, and `wait` stays
/// until its input ends, and prints what other devices change.
@main
struct UbiquitousSettings {
  static func main() {
    let settings = ReaderSettings.shared
    switch CommandLine.arguments.dropFirst().first {
    case "reset": settings.reset()
    case "wait":
      show("waiting")
      while readLine() != nil { show("font size: \(settings.fontSize)") }
    default: showAndChange(settings)
    }
  }

  static func showAndChange(_ settings: ReaderSettings) {
    show("font size: \(settings.fontSize)")
    show("night: \(settings.isNight)")
    show("last book: \(settings.lastBook ?? "none")")
    show("position: \(settings.position)")
    show("bookmarks: \(settings.bookmarks)")
    show("counts: \(settings.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
    show("cover: \(settings.cover?.count ?? 0) bytes")
    show("opened: \(settings.opened?.timeIntervalSinceReferenceDate ?? 0)")

    settings.fontSize += 1.5
    settings.isNight.toggle()
    settings.lastBook = "Emma"
    settings.position += 4_294_967_296
    settings.bookmarks.append(settings.bookmarks.count)
    settings.counts["Emma", default: 0] += 1
    settings.cover = Data([1, 2, 3])
    settings.opened = Date(timeIntervalSinceReferenceDate: 1.25)
  }
}

/// Prints a line at once: whoever reads it waits for it.
func show(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
