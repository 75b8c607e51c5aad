import Foundation
@preconcurrency import Glibc

/// The application: prints its settings, then changes them; `reset` removes them, and `wait` stays
/// until its input ends, and prints what other devices change.
@main
struct UbiquitousSettings {
  static func main() {
    let settings = ReaderSettings.shared
    switch CommandLine.arguments.dropFirst().first {
    case "reset": settings.reset()
    case "wait":
      setvbuf(stdout, nil, _IOLBF, 0)
      print("waiting")
      while readLine() != nil { print("font size: \(settings.fontSize)") }
    default: showAndChange(settings)
    }
  }

  static func showAndChange(_ settings: ReaderSettings) {
    print("font size: \(settings.fontSize)")
    print("night: \(settings.isNight)")
    print("last book: \(settings.lastBook ?? "none")")
    print("position: \(settings.position)")
    print("bookmarks: \(settings.bookmarks)")
    print("counts: \(settings.counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
    print("cover: \(settings.cover?.count ?? 0) bytes")
    print("opened: \(settings.opened?.timeIntervalSinceReferenceDate ?? 0)")

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
