internal import Foundation
internal import FoundationNetworking
internal import PrephirencesCookies
internal import Testing

/// On Linux, storages can be created only for groups, each with a file.
@Suite("Cookies as preferences")
struct CookieTests {
  private let group = "cookie-tests-\(UUID().uuidString)"

  private func withStorage(_ body: (HTTPCookieStorage) throws -> Void) rethrows {
    let storage = HTTPCookieStorage.sharedCookieStorage(
      forGroupContainerIdentifier: group)
    defer { for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) } }
    try body(storage)
  }

  private func cookie(
    _ name: String, _ value: String, domain: String = "example.org", path: String = "/",
    expires: Date? = nil
  ) throws -> HTTPCookie {
    var properties: [HTTPCookiePropertyKey: Any] = [
      .name: name, .value: value, .domain: domain, .path: path,
    ]
    properties[.expires] = expires
    return try #require(HTTPCookie(properties: properties))
  }

  @Test func namesAreKeysAndValuesText() throws {
    try withStorage { storage in
      storage.setCookie(try cookie("session", "abc"))
      storage.setCookie(try cookie("count", "3"))
      let preferences: any PreferencesType = storage
      #expect(
        preferences["session"] as? String == "abc" && preferences.integer(forKey: "count") == 3)
      #expect(preferences["missing"] == nil && preferences.dictionary().count == 2)
    }
  }

  @Test func theMostSpecificOfOneNameCounts() throws {
    try withStorage { storage in
      storage.setCookie(try cookie("n", "root"))
      storage.setCookie(try cookie("n", "deep", path: "/a/b"))
      storage.setCookie(try cookie("n", "sub", domain: "www.example.org"))
      let preferences: any PreferencesType = storage
      #expect(preferences["n"] as? String == "deep")
      #expect(preferences.dictionary()["n"] as? String == "deep")
      storage.deleteCookie(try cookie("n", "deep", path: "/a/b"))
      #expect(preferences["n"] as? String == "sub")
    }
  }

  @Test func thoseOfOneServerAreByThemselves() throws {
    try withStorage { storage in
      storage.setCookie(try cookie("n", "one", domain: "one.example"))
      storage.setCookie(try cookie("n", "two", domain: "two.example"))
      let url = try #require(URL(string: "http://one.example/"))
      #expect(storage.preferences(for: url).dictionary() as? [String: String] == ["n": "one"])
    }
  }

  /// The storage itself refuses an expired cookie, but keeps one that expires later.
  @Test func expiredOnesAreLeftOut() throws {
    try withStorage { storage in
      let soon = Date() + 1
      storage.setCookie(try cookie("old", "1", expires: soon))
      storage.setCookie(try cookie("new", "1", expires: soon + 3600))
      while Date() <= soon { Thread.sleep(forTimeInterval: 0.05) }
      let preferences: any PreferencesType = storage
      #expect(preferences.dictionary().keys.sorted() == ["new"] && preferences["old"] == nil)
    }
  }
}
