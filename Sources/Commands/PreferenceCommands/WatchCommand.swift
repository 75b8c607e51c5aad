internal import ArgumentParser
internal import FoundationEssentials
internal import Glibc
internal import PreferencesCore
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

/// Prints changes of preferences as they happen.
struct WatchCommand: PreferenceSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print changes of preferences as they happen",
    discussion: """
      A change is a line with fields separated by tabs: 'set', key, type and value, or 'removed' \
      and key; backslash, tab and newline are written \\\\, \\t and \\n. With --json, it is an \
      object on a line. Changes that follow each other at once may be one line with the last \
      value. A damaged value is reported on standard error, and makes the command end with 65 at \
      the end of the time. The domain may be missing at the beginning. The command ends with \
      Ctrl-C, when nobody reads its output any more, or with an error when changes can no longer \
      be observed.

      Example:
        \(preferencesPath) watch port --initial\(domainExample)
        \(preferencesPath) watch state --until ready --timeout 30s\(domainExample)
      """)

  @Argument(help: "The keys; all if there is none", completion: .keys)
  var keys: [String] = []

  @Flag(help: "Print the present values first")
  var initial = false

  @Flag(help: "End after the first change")
  var once = false

  @Option(
    parsing: .unconditional,
    help: .init("End as soon as the key has this value, as 'read' prints it", valueName: "value"))
  var until: String?

  @Option(
    help: .init(
      "End after this time, with 75 if --once or --until still waits: 500ms, 30s", valueName: "time"
    ),
    transform: WatchCommand.duration)
  var timeout: Duration?

  @Flag(help: "Print JSON, an object on each line")
  var json = false

  @OptionGroup(title: "Common options") var options: DomainOptions

  func validate() throws {
    try options.require(keys.first)
    guard until == nil || keys.count == 1 else {
      throw ValidationError(PreferenceUsageText.untilOneKey)
    }
    guard until == nil || !once else { throw ValidationError(PreferenceUsageText.onceOrUntil) }
  }

  func perform(in session: PreferenceSession) throws {
    try session.console.output.checkOpen()
    let domain = try session.domain
    let changes = try PendingPreferenceChanges()
    let end = timeout.map { ContinuousClock.now + $0 }
    let observations = try domain.store.observe(
      unique(keys), initial: initial || until != nil, until: timeout.map(Deadline.init(after:)),
      changes)
    // The store must not be released before the end.
    defer {
      withExtendedLifetime(domain) { observations.forEach { $0.cancel() } }
    }
    var hasDamage = false
    while true {
      for failure in changes.takeDamage() {
        hasDamage = true
        session.interface.report(failure)
      }
      while case let taken = try changes.take(), !taken.isEmpty {
        for change in taken where try ends(after: change, session.output) { return }
      }
      switch changes.wait(until: end, output: session.console.output.descriptor) {
      case .changed: continue
      case .outputClosed: return
      case .timedOut where until == nil && !once:
        guard hasDamage else { return }
        throw ExitCode(ExitCodes.badData)
      case .timedOut: throw CommandLineError.watchTimedOut
      }
    }
  }

  /// Returns the keys without repetitions.
  private func unique(_ keys: [String]) -> [String] {
    var known: Set<[UInt8]> = []
    return keys.filter { known.insert(Array($0.utf8)).inserted }
  }

  /// Prints a change, and returns whether the command ends.
  private func ends(after change: PreferenceChange, _ output: ValueOutput) throws -> Bool {
    let value = change.newValue.flatMap { PreferenceValue($0)?.withOneNaN }
    let isPrinted = !change.isInitial || initial && value != nil
    if isPrinted, try !write(line(change.key, value), output) { return true }
    return until.map { $0 == value?.text } ?? (once && !change.isInitial)
  }

  private func line(_ key: String, _ value: PreferenceValue?) -> String {
    if json {
      let object =
        value.map { PreferenceListCommand.json(key, $0) }
        ?? .object([("key", .string(key)), ("removed", .bool(true))])
      return object.line.visibleInJSON + "\n"
    }
    let fields = value.map { ["set", key, $0.type.rawValue, $0.line] } ?? ["removed", key]
    return TextTable(header: [], rows: [fields]).lines
  }

  /// Writes a line at once, and returns `false` if nobody reads it.
  private func write(_ line: String, _ output: ValueOutput) throws -> Bool {
    do throws(CommandLineError) {
      try output.write(line)
      return true
    } catch {
      guard error.systemError == EPIPE else { throw error }
      return false
    }
  }

  static func duration(_ text: String) throws -> Duration {
    guard let duration = DurationText.parse(text) else {
      throw ValidationError(PreferenceUsageText.duration)
    }
    return duration
  }
}

