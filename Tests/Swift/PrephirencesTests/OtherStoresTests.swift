internal import Foundation
internal import Prephirences
internal import Testing

@Suite("Environment and arguments")
struct EnvironmentAndArgumentTests {
  @Test func environment() {
    let preferences = EnvironmentPreferences(["COLUMNS": "80", "EMPTY": ""])
    #expect(preferences.integer(forKey: "COLUMNS") == 80)
    #expect(preferences.COLUMNS as? String == "80" && preferences["EMPTY"] as? String == "")
    #expect(preferences["ABSENT"] == nil && Set(preferences.keys()) == ["COLUMNS", "EMPTY"])
    #expect(
      EnvironmentPreferences()["PATH"] as? String == ProcessInfo.processInfo.environment["PATH"])
  }

  @Test func keysAreNamesOfVariables() {
    let variables = [
      "PORT": "80", "LOG_LEVEL": "debug", "BASE_URL_PATH": "/", "IPV4_ADDRESS": "::", "port2": "1",
    ]
    let preferences = EnvironmentPreferences(variables)
    #expect(preferences.integer(forKey: "port") == 80 && preferences["Port"] as? String == "80")
    for key in ["logLevel", "log.level", "log-level", "log level", "LOG_LEVEL"] {
      #expect(preferences[key] as? String == "debug", "\(key)")
    }
    #expect(preferences["loglevel"] == nil && preferences[""] == nil)
    #expect(preferences["baseURLPath"] as? String == "/")
    #expect(preferences["ipv4Address"] as? String == "::" && preferences["port2"] as? String == "1")
    #expect(Set(preferences.keys()) == Set(variables.keys))
  }

  @Test func environmentWithAPrefix() {
    let preferences = EnvironmentPreferences(
      ["APP_PORT": "80", "APP_LOG_LEVEL": "debug", "APP_Mixed": "m", "APP_": "", "PATH": "/bin"],
      prefix: "APP_")
    #expect(preferences.integer(forKey: "port") == 80 && preferences["PORT"] as? String == "80")
    #expect(preferences["APP_PORT"] as? String == "80")
    #expect(preferences["logLevel"] as? String == "debug" && preferences["path"] == nil)
    #expect(preferences["Mixed"] as? String == "m" && preferences["PATH"] == nil)
    #expect(Set(preferences.keys()) == ["port", "log_level", "Mixed"])
    let settings: CompositePreferences = [preferences, DictionaryPreferences(["port": 1])]
    #expect(settings.integer(forKey: "port") == 80)
    #expect(settings.dictionary()["port"] as? String == "80")
    #expect(EnvironmentPreferences(prefix: "NO_SUCH_PREFIX_").dictionary().isEmpty)
  }

  @Test func valuesOfLongOptions() {
    let preferences = ArgumentPreferences([
      "--port", "9091", "--offset", "-5", "--x", "--y=1", "--name", "a=b", "file", "--dash", "-",
    ])
    #expect(preferences.integer(forKey: "port") == 9091 && preferences["port"] as? String == "9091")
    #expect(preferences.integer(forKey: "offset") == -5)
    #expect(preferences["x"] as? Bool == true && preferences["y"] as? String == "1")
    #expect(preferences["name"] as? String == "a=b" && preferences["dash"] as? String == "-")
    #expect(preferences.operands == ["file"])
  }

  @Test func flagsLeaveTheirOperand() {
    let preferences = ArgumentPreferences(
      ["--verbose", "FILE", "-n", "2", "-q", "other", "--port", "80", "--loud=no", "--last"],
      flags: ["verbose", "q", "loud"])
    #expect(preferences["verbose"] as? Bool == true && preferences["q"] as? Bool == true)
    #expect(preferences.operands == ["FILE", "other"])
    #expect(preferences.integer(forKey: "n") == 2 && preferences.integer(forKey: "port") == 80)
    #expect(!preferences.bool(forKey: "loud") && preferences.bool(forKey: "last"))
    #expect(ArgumentPreferences(["--verbose", "FILE"])["verbose"] as? String == "FILE")
    #expect(ArgumentPreferences(["--verbose", "--"], flags: ["verbose"]).bool(forKey: "verbose"))
  }

  @Test func keysAreNamesOfOptions() {
    let preferences = ArgumentPreferences(
      [
        "--log-level", "debug", "--dry-run", "FILE", "--base-url-path=/", "--exact", "1", "--quiet",
        "x",
      ],
      flags: ["dryRun", "--quiet"])
    #expect(
      preferences["logLevel"] as? String == "debug" && preferences.logLevel as? String == "debug")
    #expect(preferences["log.level"] as? String == "debug" && preferences["loglevel"] == nil)
    #expect(preferences["baseURLPath"] as? String == "/" && preferences["exact"] as? String == "1")
    #expect(preferences.bool(forKey: "dryRun") && preferences.bool(forKey: "quiet"))
    #expect(preferences.operands == ["FILE", "x"] && preferences[""] == nil)
  }

  @Test func arguments() {
    let preferences = ArgumentPreferences([
      "file", "--verbose", "-port", "8080", "--name=a=b", "--empty=", "-offset", "-5", "-x", "-y",
      "-", "--last=1", "--last=2", "-z", "--", "--no", "-option",
    ])
    #expect(preferences["verbose"] as? Bool == true && preferences.bool(forKey: "verbose"))
    #expect(preferences.integer(forKey: "port") == 8080)
    #expect(preferences["name"] as? String == "a=b" && preferences["empty"] as? String == "")
    #expect(preferences.double(forKey: "offset") == -5)
    #expect(preferences["x"] as? Bool == true && preferences["y"] as? String == "-")
    #expect(preferences["last"] as? String == "2" && preferences["z"] as? Bool == true)
    #expect(preferences.operands == ["file", "--no", "-option"])
    #expect(preferences["no"] == nil && preferences.dictionary().count == 9)
    #expect(ArgumentPreferences([]).keys().isEmpty)
  }
}

