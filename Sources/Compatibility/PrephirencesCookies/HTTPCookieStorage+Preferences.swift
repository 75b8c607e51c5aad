public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The cookies of a storage as read-only preferences, with their names as keys.
///
/// Expired cookies are left out. Of several cookies with the same name, the longest path wins, then
/// the longest domain. ``Foundation/HTTPCookieStorage/preferences(for:)`` returns those of one
/// server.
extension HTTPCookieStorage: PreferencesType {
  /// Returns the value of the cookie with a name.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    Cookies.specificFirst(cookies).first { $0.name == key }?.value
  }

  /// Returns the values of all cookies by their names.
  public func dictionary() -> PreferencesDictionary { Cookies.values(cookies) }

  /// Returns the values of the cookies that a request to a URL would send, by their names.
  public func preferences(for url: URL) -> DictionaryPreferences {
    DictionaryPreferences(dictionary: Cookies.values(cookies(for: url)))
  }
}

private enum Cookies {
  static func values(_ cookies: [HTTPCookie]?) -> PreferencesDictionary {
    PreferencesDictionary(specificFirst(cookies).map { ($0.name, $0.value) }) { first, _ in first }
  }

  /// Returns the cookies that have not expired, in an order independent of the storage's.
  static func specificFirst(_ cookies: [HTTPCookie]?) -> [HTTPCookie] {
    let now = Date()
    return (cookies ?? [])
      .filter { $0.expiresDate.map { $0 > now } ?? true }
      .sorted {
        rank($0).lexicographicallyPrecedes(rank($1)) || rank($0) == rank($1) && isBefore($0, $1)
      }
  }

  private static func rank(_ cookie: HTTPCookie) -> [Int] {
    [-cookie.path.utf8.count, -cookie.domain.utf8.count]
  }

  private static func isBefore(_ one: HTTPCookie, _ other: HTTPCookie) -> Bool {
    [one.domain, one.path].lexicographicallyPrecedes([other.domain, other.path])
  }
}
