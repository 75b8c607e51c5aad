// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults
import Testing

/// The sample declares it for the whole program.
enum App {
  static var Defaults = DefaultsAdapter<DefaultsKeys>(
    defaults: UserDefaults(suiteName: "com.my.app")!, keyStore: .init())
}

@Suite struct SharedTests {
  @Test func sharedUserDefaults() async {
    await #expect(processExitsWith: .success) {
      // Foundation remembers the folder of user defaults from the start of the process.
      let environment = ProcessInfo.processInfo.environment
      let folder = environment["XDG_CONFIG_HOME"] ?? (environment["HOME"] ?? "") + "/.config"
      let file = folder + "/com.my.app.plist"
      beginSample()
      defer {
        endSample()
        try? FileManager.default.removeItem(atPath: file)
      }
      App.Defaults.launchCount += 1
      App.Defaults[\.libraries].append("a")
      #expect(App.Defaults.launchCount == 1)
      #expect(App.Defaults.libraries == ["a"])
      #expect(Defaults.launchCount == 0)
      #expect(FileManager.default.fileExists(atPath: file))
    }
  }

  @Test func launchArguments() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      // As `UserDefaults` parses them: -skipLogin true -loginTries 3 -lastGameTime 61.3
      // -nickname sunshinejr
      Defaults.defaults.setVolatileDomain(
        [
          "skipLogin": "true", "loginTries": "3", "lastGameTime": "61.3",
          "nickname": "sunshinejr",
        ], forName: UserDefaults.argumentDomain)
      #expect(Defaults.skipLogin)
      #expect(Defaults.loginTries == 3)
      #expect(Defaults.lastGameTime == 61.3)
      #expect(Defaults.nickname == "sunshinejr")
    }
  }
}