@Suite("Bundles, caches and collections")
struct OtherStoresTests {
  @Test func bundles() throws {
    let folder = try TemporaryFolder()
    let bundlePath = folder("App.bundle")
    try FileManager.default.createDirectory(
      atPath: bundlePath + "/Contents", withIntermediateDirectories: true)
    let info: DictionaryPreferences = [
      "CFBundleName": "App", "CFBundleVersion": "7", "LSMinimumSystemVersion": "10", "n": [1],
    ]
    #expect(info.writeToFile(bundlePath + "/Contents/Info.plist"))
    let bundle = try #require(Bundle(path: bundlePath))
    #expect(bundle[.CFBundleName] as? String == "App")
    #expect(bundle[.LSMinimumSystemVersion] as? String == "10" && bundle[.UIAppFonts] == nil)
    #expect(bundle.integer(forKey: "CFBundleVersion") == 7)
    #expect(bundle["n"] as? [Int] == [1] && bundle["absent"] == nil)
    #expect(bundle.dictionary()["CFBundleName"] as? String == "App")
    #expect(Bundle.main.object(forKey: "absent") == nil)
  }

  @Test func caches() {
    let preferences = NSCachePreferences<NSString>()
    preferences["a"] = "text"
    preferences["b"] = "text" as NSString
    preferences.insertCost = 3
    #expect(preferences.string(forKey: "a") == "text" && preferences.keys().sorted() == ["a", "b"])
    preferences["b"] = 1
    #expect(preferences["b"] == nil && preferences.dictionary().count == 1)
    preferences.cache.removeAllObjects()
    #expect(preferences.keys().isEmpty && preferences["a"] == nil)
    preferences["a"] = "text"
    preferences.clearAll()
    #expect(preferences.keys().isEmpty && preferences.insertCost == 3)
  }

  @Test func collections() {
    let pairs = [("a", 1), ("b", 2), ("a", 3)]
    let preferences = CollectionPreferencesAdapter(
      collection: pairs, mapKey: \.0, mapValue: \.1)
    #expect(preferences["a"] as? Int == 3 && preferences["c"] == nil)
    #expect(preferences.dictionary() as? [String: Int] == ["a": 3, "b": 2])
  }

  @Test func geometry() {
    let preferences = MutableDictionaryPreferences()
    let rectangle = CGRect(x: 1.0 / 3, y: 1e300, width: -0.5, height: .leastNonzeroMagnitude)
    preferences.set(rectangle, forKey: "rect")
    preferences.set(rectangle.size, forKey: "size")
    preferences.set(rectangle.origin, forKey: "point")
    #expect(preferences.cgRect(forKey: "rect") == rectangle)
    #expect(preferences.cgSize(forKey: "size") == rectangle.size)
    #expect(preferences.cgPoint(forKey: "point") == rectangle.origin)
    preferences["rect"] = NSStringFromRect(NSRect(x: 1, y: 2, width: 3, height: 4))
    #expect(preferences.cgRect(forKey: "rect") == CGRect(x: 1, y: 2, width: 3, height: 4))
    for garbage in ["", "{}", "{{1, 2}, {3}}", "{{1, 2}, {3, x}}", "{1,2,3,4,5}"] as [String] {
      preferences["rect"] = garbage
      #expect(preferences.cgRect(forKey: "rect") == nil)
    }
  }
}
