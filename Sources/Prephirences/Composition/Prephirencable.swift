/// A type that has preferences of its own, below a prefix in those of the process.
///
/// ```swift
/// enum Editor: Prephirencable {
///   enum Font: Prephirencable {
///     static var parent: any PreferencesType { Editor.instance }
///   }
/// }
///
/// Editor.Font.mutableInstance?["size"] = 12  // the key is "editor.font.size"
/// ```
public protocol Prephirencable {
  /// The prefix; unless a type gives another, its name with a small first letter, and a dot.
  static var key: String { get }

  /// The preferences below which these are; unless a type gives others,
  /// ``Prephirences/sharedInstance``.
  static var parent: any PreferencesType { get }
}

extension Prephirencable {
  /// The prefix: the name of the type with a small first letter, and a dot.
  public static var key: String {
    let name = String(describing: self)
    return name.prefix(1).lowercased() + name.dropFirst() + "."
  }

  /// The preferences below which these are: those that are used where no others are given.
  public static var parent: any PreferencesType { Prephirences.sharedInstance }

  /// The preferences of the type.
  ///
  /// It can be changed if its parent can, so that types within this one can be changed as well.
  public static var instance: any PreferencesType {
    mutableInstance ?? ProxyPreferences(preferences: parent, key: key)
  }

  /// The preferences of the type; `nil` if the parent cannot be changed.
  public static var mutableInstance: (any MutablePreferencesType)? {
    (parent as? any MutablePreferencesType).map {
      MutableProxyPreferences(preferences: $0, key: key)
    }
  }
}
