// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults
import Testing

struct Settings {
  @SwiftyUserDefault(keyPath: \.userColorScheme)
  var userColorScheme: String

  @SwiftyUserDefault(keyPath: \.userThemeName, options: .cached)
  var userThemeName: String?

  @SwiftyUserDefault(keyPath: \.userLastLoginDate, options: [.cached, .observed])
  var userLastLoginDate: Date?
}

let nameKey = DefaultsKey<String>("name", defaultValue: "")

@Suite struct WrapperTests {
  @Test func propertyWrappers() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let settings = Settings()
      #expect(settings.userColorScheme == "default")
      settings.userColorScheme = "dark"
      settings.userThemeName = "sea"
      #expect(Defaults.userColorScheme == "dark")
      #expect(settings.userThemeName == "sea")
      #expect(settings.userLastLoginDate == nil)
      let date = Date(timeIntervalSinceReferenceDate: 1.5)
      Defaults.userLastLoginDate = date
      #expect(settings.userLastLoginDate == date)
    }
  }

  @Test func observing() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      var names: [String?] = []
      let observer = Defaults.observe(key: nameKey) { update in
        // here you can access `oldValue`/`newValue` and few other properties
        names.append(update.newValue)
      }
      var calls = 0
      let second = Defaults.observe(key: nameKey, options: [.initial, .old, .new]) { _ in
        calls += 1
      }
      Defaults[key: nameKey] = "joe"
      #expect(names == ["joe"])
      #expect(calls == 2)
      observer.dispose()
      second.dispose()
    }
  }
}
