internal import Foundation
internal import Prephirences
internal import PrephirencesSystem

/// The engines of this process, one for each file.
///
/// Unchecked because the lock guards both properties.
final class Engines: @unchecked Sendable {
  static let shared = Engines()

  private struct Entry {
    weak var engine: Engine?
  }

  private let lock = NSLock()
  private var entries: [SuiteFile: Entry] = [:]

  /// The engines that were last asked for; they stay open, so that short-lived preferences cost
  /// little.
  private var recent: [Engine] = []

  private static let greatestRecentCount = 16

  func engine(of file: SuiteFile) -> Engine {
    var dropped: [Engine] = []
    return lock.withLock {
      let engine = entries[file]?.engine ?? Engine(file)
      if recent.last !== engine {
        recent.removeAll { $0 === engine }
        recent.append(engine)
        if recent.count > Self.greatestRecentCount { dropped.append(recent.removeFirst()) }
      }
      entries[file] = Entry(engine: engine)
      if entries.count > 64 { entries = entries.filter { $1.engine != nil } }
      return engine
    }
  }
}
