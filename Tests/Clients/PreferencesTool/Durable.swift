internal import Dispatch
internal import Foundation
internal import Prephirences
internal import PrephirencesDurable

extension PreferencesTool {
  /// Reads values of suites that are added to durable user defaults.
  static func suites() {
    guard let defaults = DurableUserDefaults(suiteName: "first") else { fail("no user defaults") }
    let second = DurablePreferences(suiteName: "second")
    second["k"] = "second"
    defaults.register(defaults: ["k": "registered"])
    expect(defaults.string(forKey: "k") == "registered", "no suite is added")
    defaults.addSuite(named: "second")
    expect(defaults.string(forKey: "k") == "second", "the suite is not searched")
    expect(defaults.dictionary()["k"] as? String == "second", "the suite is not listed")
    defaults.set("first", forKey: "k")
    expect(defaults.string(forKey: "k") == "first", "the suite comes first")
    expect(second["k"] as? String == "second", "the suite was changed")
    defaults.removeObject(forKey: "k")
    defaults.removeSuite(named: "second")
    expect(defaults.string(forKey: "k") == "registered", "the suite is still searched")
    expect(UserDefaults.standard.string(forKey: "k") == "registered", "the suite is everywhere")
    expect(defaults.persistentDomain(forName: "second")?["k"] as? String == "second", "no domain")
    defaults.setPersistentDomain(["l": 1], forName: "second")
    expect(
      Array(second.dictionary().keys) == ["l"], "the values of the other domain were not replaced")
    defaults.removePersistentDomain(forName: "second")
    expect(second.dictionary().isEmpty, "the other domain was not removed")
    defaults.setPersistentDomain(["l": 1], forName: "a/b")
    expect(defaults.lastPreferencesError?.code == .invalidName, "no suite has this name")
    // `NSHomeDirectory()` is the folder of the account, whatever else `HOME` says.
    let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
    let plists = try? FileManager.default.subpathsOfDirectory(atPath: home)
      .filter { $0.hasSuffix(".plist") }
    expect(plists?.isEmpty == true, "a property list was written")
  }

  /// Waits for the notification of a change by another process.
  static func notify() {
    guard let defaults = DurableUserDefaults(suiteName: "notified") else { fail("no defaults") }
    defaults.set(1, forKey: "own")
    let isPosted = DispatchSemaphore(value: 0)
    let observer = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: defaults, queue: nil
    ) { _ in isPosted.signal() }
    defer { NotificationCenter.default.removeObserver(observer) }
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["write", "durable", "notified"]
    do { try process.run() } catch { fail("\(error)") }
    expect(isPosted.wait(timeout: .now() + 60) == .success, "no notification")
    process.waitUntilExit()
    expect(process.terminationStatus == 0, "the other process failed")
  }
}
