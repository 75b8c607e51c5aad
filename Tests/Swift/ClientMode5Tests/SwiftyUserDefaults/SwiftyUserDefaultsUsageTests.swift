// swift-format-ignore-file
import Foundation
import SwiftyUserDefaults
import Testing

let colorKey = DefaultsKey<String>("color", defaultValue: "")

private func expectKept<T: DefaultsSerializable & Equatable>(_ value: T) where T.T == T {
  let key = DefaultsKey<T?>("key")
  Defaults[key: key] = value
  #expect(Defaults[key: key] == value)
}

@Suite struct SwiftyUserDefaultsUsageTests {
  @Test func justUseIt() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      // Get and set user defaults easily
      let username = Defaults[\.username]
      Defaults[\.hotkeyEnabled] = true

      // Modify value types in place
      Defaults[\.launchCount] += 1
      Defaults[\.volume] -= 0.1
      Defaults[\.strings] += "… can easily be extended!"

      // Use and modify typed arrays
      Defaults[\.libraries].append("SwiftyUserDefaults")
      Defaults[\.libraries][0] += " 2.0"

      // Easily work with custom serialized types
      Defaults[\.color] = NSColor.white
      let white = Defaults[\.color]?.whiteComponent  // => 1.0

      #expect(username == nil)
      #expect(Defaults[\.hotkeyEnabled])
      #expect(Defaults[\.launchCount] == 1)
      #expect(Defaults[\.volume] == 0.9)
      #expect(Defaults[\.strings] == "Strings… can easily be extended!")
      #expect(Defaults[\.libraries] == ["SwiftyUserDefaults 2.0"])
      #expect(white == 1.0)
    }
  }

  @Test func dynamicMembers() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      // Get and set user defaults easily
      let username = Defaults.username
      Defaults.hotkeyEnabled = true

      // Modify value types in place
      Defaults.launchCount += 1
      Defaults.volume -= 0.1
      Defaults.strings += "… can easily be extended!"

      // Use and modify typed arrays
      Defaults.libraries.append("SwiftyUserDefaults")
      Defaults.libraries[0] += " 2.0"

      // Easily work with custom serialized types
      Defaults.color = NSColor.white
      let white = Defaults.color?.whiteComponent  // => 1.0

      #expect(username == nil)
      #expect(Defaults.hotkeyEnabled)
      #expect(Defaults.launchCount == 1)
      #expect(Defaults.volume == 0.9)
      #expect(Defaults.strings == "Strings… can easily be extended!")
      #expect(Defaults.libraries == ["SwiftyUserDefaults 2.0"])
      #expect(white == 1.0)
    }
  }

  @Test func defineYourKeys() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      Defaults[key: colorKey] = "red"
      #expect(Defaults[key: colorKey] == "red")  // => "red", typed as String
      Defaults[\.username] = "joe"
      Defaults[\.launchCount] += 1
      #expect(Defaults[\.username] == "joe")
      #expect(Defaults[\.launchCount] == 1)
    }
  }

  @Test func supportedTypes() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      let date = Date(timeIntervalSinceReferenceDate: 1.25)
      let url = URL(string: "https://swift.org/x")!
      expectKept("a")
      expectKept(["a"])
      expectKept(1)
      expectKept([1])
      expectKept(0.5)
      expectKept([0.5])
      expectKept(true)
      expectKept([true])
      expectKept(Data([1]))
      expectKept([Data([1])])
      expectKept(date)
      expectKept([date])
      expectKept(url)
      expectKept([url])
      let any = DefaultsKey<[String: Any]?>("any")
      Defaults[key: any] = ["a": 1]
      #expect(Defaults[key: any]?["a"] as? Int == 1)
      let list = DefaultsKey<[[String: Any]]?>("list")
      Defaults[key: list] = [["a": 1]]
      #expect(Defaults[key: list]?[0]["a"] as? Int == 1)
    }
  }

  @Test func utils() async {
    await #expect(processExitsWith: .success) {
      beginSample()
      defer { endSample() }
      #expect(!Defaults.hasKey(\.skipLogin))
      Defaults.skipLogin = true
      let hasKey = Defaults.hasKey(\.skipLogin)
      #expect(hasKey)
      Defaults.removeAll()
      #expect(!Defaults.hasKey(\.skipLogin))
    }
  }
}
