internal import Foundation
internal import Prephirences

/// An object of a class that decodes its parts like most classes.
final class ArchivedObject: NSObject, NSCoding {
  var text = "text"
  var count = 3
  var parts: [Any] = [1, "a", URL(string: "https://example.org/a") as Any]

  override init() {}

  init?(coder: NSCoder) {
    text = coder.decodeObject(forKey: "text") as? String ?? ""
    count = coder.decodeInteger(forKey: "count")
    parts = coder.decodeObject(forKey: "parts") as? [Any] ?? []
  }

  func encode(with coder: NSCoder) {
    coder.encode(text as NSString, forKey: "text")
    coder.encode(count, forKey: "count")
    coder.encode(parts as NSArray, forKey: "parts")
  }
}

/// Reads altered data; the test passes if the process survives.
enum Fuzzing {
  private static var values: [Any] {
    [
      "text", 1, 1.5, true, Data([1, 2, 3]), Date(timeIntervalSince1970: 1.5), UUID(),
      URL(string: "https://user@example.org:80/a?b#c") as Any,
      URL(string: "b", relativeTo: URL(string: "https://example.org/a")) as Any,
      [1, "a", [2.5, Data([1])]], ["a": 1, "b": ["c": Date()]], Set([1, 2]), ArchivedObject(),
      [ArchivedObject(), UUID()], String(repeating: "é", count: 20), [Int](0..<20),
    ]
  }

  static func archives() {
    let preferences = MutableDictionaryPreferences()
    for value in values {
      preferences.set(objectToArchive: value, forKey: "k")
      guard let archive = preferences.data(forKey: "k") else {
        PreferencesTool.fail("\(type(of: value)) has no archive")
      }
      PreferencesTool.expect(preferences.unarchiveObject(forKey: "k") != nil, "\(type(of: value))")
      alterations(of: archive) { altered in
        preferences["k"] = altered
        _ = preferences.unarchiveObject(forKey: "k")
        _ = preferences.url(forKey: "k")
      }
    }
  }

  static func propertyLists(in folder: String) {
    let path = folder + "/fuzz.plist"
    let values: DictionaryPreferences = [
      "text": "é", "number": 1, "real": 0.1, "date": Date(timeIntervalSinceReferenceDate: 1.5),
      "data": Data([1]), "url": URL(string: "https://example.org") as Any,
      "array": [1, ["a": true]],
    ]
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      guard (try? values.write(toFile: path, format: format)) != nil,
        let data = FileManager.default.contents(atPath: path)
      else { PreferencesTool.fail("not written") }
      alterations(of: data) { altered in
        // Some file systems wait for the disk when a file is truncated, but not for a new file.
        unlink(path)
        _ = FileManager.default.createFile(atPath: path, contents: altered)
        guard let plist = Plist(filePath: path) else { return }
        for key in plist.dictionary().keys {
          _ = (plist.integer(forKey: key), plist.string(forKey: key), plist.url(forKey: key))
        }
      }
    }
  }

  /// Alters every byte in three ways, and truncates at every fourth byte.
  private static func alterations(of data: Data, _ body: (Data) -> Void) {
    for index in data.indices {
      if index % 4 == 0 { body(data.prefix(index)) }
      let byte = data[index]
      for value in [byte ^ 1, byte ^ 0x80, byte &+ 1] {
        var altered = data
        altered[index] = value
        body(altered)
      }
    }
  }
}