/// Changes on their way from observers to the printing thread.
final class PendingPreferenceChanges: Sendable {
  /// Why waiting ended.
  enum End {
    case changed, outputClosed, timedOut
  }

  private struct State {
    var changes: [PreferenceChange] = []
    var failure: PreferencesError?

    /// The unreadable values by the bytes of their keys, and those not reported yet.
    var unreadable: Set<[UInt8]> = []
    var damage: [PreferencesError] = []
  }

  private let state = PosixMutex(State())

  /// A pipe, because the thread waits for the output, too.
  private let receiver: Int32
  private let sender: Int32

  init() throws(CommandLineError) {
    do throws(Errno) {
      let ends = try DescriptorIO.pipe(flags: O_NONBLOCK)
      (receiver, sender) = (ends.read.rawValue, ends.write.rawValue)
    } catch { throw .cannotRead("the changes", errno: error.rawValue) }
  }

  deinit {
    close(receiver)
    close(sender)
  }

  func add(_ change: PreferenceChange) {
    state.withLock {
      $0.changes.append(change)
      $0.unreadable.remove(Array(change.key.utf8))
    }
    wake()
  }

  /// Records why a value cannot be read, unless it is known.
  func add(unreadable key: PreferenceKey, _ failure: PreferencesError) {
    state.withLock {
      if $0.unreadable.insert(Array(key.utf8)).inserted { $0.damage.append(failure) }
    }
    wake()
  }

  /// Records the error that ends the observation.
  func end(with failure: PreferencesError) {
    state.withLock { $0.failure = failure }
    wake()
  }

  /// Returns the changes since the last call.
  func take() throws(PreferencesError) -> [PreferenceChange] {
    let (taken, failure) = state.withLock { state in
      defer { state.changes = [] }
      return (state.changes, state.failure)
    }
    if taken.isEmpty, let failure { throw failure }
    return taken
  }

  /// Returns the new failures to read values.
  func takeDamage() -> [PreferencesError] {
    state.withLock { state in
      defer { state.damage = [] }
      return state.damage
    }
  }

  private func wake() {
    // A full pipe also wakes the thread.
    var byte: UInt8 = 0
    _ = write(sender, &byte, 1)
  }

  /// Waits until there are changes, nobody reads standard output any more, or time is up.
  func wait(until end: ContinuousClock.Instant?, output: Int32) -> End {
    while true {
      var sources = [
        pollfd(fd: receiver, events: Int16(POLLIN), revents: 0),
        pollfd(fd: output, events: 0, revents: 0),
      ]
      let ready = poll(&sources, 2, Self.milliseconds(until: end))
      if ready > 0, sources[0].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(receiver, &bytes, bytes.count) > 0 {}
        return .changed
      }
      if ready > 0, Int32(sources[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
        return .outputClosed
      }
      if let end, ContinuousClock.now >= end { return .timedOut }
    }
  }

  private static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
    guard let end else { return -1 }
    let rest = (end - ContinuousClock.now) / .milliseconds(1)
    return Int32(max(0, min(rest.rounded(.up), 3_600_000)))
  }
}
